"""The words of the neutral trace: closed enumerations that every reader of recorded runs speaks in."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "EventKind",
    "IssueCode",
    "Outcome",
    "Provenance",
    "RequestStatus",
    "Severity",
    "ThreadKind",
    "TimeBasis",
    "ToolOp",
    "UsageScope",
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


class UsageScope(Enum):
    """What a row of usage counts: one answer of a model, or all of a thread or a run."""

    REQUEST = "request"
    THREAD = "thread"
    RUN = "run"


class TimeBasis(Enum):
    """How a duration came to be: the client's own clock, or the write times of two log lines, an upper bound."""

    MEASURED = "measured"
    LINE_TIME = "line_time"


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
    W_COPIED_HISTORY = "W_COPIED_HISTORY"
    W_DOUBLED_USAGE = "W_DOUBLED_USAGE"
    W_USAGE_MEANING = "W_USAGE_MEANING"
    W_UNSETTLED = "W_UNSETTLED"
    W_UNMATCHED_VERDICT = "W_UNMATCHED_VERDICT"
    E_UNREADABLE = "E_UNREADABLE"
    E_UNKNOWN_FORMAT = "E_UNKNOWN_FORMAT"
    E_ARCHIVE = "E_ARCHIVE"
    E_LIMIT = "E_LIMIT"
