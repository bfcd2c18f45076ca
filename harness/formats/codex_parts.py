"""The files of a Codex run, sorted into threads: which file is whose, and which thread is read before which.

A thread may be several files: a copy, an earlier copy that is shorter, a file cut in two. A file that begins with a
description says whose it is; one that does not is its name's session, else the only one that there is, else its own.
This module refuses to depend on the order in which files were named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

from harness.formats.codex_lines import BadLineError, decode
from harness.formats.codex_origin import Session, described, named_session
from harness.formats.codex_shapes import Line
from harness.formats.codex_stream import RolloutLines
from harness.formats.json_files import uncounted
from harness.formats.limits import Limits
from harness.formats.run_format import Source
from harness.formats.session_numbers import unix_ms
from kpis.terms.trace import Issue, IssueCode, Place, Recording, Severity, ThreadKind

__all__ = ["Part", "parents_first", "threads_of"]

_LOOKED_AT = 5
"""Lines among which a description is looked for: rubbish may stand before it."""

Found = tuple[int, bytes, Line, bool]


class Part:
    """One file. Iterate once over number, bytes, line and drift of each readable line.

    ``first`` and ``last`` are the times of its lines that were taken, as they are written: a log is in order.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        """Look at the first lines.

        Raises:
            FormatError: the file is compressed and there is no decoder.
        """
        self.name = source.name
        self.lines = RolloutLines(source, limits)
        self._limits = limits
        self.session: Session | None = None
        self.repeated = 0
        self.unknown: Counter[str] = Counter()
        self.uncounted: list[str] = []
        self.moved: list[Place] = []
        self.first: str | int | float | None = None
        self.last: str | int | float | None = None
        self._rest = self._decoded()
        self._looked: list[Found] = []
        for found in self._rest:
            self._looked.append(found)
            line = found[2]
            if line.type == "session_meta" and line.payload is not None:
                self.session = described(line, line.payload)
            if self.session is not None or len(self._looked) == _LOOKED_AT:
                break
        whens = (unix_ms(line.timestamp) for _, _, line, _ in self._looked)
        self.began = next((when for when in whens if when is not None), None)
        self.start = blake2b(b"\n".join(raw for _, raw, _, _ in self._looked), digest_size=8).hexdigest()

    @property
    def empty(self) -> bool:
        """Whether nothing in the file is a line."""
        return not self._looked

    def __iter__(self) -> Iterator[Found]:
        yield from self._looked
        self._looked.clear()
        yield from self._rest

    def _decoded(self) -> Iterator[Found]:
        for number, raw in self.lines:
            try:
                line, drifted = decode(raw, self._limits)
            except BadLineError:
                self.lines.bad(number)
            else:
                yield number, raw, line, drifted

    def recording(self, source_format: str, session: Session | None) -> Recording:
        """The file, once it is read."""
        log = self.lines.log
        whens = [when for when in (unix_ms(self.first), unix_ms(self.last)) if when is not None]
        return Recording(
            source_format,
            session.version if session else None,
            session.thread_id if session else None,
            log.lines,
            log.bad_lines,
            dict(self.unknown),
            min(whens, default=None),
            max(whens, default=None),
            self.name,
            self.lines.bytes,
            session.project if session else None,
            session.branch if session else None,
            tuple(self.moved),
        )

    def issues(self) -> Iterator[Issue]:
        """What is to be said of the file, once it is read."""
        yield from self.lines.issues()
        if self.repeated:
            said = f"Lines that another file of this session holds as well: {self.repeated}. They are counted once."
            yield Issue(Severity.NOTE, IssueCode.W_REPEATED_LINE, said, file=self.name)
        for kind, n in sorted(self.unknown.items()):
            said = f"Lines of the unknown kind {kind}: {n}. They were left out."
            yield Issue(Severity.NOTE, IssueCode.W_UNKNOWN_KIND, said, file=self.name)
        if self.uncounted:
            yield uncounted(len(self.uncounted), self.name)


def threads_of(parts: Sequence[Part]) -> dict[str, tuple[Session, list[Part]]]:
    """The parts of each thread, in the order in which they were written, by the thread's id."""
    named = {part.session.thread_id for part in parts if part.session is not None}
    held: dict[str, list[Part]] = {}
    for part in parts:
        if part.session is not None:
            owner = part.session.thread_id
        else:
            owner = named_session(part.name) or (next(iter(named)) if len(named) == 1 else f"codex-{part.start}")
        held.setdefault(owner, []).append(part)
    threads: dict[str, tuple[Session, list[Part]]] = {}
    for owner, files in held.items():
        files.sort(key=_written)
        described_as = next((part.session for part in files if part.session is not None), None)
        threads[owner] = (described_as or Session(owner, started=files[0].began), files)
    return threads


def _written(part: Part) -> tuple[bool, float, int, str, str]:
    began = float("inf") if part.began is None else part.began
    return part.session is None, began, -part.lines.source.size, part.start, part.name


def parents_first(threads: Mapping[str, tuple[Session, list[Part]]]) -> list[str]:
    """The ids of ``threads``: each behind its parent, and sub-agents that name no parent last."""

    def generation(thread_id: str) -> int:
        seen: set[str] = set()
        at: str | None = thread_id
        while at is not None and at in threads and at not in seen:
            seen.add(at)
            at = threads[at][0].parent
        return len(seen)

    def place(thread_id: str) -> tuple[bool, int, float, str]:
        session = threads[thread_id][0]
        stray = session.parent is None and session.kind not in (ThreadKind.MAIN, ThreadKind.FORK)
        return stray, generation(thread_id), session.started or float("inf"), thread_id

    return sorted(threads, key=place)
