"""What an evaluator said of recorded runs: a file of JSON Lines, one check a line, put to the runs it names.

A line names a run by ``run`` (its id) or ``case`` (and ``replicate``), and says ``passed`` true, false, or null where
the check does not apply. A run succeeds if every check that applies passes, and one to which none applies is not
judged. ``score`` is taken from the last line that has one. An agent's own word is no check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from harness.formats.jsonl import BOM
from harness.formats.limits import FormatError, Limits, check_depth, printable, regular_bytes
from harness.record.replay import RunResult
from kpis.formulas.recorded.efficiency import LARGEST_SCORE
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Issue, IssueCode, RunFacts, Severity

__all__ = ["Judged", "Oracles", "judged", "none_matches", "read_oracles", "unmatched"]

Key = tuple[str, str, int | None]


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    run: str | None = None
    case: str | None = None
    replicate: int | None = None
    oracle: str | None = None
    passed: bool | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What all checks of one run come to; None where none applies."""

    success: bool | None
    score: float | None


Oracles = Mapping[Key, Judged]


def read_oracles(path: Path) -> dict[Key, Judged]:
    """The verdicts of the file at ``path``.

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
    found: dict[Key, Judged] = {}
    for number, raw in enumerate(body.splitlines(), 1):
        if not raw.strip():
            continue
        where = f"{name}, line {number}"
        try:
            check_depth(raw, Limits(), where)
            line = decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise FormatError(f'{where} is no check ({error}): write {{"run": ID, "passed": true}}.') from None
        if (line.run is None) is (line.case is None):
            raise FormatError(f"{where} names {'both a run and a case' if line.run else 'neither a run nor a case'}.")
        if line.score is not None and not abs(line.score) <= LARGEST_SCORE:
            raise FormatError(
                f"{where} has a score beyond {LARGEST_SCORE:,}: correct it, then run `python -m harness replay` again."
            )
        key = ("run", line.run, None) if line.run is not None else ("case", str(line.case), line.replicate)
        found[key] = _with(found.get(key), line)
    return found


def _with(before: Judged | None, line: _Line) -> Judged:
    success = line.passed if before is None or before.success is None else before.success and line.passed is not False
    score = line.score if line.score is not None or before is None else before.score
    return Judged(success, score)


def judged(run: RecordedRun, oracles: Oracles) -> RecordedRun:
    """``run`` with what ``oracles`` say of it in the place of its own word; as it is where they are silent."""
    found = next((oracles[key] for key in _keys(run.run_id, run.facts) if key in oracles), None)
    if found is None:
        return run
    kept = tuple(replace(facts, success=None, score=None) for facts in run.facts)
    return replace(run, facts=(*kept, RunFacts(success=found.success, score=found.score)))


def _keys(run_id: str, facts: Sequence[RunFacts]) -> list[Key]:
    """What a verdict on a run may name, the closest first."""
    cases = [(each.case_id, each.replicate) for each in facts if each.case_id is not None]
    keys: list[Key] = [("run", run_id, None), *(("case", case, replicate) for case, replicate in cases)]
    return [*keys, *(("case", case, None) for case, _ in cases)]


def _named(runs: Iterable[RunResult]) -> set[Key]:
    return {key for run in runs for key in _keys(run.run_id, run.facts)}


def none_matches(oracles: Oracles, runs: Iterable[RunResult]) -> bool:
    """Whether not one of ``oracles`` is on any of ``runs``."""
    return _named(runs).isdisjoint(oracles)


def unmatched(oracles: Oracles, runs: Iterable[RunResult]) -> Issue | None:
    """How many of ``oracles`` are on none of ``runs``, or None where each is on one."""
    known = _named(runs)
    missed = [key for key in oracles if key not in known]
    if not missed:
        return None
    kind, name, replicate = missed[0]
    which = f"{kind} {printable(name)}" + (f", replicate {replicate}" if replicate is not None else "")
    said = f"{len(missed):,} of {len(oracles):,} verdicts match no run: the first is on {which}."
    return Issue(Severity.WARNING, IssueCode.W_UNMATCHED_VERDICT, said)
