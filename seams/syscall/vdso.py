"""The local fast path: answers a call without policy or engine, in three tiers.

Asked in the order pure function (1), static table (3), cache of earlier reads (2). Tiers 1 and 2 serve only calls that
are hinted read-only and idempotent and are not write-shaped; the static table serves always, and before any policy. A
completed write moves the world on, which strands every cached read. It keeps no clock: an entry has no age. Two calls
are the same read where their arguments are the same canonical JSON; a number is compared as it is written, so 1 and 1.0
are two reads, which can cost a miss and never serves a wrong answer.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import lru_cache

from seams.contract import Engine
from seams.contract.syscall import FastPathStats, Result, Submit, ToolCall
from seams.contract.verdict import Status
from seams.syscall.canonical import canonical

__all__ = ["CAP", "Miss", "Vdso", "calculate", "destructive", "offer", "write_shaped"]

CAP = 1024
"""Entries of the read cache where nothing else is said."""

_NEEDLES = ("write", "edit", "delete", "patch", "exec", "run", "book", "update", "cancel", "send")


class Miss(Enum):
    """Why a lookup found nothing."""

    DESTRUCTIVE = "DESTRUCTIVE"
    MISSING_HINTS = "MISSING_HINTS"
    NOT_CACHED = "NOT_CACHED"


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


def calculate(args: bytes) -> bytes | None:
    """``{"sum": a + b}`` as JSON with the shortest decimal that reads back the same; None without two numbers."""
    try:
        given = json.loads(args)
        a, b = given["a"], given["b"]
        if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in (a, b)):
            return None
        total = float(a) + float(b)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
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

    ``cap`` entries are kept, the least recently used goes first; ``shareable`` are tools whose answers do not depend
    on the principal that ``meta['principal']`` may name.
    """

    __slots__ = ("_cap", "_entries", "_pure", "_shareable", "_static", "_stats", "version")

    def __init__(
        self,
        cap: int = CAP,
        *,
        pure: Mapping[str, Callable[[bytes], bytes | None]] = _PURE,
        static: Mapping[str, bytes] = _STATIC,
        shareable: frozenset[str] = frozenset(),
    ) -> None:
        self._cap = cap if cap > 0 else CAP
        self._pure = pure
        self._static = static
        self._shareable = shareable
        self._entries: OrderedDict[tuple[str, str, int], bytes] = OrderedDict()
        self._stats = FastPathStats()
        self.version = 0

    def lookup(self, call: ToolCall) -> Result | None:
        """A fresh result whose meta says ``served_by`` and ``tier``, or None. A hit reports no tokens."""
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
        key = self._key(call)
        held = self._entries.get(key)
        if held is None:
            self._miss(Miss.NOT_CACHED)
            return None
        self._entries.move_to_end(key)
        return self._hit(held, "2")

    def observe(self, call: ToolCall, result: Result) -> None:
        """Learn from a completed call: a write moves the world, a hinted read fills the cache.

        The payload is kept as it was admitted, so a quarantined read is cached as its stub.
        """
        if result.status != Status.OK or result.meta.get("served_by") == "vdso":
            return
        if destructive(call):
            self.version += 1
            return
        if not _hinted(call):
            return
        key = self._key(call)
        if key in self._entries:
            return
        self._entries[key] = result.payload
        self._stats.fills += 1
        if len(self._entries) > self._cap:
            self._entries.popitem(last=False)
            self._stats.evictions += 1

    def bump(self) -> None:
        """A new world, and every entry dropped."""
        self.version += 1
        self._entries.clear()

    def stats(self) -> FastPathStats:
        """A snapshot."""
        return replace(self._stats, misses=dict(self._stats.misses))

    def mount(self, world: str, lookup: bool) -> Submit:
        """A fresh kernel in ``world`` over this fast path; with ``lookup`` off it still fills it."""
        from seams.syscall.kernel import fresh_kernel  # here, because the kernel is built on this module

        return fresh_kernel(world, fast_path=self, lookup=lookup)

    def _key(self, call: ToolCall) -> tuple[str, str, int]:
        args = call.arguments()
        text = call.args if args is None else canonical(args)
        principal = call.meta.get("principal", "")
        if principal and call.tool not in self._shareable:
            text = principal.encode() + b"\0" + text
        return call.tool, hashlib.sha256(text).hexdigest()[:24], self.version

    def _hit(self, payload: bytes, tier: str) -> Result:
        self._stats.hits += 1
        return Result(Status.OK, payload, {"served_by": "vdso", "tier": tier})

    def _miss(self, why: Miss) -> None:
        misses = self._stats.misses
        misses[why.value] = misses.get(why.value, 0) + 1


def offer(engine: Engine) -> Vdso | None:
    """A fresh fast path whose kernels run on a mock engine; no other engine is answered."""
    return Vdso() if engine == "mock" else None
