"""Compare two files of another benchmark tool: read both, match by name, judge. Callable from Python; prints nothing.

A bench that is in one file only is ``new`` or ``removed``, whatever the other benches do: nothing is matched by its
place in the file, and nothing drops out in silence.
"""

from __future__ import annotations

import hashlib
import io
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from harness.formats.bench_detect import read
from harness.formats.bench_json import plain_bytes
from harness.formats.limits import FormatError, Limits, printable
from harness.judge.comparable import differing
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.independent import compare_all
from harness.judge.rule import DELTA
from harness.judge.settled import wanted
from harness.judge.unpaired import processes_needed, sample_of
from harness.record.gate_from import GateFromFile, GateFromRow, GateFromSide
from kpis.terms.bench import Bench, BenchFile
from kpis.terms.claim import Claim, Coverage, Evidence
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate

__all__ = ["Compared", "Row", "compare", "judged", "read_file"]


class Row(NamedTuple):
    """One bench, by its full name; ``direction`` turns the comparison into a claim.

    ``coverage`` counts independent processes of the smaller side; ``evidence`` says where the bench stands in each file
    that has it.
    """

    name: str
    comparison: Comparison
    direction: Direction
    coverage: Coverage
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows in the order of the base file, then the new ones; what was covered; what must be said of the files."""

    base: GateFromSide
    head: GateFromSide
    rows: tuple[Row, ...]
    coverage: Coverage
    notices: tuple[str, ...]


def read_file(path: Path, limits: Limits | None = None) -> BenchFile:
    """The benches in the file at ``path``.

    Raises:
        FormatError: it cannot be opened or read; the sentence names it.
    """
    return _read(path, limits or Limits()).benches


class _Side(NamedTuple):
    """The benches in a file, its bytes, unpacked, and what it is called."""

    benches: BenchFile
    plain: bytes
    named: GateFromSide

    def where(self) -> dict[str, Evidence]:
        """By full name, where a bench stands: both tools list them under one key, in the order that is kept here."""
        names = (bench.fullname for bench in self.benches.benches)
        return {name: Evidence(self.named.sha256, f"/benchmarks/{place}") for place, name in enumerate(names)}


def _read(path: Path, limits: Limits) -> _Side:
    """What a file holds; a pipe can be read but once."""
    try:
        with path.open("rb") as blob:
            data = blob.read(limits.max_bytes + 1)
        named = GateFromSide(file=str(path), sha256=hashlib.sha256(data).hexdigest())
        return _Side(read(io.BytesIO(data), limits, _shown(path)), plain_bytes(io.BytesIO(data), limits), named)
    except OSError as error:
        why = error.strerror or str(error)
        raise FormatError(
            f"{printable(str(path))} cannot be read: {why}; see `ls -ld {printable(shlex.quote(str(path)))}`."
        ) from None


def _shown(path: Path) -> str:
    """``path`` for a sentence: as it was given, or its end, since two files may have one name."""
    text = str(path)
    return text if len(text) <= _MOST_SHOWN else f"...{text[3 - _MOST_SHOWN :]}"


_MOST_SHOWN = 80


def compare(a: Path, b: Path) -> Compared:
    """Judge file ``b`` (head) against file ``a`` (base).

    Two names of one file, and two copies of it, packed or indented anew, are one measurement: nothing is compared,
    and no row says otherwise.

    Raises:
        FormatError: a file cannot be read.
    """
    base, head = _read(a, Limits()), _read(b, Limits())
    if base.plain == head.plain or (base.benches.created is not None and base.benches == head.benches):
        return Compared(base.named, head.named, (), coverage_of({}), (_ITSELF,))
    rows = tuple(_rows(base, head))
    coverage = coverage_of({row.name: row.comparison for row in rows})
    return Compared(base.named, head.named, rows, coverage, _notices(base.benches, head.benches))


_ITSELF = "Both files hold the same measurement: a file against itself shows nothing, and nothing was compared."


def _rows(base: _Side, head: _Side) -> Iterator[Row]:
    old = {bench.fullname: bench for bench in base.benches.benches}
    new = {bench.fullname: bench for bench in head.benches.benches}
    common = [name for name in old if name in new]
    tools = base.benches.tool, head.benches.tool
    if tools[0] is tools[1]:
        judged = compare_all([(old[name], new[name]) for name in common])
    else:
        judged = [differing("tool", tools[0].value, tools[1].value)] * len(common)
    found = dict(zip(common, judged, strict=True))
    places = base.where(), head.where()
    for name in dict.fromkeys((*old, *new)):
        bench = old.get(name) or new[name]
        told = found.get(name) or (_removed(name, bench) if name in old else _new(name, bench))
        evidence = tuple(place[name] for place in places if name in place)
        yield Row(name, told, bench.direction, _coverage(old.get(name), new.get(name), told), evidence)


def _coverage(base: Bench | None, head: Bench | None, found: Comparison) -> Coverage:
    """How many independent processes a side were wanted and, where the two were compared, seen."""
    if base is None or head is None:
        return Coverage(processes_needed(), 0)
    compared = found.state.decided or found.state is State.INCONCLUSIVE
    return Coverage(wanted(sample_of(base, head)), found.pairs if compared else 0)


def judged(compared: Compared) -> GateFromFile:
    """The rows with the verdict over them, as they are written."""
    claims = [_claim(row) for row in compared.rows]
    rows = [GateFromRow(name=row.name, **_facts(row.comparison)) for row in compared.rows]
    return GateFromFile(
        base=compared.base,
        head=compared.head,
        delta=DELTA,
        verdict=compose(claims, compared.coverage),
        claims=claims,
        rows=rows,
    )


def _claim(row: Row) -> Claim:
    return claim_of(row.name, row.comparison, Gate.TIMED, row.direction, evidence=row.evidence, coverage=row.coverage)


def _facts(found: Comparison) -> dict[str, Any]:
    return {each.name: getattr(found, each.name) for each in fields(found)}


def _removed(name: str, bench: Bench) -> Comparison:
    told = f"{printable(name)} is in the base file only; it was renamed or removed, or it raised in the head"
    return Comparison(State.REMOVED, pairs=bench.independent, evidence=(told,))


def _new(name: str, bench: Bench) -> Comparison:
    told = f"{printable(name)} is in the head file only; there is nothing to compare it with"
    return Comparison(State.NEW, pairs=bench.independent, evidence=(told,))


def _notices(base: BenchFile, head: BenchFile) -> tuple[str, ...]:
    notices = []
    common = {bench.fullname for bench in base.benches} & {bench.fullname for bench in head.benches}
    if not common:
        notices.append("The files have no benchmark in common: nothing was compared.")
    if base.benches and base.benches == head.benches:
        notices.append("Both files hold the same numbers, to the last digit: they may be one measurement.")
    elif common:
        notices.append(
            "The files were measured one after the other, and a difference between two sessions of the machine is in "
            "every ratio; `python -m harness gate --against REV` measures both sides in turn."
        )
    if base.tool is head.tool and base.tool_version != head.tool_version:
        versions = f"{base.tool_version or 'unknown'} and {head.tool_version or 'unknown'}"
        notices.append(f"The files come from different versions of {base.tool.value}: {printable(versions)}.")
    if base.tool is head.tool and base.created and head.created and base.created > head.created:
        notices.append("The base file is the later one: if they were swapped, name the older one first.")
    return tuple(notices)
