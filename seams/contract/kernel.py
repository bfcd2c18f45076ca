"""The seams of the syscall floor: one Protocol each, by which a runtime's own kernel is measured.

What goes through them is in ``seams.contract.syscall``. Any method of a seam may also be a coroutine function. Each
``offer`` of a runtime returns a fresh object that shares no state with an earlier one, so that one replay never warms
the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from seams.contract.syscall import Counters, FastPathStats, Handle, Result, ToolCall, ToolEngine, Verdict

__all__ = [
    "Catch",
    "Decide",
    "FastPath",
    "Hook",
    "Ladder",
    "Preflight",
    "Reap",
    "Repair",
    "Submit",
    "Worlds",
]


class Decide(Protocol):
    """``syscall/decide``: the pure decision, with no fast path, engine or counter touched."""

    def decide(self, call: ToolCall) -> Verdict:
        """The folded verdict of the chain."""
        ...


class Hook(Decide, Protocol):
    """``syscall/hook``: the decision that a process started for each call must repeat.

    An optional attribute ``command``, a sequence of words, names the process to start in place of the reference one.
    """


class Repair(Protocol):
    """``syscall/grammar``: the rung that puts misrouted arguments right."""

    def adjudicate(self, call: ToolCall) -> Verdict:
        """TRANSFORM with the repaired arguments, DEFER for a call that needs none, DENY where none is possible."""
        ...


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


class Catch(NamedTuple):
    """One refusal: ``call_hash`` is the tool's name, a colon and the SHA-256 of the arguments as they were written.

    ``rung_passed`` is -1 where not even check 0 was passed. ``verdict`` and ``reason`` are names.
    """

    call_hash: str
    rung_passed: int
    rung_failed: int
    verdict: str
    reason: str


class Ladder(Protocol):
    """The rung of cheap checks before dispatch, and its books, in which calls that are only decided are not."""

    name: str
    """What it signs its refusals with."""
    total: int
    """Submitted calls that it was asked about."""
    caught: int
    """Those of them that it refused."""
    evicted: int
    """Rows of ``catches`` that had to go."""

    @property
    def catches(self) -> Sequence[Catch]:
        """The latest refusals, oldest first; with those that had to go they are ``caught``."""
        ...


class Preflight(Submit, Protocol):
    """``syscall/preflight``: a kernel that shows its ladder."""

    @property
    def ladder(self) -> Ladder:
        """The ladder of its chain."""
        ...


class FastPath(Protocol):
    """``syscall/vdso``: answers without policy or engine, through the kernels that are mounted on it."""

    def stats(self) -> FastPathStats:
        """A snapshot, over all its kernels."""
        ...

    def mount(self, world: str, lookup: bool) -> Submit:
        """A fresh kernel in ``world`` over this fast path; with ``lookup`` off it still fills it.

        What was read in one world is served in no other.
        """
        ...


@runtime_checkable
class Worlds(Protocol):
    """What an offered object may have besides: the same seam in another world (``default``, ``airline``)."""

    def in_world(self, world: str) -> Any:
        """A fresh object of the same kind in ``world``."""
        ...
