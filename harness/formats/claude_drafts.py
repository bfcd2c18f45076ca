"""What is known so far of each request, call, turn and block while a session is being read.

Drafts are the mutable side of :mod:`kpis.terms.trace`; they live as long as one reading. Nothing here decides: the
rules are in ``claude_session`` (what a line adds) and ``claude_finish`` (what the whole says).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from harness.formats.branch import Link
from harness.formats.claude_lines import Line, Message, Usage
from harness.formats.session_numbers import count_of
from kpis.terms.trace import EventKind, Outcome, ThreadKind, ToolOp, UserKind

__all__ = ["BlockDraft", "CallDraft", "EventDraft", "Gathered", "RequestDraft", "TurnDraft"]


@dataclass(slots=True)
class TurnDraft:
    """A turn; ``at`` is the place of its opening line in the main thread's log."""

    thread: str
    index: int
    kind: UserKind
    t_start: int | None
    at: int | None
    t_end: int | None = None

    def until(self, when: int | None) -> None:
        """The turn lasted at least until ``when``."""
        if when is not None:
            self.t_end = when if self.t_end is None else max(self.t_end, when)


@dataclass(slots=True)
class RequestDraft:
    """One response, merged over its lines. ``parts`` holds the largest value of each counter."""

    key: str
    thread: str
    turn: int
    parts: dict[str, int] = field(default_factory=dict)
    last_output: int | None = None
    bad_numbers: int = 0
    visible_chars: int = 0
    model: str | None = None
    stop_reason: str | None = None
    named: bool = False  # some line carried a request id
    failed: bool = False
    aborted: bool = False
    n_lines: int = 0
    t_first: int | None = None
    t_last: int | None = None
    places: list[int] = field(default_factory=list)

    def merge(self, line: Line, message: Message, when: int | None, at: int | None) -> None:
        """Add one line of this response."""
        self.n_lines += 1
        self.named = self.named or line.request_id is not None
        self.failed = self.failed or bool(line.is_api_error_message)
        self.model = message.model or self.model
        self.stop_reason = message.stop_reason or self.stop_reason
        if when is not None:
            self.t_first = when if self.t_first is None else min(self.t_first, when)
            self.t_last = when if self.t_last is None else max(self.t_last, when)
        if at is not None:
            self.places.append(at)
        if message.usage is not None:
            self._count(message.usage)

    def _count(self, usage: Usage) -> None:
        creation = usage.cache_creation
        given = {
            "fresh_in": usage.input_tokens,
            "cache_read": usage.cache_read_input_tokens,
            "cache_write": usage.cache_creation_input_tokens,
            "cache_write_5m": None if creation is None else creation.ephemeral_5m_input_tokens,
            "cache_write_1h": None if creation is None else creation.ephemeral_1h_input_tokens,
            "out_total": usage.output_tokens,
        }
        for part, number in given.items():
            if number is None:
                continue
            count = count_of(number)
            if count is None:
                self.bad_numbers += 1
                continue
            if part == "out_total":
                self.last_output = count
            if count > self.parts.get(part, -1):
                self.parts[part] = count


@dataclass(slots=True)
class CallDraft:
    """A tool call, or a result that waits for its call."""

    call_id: str
    thread: str
    index: int
    request: RequestDraft | None = None
    name: str | None = None
    op: ToolOp = ToolOp.OTHER
    arg_bytes: int | None = None
    arg_digest: str | None = None
    t_start: int | None = None
    at: int | None = None
    outcome: Outcome | None = None
    result_bytes: int | None = None
    result_digest: str | None = None
    t_end: int | None = None
    answered_at: int | None = None


@dataclass(slots=True)
class EventDraft:
    """An event; a compaction learns its summary and the next prompt later."""

    kind: EventKind
    thread: str
    t: int | None
    line: int
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    summary_bytes: int | None = None


@dataclass(slots=True)
class BlockDraft:
    """A content block; ``request`` is the one that produced it."""

    thread: str
    turn: int
    role: str
    size: int
    digest: str
    head: str
    request: RequestDraft | None
    at: int | None


@dataclass(slots=True)
class Gathered:
    """All drafts of one session. ``log`` keeps, thread by thread, requests, blocks and compactions in file order."""

    requests: dict[str, RequestDraft] = field(default_factory=dict)
    calls: dict[str, CallDraft] = field(default_factory=dict)
    turns: list[TurnDraft] = field(default_factory=list)
    events: list[EventDraft] = field(default_factory=list)
    log: defaultdict[str, list[RequestDraft | BlockDraft | EventDraft]] = field(
        default_factory=lambda: defaultdict(list)
    )
    links: list[Link] = field(default_factory=list)
    link_lines: list[int] = field(default_factory=list)
    threads: dict[str, ThreadKind] = field(default_factory=dict)
    spawned: dict[str, tuple[str, str]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    drifted: int = 0
    repeated: int = 0
    version: str | None = None
    session_id: str | None = None
    t_start: int | None = None
    t_end: int | None = None

    def note_origin(self, when: int | None, version: str | None, session_id: str | None) -> None:
        """Widen the time span; keep the newest client version and the first session id."""
        if when is not None:
            self.t_start = when if self.t_start is None else min(self.t_start, when)
            self.t_end = when if self.t_end is None else max(self.t_end, when)
        self.version = version or self.version
        self.session_id = self.session_id or session_id

    def event(self, kind: EventKind, thread: str, when: int | None, line: int) -> EventDraft:
        """Note an event."""
        event = EventDraft(kind, thread, when, line)
        self.events.append(event)
        return event
