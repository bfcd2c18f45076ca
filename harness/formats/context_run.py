"""Runs that were recorded for their context, JSON Lines with a header a run, as recorded runs of any other kind.

One file may hold several runs; each has threads and facts of its own, and is handed on besides as the
:class:`~kpis.terms.context_run.ContextRun` that it is, for what only such a recording says. Deduplication: runs with
equal headers that do not contradict one another are one, in one file or in several, and an event that stands twice
counts once. Other runs of one id are runs of their own, which is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import msgspec

from harness.formats.context_events import looks_like, read_context_file
from harness.formats.context_kept import safe_header, times_of
from harness.formats.context_trace import trace_of
from harness.formats.json_files import in_order
from harness.formats.jsonl import first_objects
from harness.formats.limits import FormatError, Limits, printable
from harness.formats.pseudonym import safe_id
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_str, file_run
from kpis.terms.context_run import Action, ContextRequest, ContextRun, RunHeader
from kpis.terms.trace import Issue, IssueCode, Recording, Severity, TraceEvent

__all__ = ["ContextRuns"]

_START = re.compile(rb'"t_start": ?(\d{1,16}(?:\.\d{1,9})?)')
_EVENTS = ("requests", "folds", "actions", "anchors", "states", "presented", "verdicts")


class ContextRuns:
    """The files whose first headers name one run are read together."""

    name: ClassVar[str] = "context"

    def sniff(self, head: bytes, filename: str) -> float:  # noqa: ARG002 the header decides alone
        """Certain by the header line."""
        return 1.0 if looks_like(head) else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The run that the first header names, begun at the first time that is recorded."""
        told: Any = None
        for line in first_objects(head, 1):
            try:
                told = msgspec.json.decode(line, type=dict[str, msgspec.Raw]).get("run_id")
                told = None if told is None else msgspec.json.decode(told)
            except (msgspec.DecodeError, RecursionError):
                told = None
        run, first = as_str(told), _START.search(head)
        return Origin(
            safe_id(run) if run else file_run(filename), started=times_of(float(first[1]))[0] if first else None
        )

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | ContextRun | Issue]:
        """Every file as a recording; every run as threads, requests, calls, folds and facts, and as itself."""
        runs: list[ContextRun] = []
        for source in in_order(sources):
            try:
                file = read_context_file(source.blob, source.name, limits)
            except FormatError as error:
                yield Recording(self.name, file=source.name, bytes=source.size)
                yield Issue(Severity.ERROR, IssueCode.E_UNREADABLE, str(error), file=source.name)
                continue
            seen = [time for run in file.runs for time in _times(run)]
            yield Recording(
                self.name,
                lines=file.lines,
                bad_lines=file.bad_lines,
                t_start=min(seen, default=None),
                t_end=max(seen, default=None),
                file=source.name,
                bytes=source.size,
            )
            for run in file.runs:
                yield from run.issues
                runs.append(replace(run, header=safe_header(run.header)))
        told: dict[str, int] = {}
        for run, note in _united(runs):
            if note is not None:
                yield note
            at = told[run.header.run_id] = told.get(run.header.run_id, 0) + 1
            if at == 2:
                yield _of_one_id(run)
            yield run
            yield from trace_of(run, run.header.run_id if at == 1 else f"{run.header.run_id}#{at}")


def _times(run: ContextRun) -> Iterator[int]:
    events: tuple[ContextRequest | Action, ...] = (*run.requests, *run.actions)
    for each in events:
        yield from (time for time in times_of(each.t_start, each.t_end) if time is not None)


def _of_one_id(run: ContextRun) -> Issue:
    said = f"Several runs are called {printable(run.header.run_id)}; they are not the same, and each counts."
    return Issue(Severity.WARNING, IssueCode.W_SCHEMA_DRIFT, said, file=_file_of(run))


def _file_of(run: ContextRun) -> str | None:
    return next((file for file, _ in run.places.values()), None)


def _united(runs: Sequence[ContextRun]) -> Iterator[tuple[ContextRun, Issue | None]]:
    """The runs, each once, in the order of their first appearance; a note where one stood several times."""
    alike: dict[RunHeader, list[ContextRun]] = {}
    for run in runs:
        alike.setdefault(run.header, []).append(run)
    for group in alike.values():
        if len(group) == 1:
            yield group[0], None
        else:
            yield from _of_one_header(group)


def _of_one_header(runs: Sequence[ContextRun]) -> Iterator[tuple[ContextRun, Issue | None]]:
    """Runs that do not contradict one another are one run; of those that do each is a run."""
    found: list[tuple[list[ContextRun], dict[int, set[str]]]] = []
    for run in runs:
        told = _told(run)
        for same, known in found:
            if all(known[seq] == words for seq, words in told.items() if seq in known):
                same.append(run)
                known.update(told)
                break
        else:
            found.append(([run], told))
    for same, _ in found:
        yield (same[0], None) if len(same) == 1 else _one_of(same)


def _told(run: ContextRun) -> dict[int, set[str]]:
    """What a run says at each number of its order."""
    told: dict[int, set[str]] = {}
    for event in (event for name in _EVENTS for event in getattr(run, name)):
        told.setdefault(event.seq, set()).add(repr(event))
    return told


def _one_of(runs: Sequence[ContextRun]) -> tuple[ContextRun, Issue]:
    """What all say, in an order that the order of the files does not change."""
    first = runs[0]
    events: dict[str, Any] = {}
    for name in _EVENTS:
        once = {repr(event): event for run in runs for event in getattr(run, name)}
        events[name] = tuple(once[key] for key in sorted(once, key=lambda key: (once[key].seq, key)))
    said = f"Run {printable(first.header.run_id)} stands {len(runs):,} times; what is said again counts once."
    note = Issue(Severity.NOTE, IssueCode.W_REPEATED_LINE, said, file=_file_of(first))
    places = {seq: place for run in reversed(runs) for seq, place in run.places.items()}
    end = max((run.end for run in runs if run.end is not None), key=lambda end: (end.seq, repr(end)), default=None)
    issues = (*(issue for run in runs for issue in run.issues), note)
    return replace(first, **events, end=end, issues=issues, places=places), note
