"""The syscall floor's words and seams: what a tool call is, what may be said about it, and who says it.

Plain data with slots, so that an object costs what a tuple costs; one Protocol a seam. Nothing here decides anything:
the closed vocabularies are in ``seams.contract.verdict``, the fold, the rungs and the kernel in ``seams.syscall``.

Any method of a seam may also be a coroutine function. Each ``offer`` of a runtime returns a fresh object that shares
no state with an earlier one, so that one replay never warms the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from json import JSONDecoder
from types import MappingProxyType
from typing import Any, NoReturn, Protocol, runtime_checkable

from seams.contract.verdict import ReasonCode, Status, Witness

__all__ = [
    "ToolCall",
    "Verdict",
    "Result",
    "Handle",
    "Counters",
    "FastPathStats",
    "NESTING",
    "ToolEngine",
    "Rung",
    "Admitter",
    "Resolver",
    "Decide",
    "Hook",
    "Submit",
    "Reap",
    "Ladder",
    "Preflight",
    "FastPath",
    "Worlds",
]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODE = JSONDecoder(parse_constant=_no_constant).decode

NESTING = 128
"""Levels of lists and objects in arguments. What is deeper is no tool's argument, and a rung that walks it would end
where the interpreter's stack does, which depends on who called."""


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(NESTING):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


_EMPTY: Mapping[str, str] = MappingProxyType({})


def _no_meta() -> Mapping[str, str]:
    return _EMPTY


@dataclass(slots=True)
class ToolCall:
    """One call of a tool: its arguments as raw bytes, and hints about it in ``meta``.

    Submit stamps ``seq`` where it is 0 and replaces ``args`` on a Transform; a call that is only decided keeps
    ``seq`` 0, which is how a rung tells it apart. One object is submitted once.
    """

    tool: str
    args: bytes = b"{}"
    meta: Mapping[str, str] = field(default_factory=_no_meta)
    seq: int = 0
    trace_id: str = ""
    _read: tuple[bytes, dict[str, Any] | None] | None = field(default=None, init=False, repr=False, compare=False)

    def arguments(self) -> dict[str, Any] | None:
        """The arguments as a JSON object, to be read and never changed; ``{}`` where empty, None where no object.

        Decoded once, however many rungs ask. What is nested deeper than ``NESTING`` is none.
        """
        read = self._read
        if read is not None and read[0] is self.args:
            return read[1]
        value: Any
        try:
            value = _DECODE(self.args.decode()) if self.args else {}
        except (ValueError, RecursionError):
            value = None
        found: dict[str, Any] | None = value if isinstance(value, dict) else None
        # Counted first: only an object with that many brackets can be that deep.
        if found is not None and self.args.count(b"{") + self.args.count(b"[") > NESTING and _too_deep(found):
            found = None
        self._read = (self.args, found)
        return found


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


class Decide(Protocol):
    """``syscall/decide``: the pure decision, with no fast path, engine or counter touched."""

    def decide(self, call: ToolCall) -> Verdict:
        """The folded verdict of the chain."""
        ...


class Hook(Decide, Protocol):
    """``syscall/hook``: the decision that a process started for each call must repeat.

    An optional attribute ``command``, a sequence of words, names the process to start in place of the reference one.
    """


class Submit(Protocol):
    """``syscall/submit``: the call boundary."""

    def submit(self, call: ToolCall) -> tuple[Handle, Verdict]:
        """Fast path, adjudication, a handle to reap once."""
        ...

    def reap(self, handle: Handle) -> Result:
        """The admitted result; a refusal comes back as a value with ``meta['verdict'] == 'deny'``."""
        ...

    def syscall(self, call: ToolCall) -> tuple[Result, Verdict]:
        """Submit and reap; an engine's error becomes a result of status ERROR, and no other error is caught."""
        ...

    def counters(self) -> Counters:
        """A snapshot."""
        ...


class Reap(Submit, Protocol):
    """``syscall/reap``: a kernel whose fast path is not asked, so that every admitted call reaches its engine."""

    engine: ToolEngine


class Ladder(Protocol):
    """The rung of cheap checks before dispatch, and its books."""

    name: str
    """What it signs its refusals with."""
    total: int
    """Submitted calls that it was asked about."""
    caught: int
    """Those of them that it refused."""

    def catch_rate(self) -> float | None:
        """Caught over total; None before the first call."""
        ...


class Preflight(Submit, Protocol):
    """``syscall/preflight``: a kernel that shows its ladder."""

    ladder: Ladder


class FastPath(Protocol):
    """``syscall/vdso``: answers without policy or engine."""

    def lookup(self, call: ToolCall) -> Result | None:
        """The answer, or None on a miss."""
        ...

    def observe(self, call: ToolCall, result: Result) -> None:
        """Learn from a completed call: fill, or invalidate after a write."""
        ...

    def bump(self) -> None:
        """Move to a new world: nothing that was cached is served again."""
        ...

    def stats(self) -> FastPathStats:
        """A snapshot."""
        ...

    def mount(self, world: str, lookup: bool) -> Submit:
        """A fresh kernel in ``world`` over this fast path; with ``lookup`` off it still fills it."""
        ...


@runtime_checkable
class Worlds(Protocol):
    """What an offered object may have besides: the same seam in another world (``default``, ``airline``)."""

    def in_world(self, world: str) -> Any:
        """A fresh object of the same kind in ``world``."""
        ...
