"""The words of a run that is recorded for what its context held: closed enumerations of its JSON Lines encoding."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "Authority",
    "Family",
    "FoldMode",
    "Lifecycle",
    "NodeKind",
    "PriceBasis",
    "Purpose",
    "RecallKind",
    "RunOutcome",
    "StateOp",
]


class PriceBasis(Enum):
    """How the tokens of a run were counted: by its tokenizer, by a rule of thumb, or by the provider."""

    METERED = "metered"
    ESTIMATED = "estimated"
    PROVIDER = "provider"


class Purpose(Enum):
    """What a model request was for. Prefixes are compared among ``MAIN`` ones of one session only."""

    MAIN = "main"
    COMPACTION = "compaction"
    RATIONALE = "rationale"
    SUBAGENT = "subagent"
    OTHER = "other"


class NodeKind(Enum):
    """What a node of a prompt is."""

    SYSTEM = "system"
    TOOLS = "tools"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"
    CHECKPOINT = "checkpoint"
    RECALL = "recall"
    OTHER = "other"


class FoldMode(Enum):
    """How a fold came about. ``IMPLICIT`` is a guess from a prompt that shrank, and is labelled so."""

    LEAF = "leaf"
    ROOT = "root"
    EMERGENCY = "emergency"
    BASIC = "basic"
    IMPLICIT = "implicit"


class Family(Enum):
    """What an action does, whatever its tool is called."""

    READ = "read"
    SEARCH = "search"
    TEST = "test"
    EDIT = "edit"
    BUILD = "build"
    RECALL = "recall"
    DELEGATE = "delegate"
    OTHER = "other"

    @property
    def mutates(self) -> bool:
        """Whether repeating it does something again, so that a repeat is never waste by itself."""
        return self in (Family.EDIT, Family.BUILD)


class RecallKind(Enum):
    """Whether folded history was searched or brought back."""

    SEARCH = "search"
    RECALL = "recall"


class Authority(Enum):
    """What an anchor rests on."""

    NORMATIVE = "normative"
    DECISION = "decision"
    EMPIRICAL = "empirical"


class Lifecycle(Enum):
    """Whether an anchor still holds."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETIRED = "retired"


class StateOp(Enum):
    """What happened to a value of a key."""

    SET = "set"
    SUPERSEDE = "supersede"
    RETIRE = "retire"


class RunOutcome(Enum):
    """How a run ended. A transport failure is no wrong answer."""

    FINISHED = "finished"
    TRUNCATED = "truncated"
    TRANSPORT_FAILED = "transport-failed"
    ERROR = "error"
