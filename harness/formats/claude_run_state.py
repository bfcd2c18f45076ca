"""What is known so far of the run while its files are read: threads, and what they gather.

Requests, calls and events are the terms themselves, filled in as lines come; only turns, which are frozen, have a
draft. Nothing here decides: the rules are in ``claude_run_gather`` (what a line adds) and ``claude_run_finish`` (what
the whole says).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.formats.claude_run_places import Places
from harness.formats.claude_stream_result import Result
from harness.formats.jsonl import LineLog
from harness.formats.pseudonym import safe_name
from kpis.terms.trace import EventKind, Request, ThreadKind, UserKind

__all__ = ["MAIN", "EventDraft", "FileState", "Names", "ThreadState", "TurnDraft"]

MAIN = "main"


class Names:
    """Names that may be kept, remembered, because a run repeats a few."""

    def __init__(self) -> None:
        self._safe: dict[str, str] = {}

    def safe(self, name: str) -> str:
        """``name``, cut and without unusual characters."""
        known = self._safe.get(name)
        if known is None:
            known = safe_name(name)
            if len(self._safe) < 4_096:  # a hostile file invents a name a line
                self._safe[name] = known
        return known


@dataclass(slots=True)
class TurnDraft:
    """A turn; times are milliseconds, 0 where unknown."""

    thread_id: str
    index: int
    kind: UserKind
    t_start: int
    t_end: int
    line: int
    file: str
    in_conversation: bool = True


@dataclass(slots=True)
class EventDraft:
    """An event; a compaction learns its summary and the next prompt later. ``before``: the request ahead of it."""

    kind: EventKind
    thread_id: str
    t: int
    line: int
    file: str
    before: Request | None = None
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    summary_bytes: int | None = None
    duration_ms: int | None = None
    detail: str | None = None


@dataclass(slots=True)
class ThreadState:
    """One thread. ``retries`` counts the client's failed attempts since the last answer."""

    thread_id: str
    kind: ThreadKind
    turn: TurnDraft | None = None
    request: Request | None = None
    compaction: EventDraft | None = None
    requests: list[Request] = field(default_factory=list)
    turns: list[TurnDraft] = field(default_factory=list)
    calls: int = 0
    retries: int = 0
    parent: str | None = None
    spawned_by: str | None = None
    agent: str | None = None
    files: set[str] = field(default_factory=set)


@dataclass(slots=True)
class FileState:
    """One file. ``first`` and ``last`` are the earliest and latest time of a message, 0 where there is none."""

    name: str
    size: int
    log: LineLog = field(default_factory=LineLog)
    first: int = 0
    last: int = 0
    session: str | None = None
    version: str | None = None
    project: str | None = None
    branch: str | None = None
    places: Places = field(default_factory=Places)
    unknown: Counter[str] = field(default_factory=Counter)
    drifted: int = 0
    repeated: int = 0
    bad_numbers: int = 0
    uncounted: int = 0
    copied: set[str] = field(default_factory=set)
    results: list[Result] = field(default_factory=list)
