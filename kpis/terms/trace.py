"""The neutral trace: what any recorded agent run says, in one shape, whatever tool wrote it.

Token parts are disjoint, every part carries its provenance, and what a recording does not say is ``None``, never 0.
Identity comes from ids, order only breaks ties. These types refuse to hold text: a content block is a size, a keyed
digest and a pseudonymised first line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kpis.terms.trace_words import (
    EventKind,
    IssueCode,
    Outcome,
    Provenance,
    RequestStatus,
    Severity,
    ThreadKind,
    TimeBasis,
    ToolOp,
    UsageScope,
    UserKind,
)

__all__ = [
    "Event",
    "EventKind",
    "Issue",
    "IssueCode",
    "ModelUsage",
    "Node",
    "Outcome",
    "Place",
    "Provenance",
    "Recording",
    "Request",
    "RequestStatus",
    "RunFacts",
    "Severity",
    "Thread",
    "ThreadKind",
    "TimeBasis",
    "Tokens",
    "ToolCall",
    "ToolOp",
    "Trace",
    "TraceEvent",
    "Turn",
    "UsageScope",
    "UserKind",
]


@dataclass(frozen=True, slots=True)
class Issue:
    """One finding of a reader: a complete sentence for people, a code for machines. ``line`` counts from 1."""

    severity: Severity
    code: IssueCode
    message: str
    line: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the work was done from a line of a file on: the project and its branch, None where that is not said."""

    line: int
    project: str | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """The file itself: what wrote it, and how much of it could be read. Times are Unix milliseconds.

    ``project`` and ``branch`` are the first that it says. ``places`` say where they changed, in order of their lines,
    and are empty where a file says them once.
    """

    source_format: str
    source_version: str | None = None
    session_id: str | None = None
    lines: int = 0
    bad_lines: int = 0
    unknown_kinds: Mapping[str, int] = field(default_factory=dict)
    t_start: int | None = None
    t_end: int | None = None
    file: str | None = None
    bytes: int = 0
    project: str | None = None
    branch: str | None = None
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation with a model: the main one, or a sub-agent's. ``spawned_by`` is the call that started it.

    ``copied_prefix`` counts the requests at its beginning that are another thread's, shown again.
    """

    thread_id: str
    kind: ThreadKind
    parent_thread_id: str | None = None
    spawned_by: str | None = None
    copied_prefix: int = 0
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One user input until the end of the assistant's work on it. ``index`` counts from 0 within the thread."""

    thread_id: str
    index: int
    user_kind: UserKind
    t_start: int | None = None
    t_end: int | None = None
    in_conversation: bool = True


# Not frozen, as Request and ToolCall are not: freezing triples what one costs to make, and a large tree holds millions.
# They are values all the same; nobody changes one that was handed over.
@dataclass(slots=True)
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


@dataclass(slots=True)
class Request:
    """One answer of a model, its repeated log lines merged (``n_lines``). ``index`` counts within the thread.

    ``scope`` is REQUEST but where a recording counts whole threads or runs only: then one row stands for all of them,
    and ``index`` and times mean nothing. ``visible_chars`` are characters of the answer that the recording shows.
    ``cost_usd`` is what the recording reports. ``duration_ms`` is the client's own clock; ``attempts`` counts tries of
    the client. ``local_cache``: served by a cache of the client, so nothing was paid. ``copied``: another thread or
    file of the run counts it already. ``file`` and ``line`` say where it first stands.
    """

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
    provider: str | None = None
    scope: UsageScope = UsageScope.REQUEST
    visible_chars: int | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    attempts: int | None = None
    context_window: int | None = None
    local_cache: bool = False
    copied: bool = False
    file: str | None = None
    line: int | None = None


@dataclass(slots=True)
class ToolCall:
    """One tool call, paired with its result by id. Sizes are bytes; digests are keyed, so they compare in one file.

    An orphan has no request and no arguments. ``t_end`` minus ``t_start`` is an upper bound of the tool's time where
    both are the write times of log lines (``time_basis``); ``duration_ms`` is set where a clock of the client is.
    ``target`` names the file, address or pattern that it was about: it is kept in memory, compared, and printed only
    where a user asks for names. ``mutates`` and ``polling`` are None where the tool is unknown. ``environment_before``
    and ``environment_after`` are versions of what it reads, where the recording says them. ``spawned_thread`` is the
    sub-agent that it started.
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
    turn: int | None = None
    time_basis: TimeBasis = TimeBasis.LINE_TIME
    duration_ms: int | None = None
    target: str | None = None
    exit_code: int | None = None
    error_class: str | None = None
    mutates: bool | None = None
    polling: bool | None = None
    truncated: bool | None = None
    environment_before: str | None = None
    environment_after: str | None = None
    spawned_thread: str | None = None
    copied: bool = False
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something besides requests and calls. ``pre_tokens`` and ``post_tokens`` are prompts around a compaction.

    ``implicit``: no line says it, it is inferred from a prompt that fell by more than half. ``duration_ms`` is a
    client's clock (a hook, an approval, a turn); ``detail`` a word of a closed list of the reader's, never text.
    """

    kind: EventKind
    thread_id: str
    t: int | None = None
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    summary_bytes: int | None = None
    line: int | None = None
    file: str | None = None
    implicit: bool = False
    duration_ms: int | None = None
    detail: str | None = None


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


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What a recording reports of one model over the whole run. ``tokens`` are disjoint."""

    model: str
    tokens: Tokens
    requests: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a recording says of the run as a whole: reported, never added to what its requests say.

    ``by_model`` is the client's or provider's own total, side models included. ``outcome`` is how the run ended, in the
    recording's word; ``success`` and ``score`` what an evaluator said. Durations are milliseconds of the client.
    """

    by_model: tuple[ModelUsage, ...] = ()
    cost_usd: float | None = None
    duration_ms: int | None = None
    api_ms: int | None = None
    turns: int | None = None
    requests: int | None = None
    outcome: str | None = None
    success: bool | None = None
    score: float | None = None
    denied: int | None = None
    case_id: str | None = None
    arm: str | None = None
    replicate: int | None = None
    file: str | None = None


TraceEvent = Recording | Thread | Turn | Request | ToolCall | Event | Node | RunFacts
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
