"""What an evaluator said of recorded runs: a file of JSON Lines, one check a line, read and told where it is wrong.

A line names a run by ``run`` (its id), a ``case`` (and ``replicate``), or both: then it also says of which case the run
is. ``arm`` tells runs of one case apart. ``passed`` is true, false, or null where the check does not apply; ``score`` a
number. An agent's own word is no check. A file without a line is refused: an evaluator that broke off writes one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from harness.formats.jsonl import BOM
from harness.formats.limits import FormatError, Limits, check_depth, printable, regular_bytes
from kpis.formulas.recorded.efficiency import LARGEST_SCORE

__all__ = ["Check", "Oracles", "filed", "of_arm", "read_oracles"]

_AGAIN = "correct it, then run `python -m harness replay` again"


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    run: str | None = None
    case: str | None = None
    replicate: int | None = None
    arm: str | None = None
    oracle: str | None = None
    passed: bool | msgspec.UnsetType | None = msgspec.UNSET
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One line. ``told`` says whether it has ``passed`` at all: one that has not leaves the verdict as it is."""

    line: int
    run: str | None = None
    case: str | None = None
    replicate: int | None = None
    arm: str | None = None
    told: bool = False
    passed: bool | None = None
    score: float | None = None


Oracles = Mapping[tuple[str, str], Sequence[Check]]
"""Checks in the order of their lines, by ("run", id) or, where they name no run, by ("case", id)."""


def read_oracles(path: Path) -> dict[tuple[str, str], list[Check]]:
    """The checks of the file at ``path``.

    Raises:
        FormatError: it cannot be read, or a line of it cannot be used; the sentence names the line.
    """
    name = printable(str(path), 200)
    try:
        body = regular_bytes(path).removeprefix(BOM)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no name of a file"
        raise FormatError(f"{name} cannot be read ({why}): name a file that can with --oracles.") from None
    decode = msgspec.json.Decoder(_Line).decode
    found = []
    for number, raw in enumerate(body.splitlines(), 1):
        if not raw.strip():
            continue
        where = f"{name}, line {number}"
        try:
            check_depth(raw, Limits(), where)
            line = decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise FormatError(f'{where} is no check ({error}): write {{"run": ID, "passed": true}}.') from None
        if (fault := _fault_of(line, raw)) is not None:
            raise FormatError(f"{where} {fault}.")
        told = line.passed is not msgspec.UNSET
        passed = None if line.passed is msgspec.UNSET else line.passed
        found.append(Check(number, line.run, line.case, line.replicate, line.arm, told, passed, line.score))
    if not found:
        raise FormatError(f'{name} has no check: write one a line, {{"run": ID, "passed": true}}.')
    return filed(found)


def _fault_of(line: _Line, raw: bytes) -> str | None:
    if line.run is None and line.case is None:
        return 'names neither a run nor a case: write {"run": ID, "passed": true}'
    if line.case is None and line.replicate is not None:
        return f"names a replicate of no case: add its case, or {_AGAIN}"
    if line.passed is msgspec.UNSET and line.score is None and (line.run is None or line.case is None):
        return 'says neither passed nor score, and not of which case a run is: write {"run": ID, "passed": true}'
    keys = json.loads(raw, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    if (twice := next((key for key in keys if keys.count(key) > 1), None)) is not None:
        return f"has {twice} twice, and nobody can say which is meant: {_AGAIN}"
    if line.score is not None and not abs(line.score) <= LARGEST_SCORE:
        return f"has a score beyond {LARGEST_SCORE:,}: {_AGAIN}"
    return None


def filed(checks: Iterable[Check]) -> dict[tuple[str, str], list[Check]]:
    """``checks`` by what they name, so that a run finds its own without looking at all."""
    found: dict[tuple[str, str], list[Check]] = {}
    for each in checks:
        key = ("run", each.run) if each.run is not None else ("case", str(each.case))
        found.setdefault(key, []).append(each)
    return found


def of_arm(oracles: Oracles, own: str, others: Iterable[str]) -> dict[tuple[str, str], list[Check]]:
    """What concerns the runs that are compared as ``own``: without what names an arm among ``others``.

    A name that is no arm of the comparison stays, as the name that a recording itself has for an arm.
    """
    strange = set(others) - {own}
    every = [check for checks in oracles.values() for check in checks if check.arm not in strange]
    return filed(replace(check, arm=None) if check.arm == own else check for check in every)
