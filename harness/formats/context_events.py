"""The JSON Lines of runs recorded for their context: a header line a run, then its events in order of ``seq``.

Strict where a number depends on it: a line that lacks a field, misspells a word or holds a negative count is left out
and named, with the reason. Lenient where nothing is lost: an unknown field is told once and read past. What an optional
field does not say stays None. This module computes nothing; ``kpis.formulas.context.evaluate`` does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, BinaryIO

import msgspec

from harness.formats.json_files import lines_of
from harness.formats.jsonl import LineLog, RawLine, first_objects
from harness.formats.limits import FormatError, Limits, check_depth, printable
from kpis.terms.context_run import Action, ContextEvent, ContextRequest, ContextRun, Fold, RunEnd, RunHeader
from kpis.terms.context_state import Anchor, OracleVerdict, Presented, StateChange
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["ContextFile", "looks_like", "read_context_events", "read_context_file"]

HEADER = "run"
_EVENTS: dict[str, type[ContextEvent]] = {
    "request": ContextRequest,
    "fold": Fold,
    "action": Action,
    "anchor": Anchor,
    "state": StateChange,
    "presented": Presented,
    "verdict": OracleVerdict,
    "end": RunEnd,
}
_FIELDS = {kind: frozenset(field.name for field in fields(shape)) for kind, shape in _EVENTS.items()}
_FIELDS[HEADER] = frozenset(field.name for field in fields(RunHeader))
_NAMED_ISSUES = 50  # a file in another shape has one fault a line, and nobody reads them all


def looks_like(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is of this format: its first object is a header."""
    for line in first_objects(head, 1):
        try:
            row = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, RecursionError):
            return False
        return bytes(row.get("type", msgspec.Raw())) == b'"run"' and {"run_id", "tokenizer", "sessions"} <= row.keys()
    return False


@dataclass(frozen=True, slots=True)
class ContextFile:
    """The runs of one file in its order, its lines, and how many of them could not be used."""

    runs: tuple[ContextRun, ...]
    lines: int
    bad_lines: int


class _Reading:
    """One run while its lines are read."""

    def __init__(self, header: RunHeader, file: str) -> None:
        self.header = header
        self.file = file
        self.events: dict[type[Any], list[Any]] = {shape: [] for shape in _EVENTS.values()}
        self.issues: list[Issue] = []
        self.seqs: list[int] = []
        self.places: dict[int, tuple[str, int]] = {}
        self.bad_lines = 0
        self.left_out = 0
        self.closed = False  # what follows is of a run whose header is lost

    def issue(self, severity: Severity, code: IssueCode, sentence: str, line: int | None) -> None:
        if len(self.issues) < _NAMED_ISSUES:
            self.issues.append(Issue(severity, code, sentence, line, self.file))
        else:
            self.left_out += 1

    def bad(self, number: int, why: str) -> None:
        self.bad_lines += 1
        self.issue(Severity.ERROR, IssueCode.E_BAD_LINE, f"Line {number} was left out: {why}.", number)

    def take(self, event: ContextEvent, number: int) -> None:
        # Checks may be told after the end; a number that is taken already is of a run whose header is lost.
        self.closed = self.closed or (bool(self.events[RunEnd]) and event.seq in self.places)
        if self.closed or (isinstance(event, RunEnd) and self.events[RunEnd]):
            self.bad(number, "its run has ended before" if self.events[RunEnd] else "its run has no sound header")
            return
        self.events[type(event)].append(event)
        self.seqs.append(event.seq)
        self.places.setdefault(event.seq, (self.file, number))

    def done(self) -> ContextRun:
        if any(later <= earlier for earlier, later in zip(self.seqs, self.seqs[1:], strict=False)):
            text = "Events are not in rising order of `seq`; they were sorted by it, equal ones as they stand."
            self.issue(Severity.WARNING, IssueCode.W_SCHEMA_DRIFT, text, None)
        ended = self.events[RunEnd]
        if not ended:
            text = f"Run {printable(self.header.run_id)} has no end: its counts are what was recorded so far."
            self.issue(Severity.WARNING, IssueCode.W_UNSETTLED, text, None)
        if self.left_out:
            text = f"{self.left_out} more findings are not listed."
            self.issues.append(Issue(Severity.NOTE, IssueCode.E_BAD_LINE, text, None, self.file))
        in_order = {shape: tuple(sorted(found, key=lambda event: event.seq)) for shape, found in self.events.items()}
        return ContextRun(
            self.header,
            in_order[ContextRequest],
            in_order[Fold],
            in_order[Action],
            in_order[Anchor],
            in_order[StateChange],
            in_order[Presented],
            in_order[OracleVerdict],
            ended[0] if ended else None,
            tuple(self.issues),
            self.places,
        )


def read_context_events(blob: BinaryIO, name: str, limits: Limits) -> list[ContextRun]:
    """The runs of a file alone: see :func:`read_context_file`."""
    return list(read_context_file(blob, name, limits).runs)


def read_context_file(blob: BinaryIO, name: str, limits: Limits) -> ContextFile:
    """The runs of a file, in its order; ``name`` is how its user knows it. Every finding is an issue of a run.

    Lines before the first header are findings of the first run.

    Raises:
        FormatError: the file has no header line.
    """
    log = LineLog()
    runs: list[_Reading] = []
    early: list[tuple[int, str]] = []
    told: set[tuple[str, str]] = set()
    for line in lines_of(blob, limits, log):
        try:
            row = _object(line, limits)
        except FormatError as error:
            _unsound(runs, early, line.number, str(error).rstrip("."))
            continue
        if row is None:
            log.bad(line)
            continue
        kind = row.pop("type", None)
        try:
            if kind == HEADER:
                runs.append(_Reading(msgspec.convert(row, RunHeader), name))
            elif runs and isinstance(kind, str) and kind in _EVENTS:
                runs[-1].take(msgspec.convert(row, _EVENTS[kind]), line.number)
            else:
                _stray(runs, early, kind, line.number)
                continue
        except (msgspec.ValidationError, RecursionError) as error:
            _unsound(runs, early, line.number, f"as a {kind} it is not sound: {printable(str(error), 160)}")
            if kind == HEADER and runs:
                runs[-1].closed = True
            continue
        _tell_unknown(runs[-1], told, str(kind), row, line.number)
    if not runs:
        faults = f"line {early[0][0]}: {early[0][1]}" if early else "no line has the type `run`"
        raise FormatError(
            f"{name} has no header of a recorded run ({faults}): write one as docs/context-format.md says, then run "
            "`python -m harness replay` again."
        )
    for number, why in early:
        runs[0].bad(number, why)
    for issue in log.issues():
        runs[0].issue(issue.severity, issue.code, issue.message, issue.line)
    bad = log.bad_lines + sum(run.bad_lines for run in runs)
    return ContextFile(tuple(run.done() for run in runs), log.lines, bad)


def _unsound(runs: list[_Reading], early: list[tuple[int, str]], number: int, why: str) -> None:
    if runs:
        runs[-1].bad(number, why)
    else:
        early.append((number, why))


def _object(line: RawLine, limits: Limits) -> dict[str, Any] | None:
    """The line as an object; None where it is none.

    Raises:
        FormatError: it nests too deep.
    """
    check_depth(line.body, limits, "it")
    try:
        row = msgspec.json.decode(line.body)
    except (msgspec.DecodeError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _stray(runs: list[_Reading], early: list[tuple[int, str]], kind: object, number: int) -> None:
    if not runs:
        early.append((number, "it stands before the header of a run"))
        return
    what = f"is of the unknown type {printable(kind)}" if isinstance(kind, str) else "has no type"
    text = f"Line {number} {what}, and was left out."
    runs[-1].issue(Severity.WARNING, IssueCode.W_UNKNOWN_KIND, text, number)


def _tell_unknown(run: _Reading, told: set[tuple[str, str]], kind: str, row: dict[str, Any], number: int) -> None:
    for field in sorted(row.keys() - _FIELDS[kind]):
        if (kind, field) not in told and len(told) < _NAMED_ISSUES:
            told.add((kind, field))
            text = f"Line {number}: a {kind} has a field {printable(field)} that is not known; it was read past."
            run.issue(Severity.WARNING, IssueCode.W_SCHEMA_DRIFT, text, number)
