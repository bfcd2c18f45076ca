"""What kind of action a tool call is, from what it does; and which calls name something that can be read again.

A command that runs tests already has the operation ``test``; any other command is ``other``, because whether it builds
is not known from its name.
"""

from __future__ import annotations

from enum import Enum

from kpis.terms.trace import Outcome, ToolCall, ToolOp

__all__ = ["Family", "family_of", "fetches", "is_reading"]


class Family(Enum):
    """The families of actions."""

    READ = "read"
    SEARCH = "search"
    TEST = "test"
    EDIT = "edit"
    RECALL = "recall"
    DELEGATE = "delegate"
    OTHER = "other"


_FAMILIES = {
    ToolOp.READ: Family.READ,
    ToolOp.LIST: Family.READ,
    ToolOp.SEARCH: Family.SEARCH,
    ToolOp.WEB: Family.SEARCH,
    ToolOp.TEST: Family.TEST,
    ToolOp.WRITE: Family.EDIT,
    ToolOp.RECALL: Family.RECALL,
    ToolOp.SPAWN: Family.DELEGATE,
    ToolOp.EXEC: Family.OTHER,
    ToolOp.PLAN: Family.OTHER,
    ToolOp.OTHER: Family.OTHER,
}


def family_of(op: ToolOp) -> Family:
    """The family of an operation."""
    return _FAMILIES[op]


def is_reading(call: ToolCall) -> bool:
    """Whether the call brought a named thing into the context: a file read, a page fetched, a memory recalled."""
    return call.target is not None and fetches(call)


def fetches(call: ToolCall) -> bool:
    """Whether the call brought something into the context that has a name, recorded or not."""
    return call.outcome is Outcome.OK and call.op in (ToolOp.READ, ToolOp.RECALL, ToolOp.WEB) and not call.polling
