"""The local fast path: answers a call without policy or engine, in three tiers.

Asked in the order pure function (1), static table (3), cache of earlier reads (2). Tiers 1 and 2 serve only calls that
are hinted read-only and idempotent and are not write-shaped; the static table serves always, and before any policy.

A call that ran strands cached reads unless it is hinted read-only and does not sound like a write: all of them, or
those in its reach where the invalidation is scoped. No list knows every write by its name, and one that failed may have
been done. So a hit equals a fresh call where hints are true, every write comes by here and, where the invalidation is
scoped, a write changes nothing but what it names. It keeps no clock: an entry has no age. Two calls are the same read
where their arguments are the same canonical JSON; a whole number and a double are two numbers, so 1 and 1.0 are two
reads, which can cost a miss and never serves a wrong answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import lru_cache

from seams.contract import Engine
from seams.contract.arguments import read_arguments
from seams.contract.kernel import Submit
from seams.contract.store import ContentStore
from seams.contract.syscall import FastPathStats, Result, ToolCall
from seams.contract.verdict import Status
from seams.syscall.epochs import Epochs, Invalidation
from seams.syscall.reads import Miss, Reads, Scope
from seams.syscall.resolver import MemoryStore

__all__ = ["CAP", "Miss", "Vdso", "calculate", "destructive", "offer", "write_shaped"]

CAP = 1024
"""Entries of the read cache where nothing else is said."""

_NEEDLES = ("write", "edit", "delete", "patch", "exec", "run", "book", "update", "cancel", "send")


@lru_cache(maxsize=4096)
def write_shaped(tool: str) -> bool:
    """Whether the name sounds like a write. Over-approximates on purpose: ``rundown`` counts."""
    lower = tool.lower()
    return any(needle in lower for needle in _NEEDLES)


def destructive(call: ToolCall) -> bool:
    """Whether the call says that it destroys, or sounds like a write."""
    return call.meta.get("destructive") == "true" or write_shaped(call.tool)


def _hinted(call: ToolCall) -> bool:
    return call.meta.get("readOnlyHint") == "true" and call.meta.get("idempotentHint") == "true"


def _reads_only(call: ToolCall) -> bool:
    return call.meta.get("readOnlyHint") == "true" and not destructive(call)


def calculate(args: bytes) -> bytes | None:
    """``{"sum": a + b}`` as JSON with the shortest decimal that reads back the same; None without two numbers."""
    given = read_arguments(args) or {}
    a, b = given.get("a"), given.get("b")
    if not isinstance(a, int | float) or not isinstance(b, int | float) or isinstance(a, bool) or isinstance(b, bool):
        return None
    try:
        total = float(a) + float(b)
    except OverflowError:
        return None
    if not math.isfinite(total):
        return None
    # Whole doubles print without an exponent below 1e21, the bound that JSON encoders agree on.
    text = str(int(total)) if total.is_integer() and abs(total) < 1e21 else repr(total)
    return b'{"sum":%s}' % text.encode()


_PURE: Mapping[str, Callable[[bytes], bytes | None]] = {"calculate": calculate}
_STATIC: Mapping[str, bytes] = {
    "list_all_airports": b'{"airports":["SFO","JFK","LAX","ORD","SEA","BOS","ATL","DFW"]}',
}


class Vdso:
    """The fast path of the reference runtime.

    ``cap`` reads are kept, the least recently used goes first; ``shareable`` are tools whose answers do not depend on
    the principal that ``meta['principal']`` may name. ``invalidation`` says what a write strands. The answers lie in
    ``store``, pinned while they are kept; without one the fast path has a store of its own.
    """

    __slots__ = ("_pure", "_reads", "_shareable", "_static", "_stats", "_world")

    def __init__(
        self,
        cap: int = CAP,
        *,
        pure: Mapping[str, Callable[[bytes], bytes | None]] = _PURE,
        static: Mapping[str, bytes] = _STATIC,
        shareable: frozenset[str] = frozenset(),
        invalidation: Invalidation = Invalidation.GLOBAL,
        store: ContentStore | None = None,
    ) -> None:
        self._pure = pure
        self._static = static
        self._shareable = shareable
        held = MemoryStore() if store is None else store
        self._reads = Reads(cap if cap > 0 else CAP, Epochs(invalidation), held)
        self._stats = FastPathStats()
        self._world = ""

    def for_world(self, world: str) -> Vdso:
        """This fast path as the kernels of ``world`` use it: the same tables and books, and cached reads of that world.

        What is written in one world strands the reads of every other as well: too much, never too little.
        """
        here = copy(self)
        here._world = world
        return here

    @property
    def version(self) -> int:
        """How often the whole world was moved on."""
        return self._reads.epochs.world

    def lookup(self, call: ToolCall) -> Result | None:
        """A fresh result whose meta says ``served_by`` and ``tier``, or None. A hit reports no tokens.

        A stub that is served again says in ``quarantine_id`` what it stands for.
        """
        stats = self._stats
        stats.lookups += 1
        tool = call.tool
        shaped = destructive(call)
        servable = not shaped and _hinted(call)
        if servable:
            pure = self._pure.get(tool)
            body = pure(call.args) if pure is not None else None
            if body is not None:
                return self._hit(body, "1")
        static = self._static.get(tool)
        if static is not None:
            return self._hit(static, "3")
        if not servable:
            self._miss(Miss.DESTRUCTIVE if shaped else Miss.MISSING_HINTS)
            return None
        found = self._reads.find(call, self._scope(call))
        if isinstance(found, Miss):
            self._miss(found)
            return None
        hit = self._hit(found.body, "2")
        if found.sealed is not None:
            hit.meta["quarantine_id"] = found.sealed
        return hit

    def observe(self, call: ToolCall, result: Result) -> None:
        """Learn from a call that ran: what may be a write strands what it reaches, a hinted read fills the cache.

        The payload is kept as it was admitted, so a quarantined read is cached as its stub, with the id of what it
        stands for. A write counts however it ended.
        """
        if not _reads_only(call):
            self._reads.wrote(call)
        elif result.status == Status.OK and _hinted(call):
            self._reads.keep(call, self._scope(call), result)

    def bump(self) -> None:
        """A new world, and every entry dropped."""
        self._reads.bump()

    def revoke(self, witness: str) -> None:
        """Serve no read any more that ``witness`` vouches for."""
        self._reads.revoke(witness)

    def stats(self) -> FastPathStats:
        """A snapshot."""
        reads, stats = self._reads, self._stats
        return replace(stats, fills=reads.fills, evictions=reads.evictions, misses=dict(stats.misses))

    def mount(self, world: str, lookup: bool) -> Submit:
        """A fresh kernel in ``world`` over this fast path; with ``lookup`` off it still fills it."""
        from seams.syscall.kernel import fresh_kernel  # here, because the kernel is built on this module

        return fresh_kernel(world, fast_path=self, lookup=lookup)

    def _scope(self, call: ToolCall) -> Scope:
        """Where and in whose name the answer is held; the empty name is everybody's."""
        return self._world, "" if call.tool in self._shareable else call.meta.get("principal", "")

    def _hit(self, payload: bytes, tier: str) -> Result:
        self._stats.hits += 1
        return Result(Status.OK, payload, {"served_by": "vdso", "tier": tier})

    def _miss(self, why: Miss) -> None:
        misses = self._stats.misses
        misses[why.value] = misses.get(why.value, 0) + 1


def offer(engine: Engine) -> Vdso | None:
    """A fresh fast path whose kernels run on a mock engine; no other engine is answered."""
    return Vdso() if engine == "mock" else None
