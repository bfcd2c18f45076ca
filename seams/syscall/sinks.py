"""The sink gate: a trace that has seen what cannot be believed may not send, and may not destroy.

What a call could do is read off its name and its arguments, by lists that rather name too much: a call may be of
several classes, and one that is gated is enough. It refuses and never allows; while everything that a trace has seen is
trusted it has no opinion, and no argument is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from seams.contract.arguments import plain_name
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Taint, VerdictKind
from seams.syscall.flow import FlowLedger

__all__ = ["EXEMPT", "GATED", "Sink", "SinkGate", "addressed", "named_sinks"]


class Sink(Enum):
    """What a call could do that cannot be taken back."""

    EXEC = "exec"
    DESTRUCTIVE = "destructive"
    EGRESS = "egress"


GATED = frozenset({Sink.EGRESS, Sink.DESTRUCTIVE})
"""Gated where nothing else is said. Running a command is not: an agent does it all the time, and is held elsewhere."""

EXEMPT = frozenset({"transfer_to_human", "transfer_to_human_agents"})
"""Handing over to a person is no egress, whatever its arguments say."""

_NEEDLES: tuple[tuple[Sink, tuple[str, ...]], ...] = (
    (Sink.EXEC, ("exec", "shell", "bash", "eval", "run_command", "spawn", "system", "subprocess")),
    (Sink.DESTRUCTIVE, ("delete", "remove", "rm_", "drop", "truncate", "destroy", "purge", "wipe")),
    (
        Sink.EGRESS,
        ("send", "email", "http", "post", "fetch", "upload", "webhook", "publish", "exfil", "tweet", "slack"),
    ),
    (Sink.EGRESS, ("notify", "forward", "sms", "request", "curl", "wget")),
)
_DESTINATIONS = frozenset(
    {"url", "endpoint", "to", "recipient", "dest", "destination", "address", "webhook", "callback"}
)
_PATHS = frozenset({"path", "file_path", "filepath", "file", "filename", "dir", "directory"})
"""Arguments that hold file names: ``notes.md`` there is no host, though there is such a domain."""

_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
"""The full stops of other scripts, which resolvers read as dots."""

_MARK = re.compile(r"[.:/@]|localhost", re.IGNORECASE)
"""What every address has in it; most values have none of it."""

# In each of these a repetition ends at a character that it cannot hold itself: no text is read twice.
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//\S+", re.IGNORECASE)
_MAILBOX = re.compile(r"[^\s@]+@[^\s@]+")
_HOST = re.compile(
    r"(?:localhost|\[[0-9a-f:.]+\]|\d{1,3}(?:\.\d{1,3}){3}|(?:[\w-]+\.)+[^\W\d_][\w-]*\.?)(?::\d+)?",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[\s,;<>\"'()]+")

_PLANS = 4096
"""Names kept with their classes; a model that invents tool names must not grow the table without bound."""

_DEFER = Verdict(VerdictKind.DEFER, ReasonCode.NONE, "sink-gate")
_REFUSE = Verdict(VerdictKind.DENY, ReasonCode.TRUST_VIOLATION, "sink-gate")


def named_sinks(tool: str) -> frozenset[Sink]:
    """The classes that the name of a tool speaks of, in any case and anywhere in it: ``dropdown`` counts as a drop."""
    lower = tool.lower()
    return frozenset(
        sink
        for sink, needles in _NEEDLES
        if any(needle in lower for needle in needles) and not (sink is Sink.EGRESS and lower in EXEMPT)
    )


def addressed(args: Mapping[str, Any]) -> bool:
    """Whether an argument, at any depth, is an address outside.

    A whole value that is a URL, a host or a mailbox is one under any name, but for file names, of which only a URL or
    a mailbox is. Under the name of a destination any part of the value will do, and a path behind a host.
    """
    waiting: list[tuple[str, Any]] = list(args.items())
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((key, each) for each in value)
        elif isinstance(value, str):
            text = value if value.isascii() else value.translate(_DOTS)
            if _MARK.search(text) is not None and _outside(plain_name(key).lower(), text):
                return True
    return False


def _outside(key: str, value: str) -> bool:
    if key in _DESTINATIONS:
        return any(_bare(part) or _HOST.fullmatch(part.partition("/")[0]) for part in _SPLIT.split(value))
    whole = value.strip()
    return _bare(whole) or (key not in _PATHS and _HOST.fullmatch(whole) is not None)


def _bare(text: str) -> bool:
    return _URL.fullmatch(text) is not None or _MAILBOX.fullmatch(text) is not None


class SinkGate:
    """The rung of rank 30. ``gated`` are the classes that a trace with a mark above trusted may not use."""

    __slots__ = ("_named", "gated", "ledger")

    name = "sink-gate"
    rank = 30
    tools: frozenset[str] | None = None

    def __init__(self, ledger: FlowLedger, gated: frozenset[Sink] = GATED) -> None:
        self.ledger = ledger
        self.gated = gated
        self._named: dict[str, bool] = {}

    def adjudicate(self, call: ToolCall) -> Verdict:
        """DENY (TRUST_VIOLATION) where the trace is tainted and the call is of a gated class, else DEFER."""
        if self.ledger.mark(call.trace_id) is Taint.TRUSTED:
            return _DEFER
        tool = call.tool
        refused = self._named.get(tool)
        if refused is None:
            refused = self._name(tool)
        if refused:
            return _REFUSE
        if Sink.EGRESS not in self.gated or tool.lower() in EXEMPT:
            return _DEFER
        args = call.arguments()
        # What cannot be read may go anywhere.
        return _REFUSE if args is None or addressed(args) else _DEFER

    def _name(self, tool: str) -> bool:
        refused = not self.gated.isdisjoint(named_sinks(tool))
        if len(self._named) < _PLANS:
            self._named[tool] = refused
        return refused
