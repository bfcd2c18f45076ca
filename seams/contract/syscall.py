"""The syscall floor's words: what a tool call is, what may be said about it, and the parts that say it.

Plain data with slots, so that an object costs what a tuple costs, and the Protocols of what a kernel is put together
from. The seams themselves are in ``seams.contract.kernel``, the closed vocabularies in ``seams.contract.verdict``; how
arguments are read is in ``seams.contract.arguments``. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from seams.contract.arguments import read_arguments
from seams.contract.verdict import ReasonCode, Status, Witness

__all__ = [
    "ToolCall",
    "Verdict",
    "Result",
    "Handle",
    "Counters",
    "FastPathStats",
    "ToolEngine",
    "CountingEngine",
    "Rung",
    "Admitter",
    "Resolver",
]

_EMPTY: Mapping[str, str] = MappingProxyType({})


def _no_meta() -> Mapping[str, str]:
    return _EMPTY


@dataclass(slots=True)
class ToolCall:
    """One call of a tool: its arguments as raw bytes, and hints about it in ``meta``.

    Submit stamps ``seq`` where it is 0 and replaces ``args`` on a Transform; a call that is only decided keeps
    ``seq`` 0, which is how a rung tells it apart. One object is submitted once, and what its owner does to it after
    that reaches nobody: what was judged is what runs.
    """

    tool: str
    args: bytes = b"{}"
    meta: Mapping[str, str] = field(default_factory=_no_meta)
    seq: int = 0
    trace_id: str = ""
    _read: tuple[bytes, dict[str, Any] | None] | None = field(default=None, init=False, repr=False, compare=False)

    def arguments(self) -> dict[str, Any] | None:
        """The arguments as :func:`seams.contract.arguments.read_arguments` has them, to be read and never changed.

        Decoded once, however many rungs ask.
        """
        read = self._read
        if read is None or read[0] is not self.args:
            read = self._read = (self.args, read_arguments(self.args))
        return read[1]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rung, a gate or the kernel says: ``kind`` is a ``VerdictKind`` or a registered number from 1024.

    ``new_args`` are the bytes that a Transform puts in place; ``meta`` may carry ``claim``, ``retry_after``,
    ``retry_after_ms``, ``witness``, ``fold``, and the rungs that a preflight passed and failed.
    """

    kind: int
    reason: int = ReasonCode.NONE
    by: str = ""
    new_args: bytes | None = None
    meta: Mapping[str, str] = field(default_factory=_no_meta)


@dataclass(slots=True)
class Result:
    """What came back of a call. Gates rewrite it in place, so an engine hands out a fresh one each time."""

    status: Status
    payload: bytes
    meta: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Handle:
    """The ticket of a submitted call, good for one reap."""

    seq: int


@dataclass(slots=True)
class Counters:
    """A kernel's tally, in calls.

    Of a synchronous replay ``submits = vdso_hits + denies + engine_calls``, and ``engine_calls`` is what became of
    them: ``admitted + quarantines + result_denies + engine_errors``.
    """

    submits: int = 0
    vdso_hits: int = 0
    engine_calls: int = 0
    denies: int = 0
    transforms: int = 0
    quarantines: int = 0
    result_denies: int = 0
    admitted: int = 0
    engine_errors: int = 0


@dataclass(slots=True)
class FastPathStats:
    """What a fast path did since it was made; ``misses`` counts by reason."""

    lookups: int = 0
    hits: int = 0
    fills: int = 0
    evictions: int = 0
    misses: dict[str, int] = field(default_factory=dict)

    @property
    def hit_rate(self) -> float | None:
        """Hits over lookups; None before the first lookup."""
        return self.hits / self.lookups if self.lookups else None


class ToolEngine(Protocol):
    """What runs a tool; it blocks until the result is there."""

    def complete(self, call: ToolCall) -> Result:
        """The result, a fresh object. Whatever is raised reaches the caller of reap."""
        ...


@runtime_checkable
class CountingEngine(Protocol):
    """What an engine may have besides: how many calls it completed, against which a kernel's own count is held."""

    completed: int


class Rung(Protocol):
    """One adjudicator of the chain."""

    name: str
    rank: int
    """Its place in the chain, lowest first; it decides ties and work done, never which verdict is stricter."""
    tools: frozenset[str] | None
    """The only tools it is asked about; None: every tool."""

    def adjudicate(self, call: ToolCall) -> Verdict:
        """Its verdict, DEFER where it has no opinion."""
        ...


class Admitter(Protocol):
    """One gate between a result and the context."""

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """Its verdict; a quarantine has already replaced the payload when this returns."""
        ...


class Resolver(Protocol):
    """Someone who can corroborate a claim."""

    def resolve(self, call: ToolCall, claim: str) -> Witness:
        """What it knows of ``claim``."""
        ...
