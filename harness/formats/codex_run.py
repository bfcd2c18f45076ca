"""Codex rollouts: ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``, archived and compressed ones too.

Pure: bytes in, events out. A file is a thread, and a fork, a review or a spawned agent is another file that repeats, or
is repeated in, its parent's; so threads are read parents first and each is compared with the one it came from
(:mod:`harness.formats.codex_copies`). Lines of one thread that stand in two files count once. This module refuses
nothing but what it has no decoder for; every other fault is an issue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from harness.formats.codex_answers import REVIEWED
from harness.formats.codex_copies import Copies, Lineage
from harness.formats.codex_finish import Finished
from harness.formats.codex_issues import lineage_issue, thread_issues
from harness.formats.codex_origin import Session, origin_of, sniffed
from harness.formats.codex_parts import Part, parents_first, threads_of
from harness.formats.codex_thread import Gathered
from harness.formats.limits import FormatError, Limits
from harness.formats.run_format import Origin, Source
from kpis.terms.trace import Issue, IssueCode, Severity, ThreadKind, TraceEvent

__all__ = ["CodexRun"]


class CodexRun:
    """The reader."""

    name: ClassVar[str] = "codex"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure the file is a rollout, 0 to 1: the share of lines of known kinds; the name breaks ties."""
        return sniffed(head, filename)

    def origin(self, head: bytes, filename: str) -> Origin:
        """The file's session, and the one that it was forked from or spawned by."""
        return origin_of(head, filename)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Everything that the threads of one run say.

        Raises:
            FormatError: every file is compressed and there is no decoder.
        """
        parts: list[Part] = []
        refused: list[Issue] = []
        for source in sources:
            try:
                parts.append(Part(source, limits))
            except FormatError as error:
                refused.append(Issue(Severity.ERROR, IssueCode.E_UNREADABLE, str(error), file=source.name))
        if refused and not parts:
            raise FormatError(refused[0].message)
        yield from refused
        yield from _Run(parts).events()


class _Run:
    """The threads of one run, read one after the other."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._empty = [part for part in parts if part.empty]
        self._threads = threads_of([part for part in parts if not part.empty])
        self._lineages: dict[str, Lineage] = {}
        self._spawned: dict[str, str] = {}
        self._reviews: set[str] = set()
        mains = [each for each, (session, _) in self._threads.items() if session.kind is ThreadKind.MAIN]
        self._only_main = mains[0] if len(mains) == 1 else None

    def events(self) -> Iterator[TraceEvent | Issue]:
        for part in self._empty:  # looking for a first line has read them to their end
            yield part.recording(CodexRun.name, None)
            yield from part.issues()
        for thread_id in parents_first(self._threads):
            yield from self._thread(*self._threads[thread_id])

    def _copies(self, session: Session) -> Copies:
        parent = session.parent
        if parent is None and session.kind not in (ThreadKind.MAIN, ThreadKind.FORK):
            parent = self._only_main
        if parent in self._lineages:
            return Copies(self._lineages[parent])
        # Forks of one session that is not at hand share their beginning, so the first stands in for it.
        if session.kind is ThreadKind.FORK:
            return Copies(self._lineages.get(f"?{parent}"), least=2)
        return Copies(None)

    def _thread(self, session: Session, parts: Sequence[Part]) -> Iterator[TraceEvent | Issue]:
        thread = Gathered(session, self._copies(session))
        seen: set[int] = set()
        starts: set[str] = set()
        for part in parts:
            thread.unknown, thread.uncounted, thread.moved = part.unknown, part.uncounted, part.moved
            new: set[int] = set()
            copy = part.start in starts
            starts.add(part.start)
            for number, raw, line, drifted in part:
                if len(parts) > 1:
                    mark = hash(raw)
                    # Without a time, equal lines are the same line only in a copy of the file.
                    if mark in seen and (copy or line.timestamp is not None):
                        part.repeated += 1
                        continue
                    new.add(mark)
                thread.drifted += drifted
                if line.timestamp is not None:
                    part.last = line.timestamp
                    if part.first is None:
                        part.first = part.last
                thread.add(line, part.name, number)
            seen |= new
            yield part.recording(CodexRun.name, session)
            yield from part.issues()
        done = Finished(thread, self._reviews, self._spawned.get(session.thread_id))
        yield from done.events()
        yield from thread_issues(done, parts[0].name)
        self._keep(done)
        if session.parent is not None and session.parent not in self._threads:
            issue = lineage_issue(done, parts[0].name)
            if issue is not None:
                yield issue

    def _keep(self, done: Finished) -> None:
        """Keep of a thread what its children are compared with."""
        session = done.thread.session
        self._spawned.update(done.thread.calls.spawned)
        self._reviews.update(each.request_id for each in done.requests if each.request_id.startswith(REVIEWED))
        if len(self._threads) > 1:
            lineage = self._lineages[session.thread_id] = done.thread.lineage()
            if session.kind is ThreadKind.FORK and session.parent not in self._threads:
                self._lineages.setdefault(f"?{session.parent}", lineage)
