"""The neutral trace: what any recorded agent run says, in one shape, whatever tool wrote it.

Token parts are disjoint, every part carries its provenance, and what a recording does not say is ``None``, never 0.
Identity comes from ids, order only breaks ties. These types refuse to hold text: a content block is a size, a keyed
digest and a pseudonymised first line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

__all__ = [
    "Event",
    "EventKind",
    "Issue",
    "IssueCode",
    "Node",
    "Outcome",
    "Provenance",
    "Recording",
    "Request",
    "RequestStatus",
    "Severity",
    "Thread",
    "ThreadKind",
    "Tokens",
    "ToolCall",
    "ToolOp",
    "Trace",
    "TraceEvent",
    "Turn",
    "UserKind",
]


class Provenance(Enum):
    """How a token count came to stand in the trace."""

    OBSERVED = "observed"  # the recording says it
    DERIVED = "derived"  # a difference or sum of observed numbers
    MODELLED = "modelled"
    PLACEHOLDER = "placeholder"  # the recording holds a number that its client never updated
    ABSENT = "absent"


class ThreadKind(Enum):
    """What kind of conversation a thread is."""

    MAIN = "main"
    SUBAGENT = "subagent"
    REVIEW = "review"
    FORK = "fork"
    SUMMARISER = "summariser"
    SIDE_MODEL = "side_model"


class UserKind(Enum):
    """Who opened a turn."""

    HUMAN = "human"
    TOOL = "tool"
    HOOK = "hook"
    SYSTEM = "system"
    COMPACT_SUMMARY = "compact_summary"


class RequestStatus(Enum):
    """How a model request ended."""

    OK = "ok"
    ERROR = "error"
    ABORTED = "aborted"
    RETRIED = "retried"
    SYNTHETIC = "synthetic"


class ToolOp(Enum):
    """What a tool call does, as far as its name tells."""

    READ = "read"
    SEARCH = "search"
    LIST = "list"
    WRITE = "write"
    EXEC = "exec"
    TEST = "test"
    WEB = "web"
    PLAN = "plan"
    SPAWN = "spawn"
    RECALL = "recall"
    OTHER = "other"


class Outcome(Enum):
    """What became of a tool call. ``unanswered``: no result was recorded; ``orphan``: a result without its call."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    UNANSWERED = "unanswered"
    ORPHAN = "orphan"


class EventKind(Enum):
    """What else happened in a thread."""

    COMPACTION = "compaction"
    REWIND = "rewind"
    FORK = "fork"
    RESUME = "resume"
    ABORT = "abort"
    RETRY = "retry"
    ERROR = "error"
    RATE_LIMIT = "rate_limit"
    PERMISSION = "permission"
    HOOK = "hook"
    QUEUE = "queue"
    SNAPSHOT = "snapshot"
    REVIEW = "review"


class Severity(Enum):
    """How much an issue takes away from the numbers."""

    ERROR = "error"  # something of the recording is lost
    WARNING = "warning"  # a number means less than it seems
    NOTE = "note"


class IssueCode(Enum):
    """What a reader found. Closed: a new finding gets a new word here."""

    E_TORN_LINE = "E_TORN_LINE"
    E_BAD_LINE = "E_BAD_LINE"
    E_LONG_LINE = "E_LONG_LINE"
    E_BAD_NUMBER = "E_BAD_NUMBER"
    W_PLACEHOLDER_OUTPUT = "W_PLACEHOLDER_OUTPUT"
    W_NO_REQUEST_ID = "W_NO_REQUEST_ID"
    W_NO_USAGE = "W_NO_USAGE"
    W_COUNTER_RESET = "W_COUNTER_RESET"
    W_REEMIT = "W_REEMIT"
    W_MIRRORED_THREAD = "W_MIRRORED_THREAD"
    W_ORPHAN_RESULT = "W_ORPHAN_RESULT"
    W_UNANSWERED_CALL = "W_UNANSWERED_CALL"
    W_UNKNOWN_KIND = "W_UNKNOWN_KIND"
    W_SCHEMA_DRIFT = "W_SCHEMA_DRIFT"
    W_PHANTOM_PARENT = "W_PHANTOM_PARENT"
    W_REPEATED_LINE = "W_REPEATED_LINE"
    W_TOTAL_MISMATCH = "W_TOTAL_MISMATCH"
    W_PRICE_UNKNOWN = "W_PRICE_UNKNOWN"


@dataclass(frozen=True, slots=True)
class Issue:
    """One finding of a reader: a complete sentence for people, a code for machines. ``line`` counts from 1."""

    severity: Severity
    code: IssueCode
    message: str
    line: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """The file itself: what wrote it, and how much of it could be read. Times are Unix milliseconds."""

    source_format: str
    source_version: str | None = None
    session_id: str | None = None
    lines: int = 0
    bad_lines: int = 0
    unknown_kinds: Mapping[str, int] = field(default_factory=dict)
    t_start: int | None = None
    t_end: int | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation with a model: the main one, or a sub-agent's. ``spawned_by`` is the call that started it."""

    thread_id: str
    kind: ThreadKind
    parent_thread_id: str | None = None
    spawned_by: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One user input until the end of the assistant's work on it. ``index`` counts from 0 within the thread."""

    thread_id: str
    index: int
    user_kind: UserKind
    t_start: int | None = None
    t_end: int | None = None
    in_conversation: bool = True


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one request in disjoint parts; ``None`` is unknown.

    ``cache_write_5m`` and ``cache_write_1h`` are writes whose time to live is recorded, ``cache_write_other`` the rest.
    ``out_visible`` and ``out_reasoning`` split ``out_total`` where the recording does. ``unattributed`` is what a
    recording counts without saying as what.
    """

    fresh_in: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    cache_write_other: int | None = None
    out_visible: int | None = None
    out_reasoning: int | None = None
    out_total: int | None = None
    unattributed: int | None = None
    provenance: Mapping[str, Provenance] = field(default_factory=dict)

    @property
    def cache_write(self) -> int | None:
        """All cache writes, or None where no part of them is known."""
        known = [n for n in (self.cache_write_5m, self.cache_write_1h, self.cache_write_other) if n is not None]
        return sum(known) if known else None

    @property
    def prompt(self) -> int | None:
        """What the model was shown: fresh + cache read + cache writes; None unless fresh and cache read are known.

        Unknown writes add nothing, because a format without a counter for them counts them as fresh.
        """
        if self.fresh_in is None or self.cache_read is None:
            return None
        return self.fresh_in + self.cache_read + (self.cache_write or 0)

    def provenance_of(self, part: str) -> Provenance:
        """How ``part`` (a field name, or ``prompt``) came to be; absent where it is None."""
        if getattr(self, part) is None:
            return Provenance.ABSENT
        if part in ("prompt", "cache_write"):
            return Provenance.DERIVED
        return self.provenance.get(part, Provenance.OBSERVED)


@dataclass(frozen=True, slots=True)
class Request:
    """One answer of a model, its repeated log lines merged (``n_lines``). ``index`` counts within the thread."""

    request_id: str
    thread_id: str
    turn: int
    index: int
    tokens: Tokens
    model: str | None = None
    status: RequestStatus = RequestStatus.OK
    stop_reason: str | None = None
    n_lines: int = 1
    t_first: int | None = None
    t_last: int | None = None
    in_conversation: bool = True


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call, paired with its result by id. Sizes are bytes; digests are keyed, so they compare in one file.

    An orphan has no request and no arguments. ``t_end`` minus ``t_start`` is an upper bound of the tool's time where
    both are the write times of log lines.
    """

    call_id: str
    request_id: str | None
    thread_id: str
    index: int
    name: str | None
    op: ToolOp
    outcome: Outcome
    arg_bytes: int | None = None
    arg_digest: str | None = None
    result_bytes: int | None = None
    result_digest: str | None = None
    t_start: int | None = None
    t_end: int | None = None
    in_conversation: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """Something besides requests and calls. ``pre_tokens`` and ``post_tokens`` are prompts around a compaction."""

    kind: EventKind
    thread_id: str
    t: int | None = None
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    summary_bytes: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A content block, in the order in which the model was sent it.

    ``head`` is a pseudonymised first line of at most 120 bytes. ``request_id`` is the request that produced an
    assistant block, else None. ``step`` is the position, among the thread's requests that are part of the
    conversation, of the first one whose prompt carried the block; None where none did.
    """

    thread_id: str
    turn: int
    role: str
    bytes: int
    digest: str
    head: str
    request_id: str | None = None
    step: int | None = None
    in_conversation: bool = True


TraceEvent = Recording | Thread | Turn | Request | ToolCall | Event | Node
"""What a format reader yields, besides issues."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole recorded run of an agent, by another name because a run is here one run of the harness."""

    recording: Recording
    threads: tuple[Thread, ...] = ()
    turns: tuple[Turn, ...] = ()
    requests: tuple[Request, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    events: tuple[Event, ...] = ()
    nodes: tuple[Node, ...] = ()
    issues: tuple[Issue, ...] = ()
