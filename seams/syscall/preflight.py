"""The preflight rung: two cheap checks that catch a broken call before anything is dispatched.

Check 0: the arguments are a JSON object, in which no key stands twice. Check 1, for tools with a schema: what is
required is there and of its type. It repairs nothing, and an unknown type name accepts every value. What it catches it
writes down, without the arguments: calls that are only decided, as to calibrate a clock, are in no book.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seams.contract import Engine
from seams.contract.kernel import Catch
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind

if TYPE_CHECKING:
    from seams.syscall.kernel import Kernel

__all__ = ["CATCHES", "Catch", "PreflightRung", "offer"]

CATCHES = 8192
"""Catches that are kept; the oldest goes first."""

_DEFER = Verdict(VerdictKind.DEFER, ReasonCode.NONE, "preflight")
_NO_OBJECT = Verdict(
    VerdictKind.DENY, ReasonCode.MALFORMED, "preflight", meta={"rung_passed": "-1", "rung_failed": "0"}
)
_WRONG_TYPE = Verdict(
    VerdictKind.DENY, ReasonCode.MALFORMED, "preflight", meta={"rung_passed": "0", "rung_failed": "1"}
)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


class PreflightRung:
    """The rung of rank 10. ``total`` and ``caught`` count submitted calls only.

    ``catches`` holds the latest refusals, oldest first, at most ``cap``; ``evicted`` counts those that had to go.
    """

    __slots__ = ("_schemas", "catches", "caught", "evicted", "total")

    name = "preflight"
    rank = 10
    tools: frozenset[str] | None = None

    def __init__(self, schemas: Mapping[str, Mapping[str, str]], cap: int = CATCHES) -> None:
        """``schemas`` maps a tool to its required keys and their JSON types."""
        self._schemas = {tool: tuple(required.items()) for tool, required in schemas.items()}
        self.catches: deque[Catch] = deque(maxlen=max(cap, 1))
        self.total = 0
        self.caught = 0
        self.evicted = 0

    def adjudicate(self, call: ToolCall) -> Verdict:
        """DENY (MALFORMED) with the check that failed in ``meta``, else DEFER."""
        args = call.arguments()
        found: Verdict | None = None
        if args is None:
            found = _NO_OBJECT
        else:
            required = self._schemas.get(call.tool)
            if required is not None and not all(key in args and _is(args[key], kind) for key, kind in required):
                found = _WRONG_TYPE
        if call.seq != 0:
            self.total += 1
            if found is not None:
                self._note(call, found)
        return found or _DEFER

    def catch_rate(self) -> float | None:
        """Caught over total; None before the first call."""
        return self.caught / self.total if self.total else None

    def _note(self, call: ToolCall, verdict: Verdict) -> None:
        from hashlib import sha256  # here: a hook process decides only, and needs no digest

        self.caught += 1
        self.evicted += len(self.catches) == self.catches.maxlen
        digest = sha256(call.args).hexdigest()
        passed, failed = int(verdict.meta["rung_passed"]), int(verdict.meta["rung_failed"])
        kind, reason = VerdictKind(verdict.kind).name, ReasonCode(verdict.reason).name
        self.catches.append(Catch(f"{call.tool}:{digest}", passed, failed, kind, reason))


def _is(value: Any, kind: str) -> bool:
    types = _TYPES.get(kind)
    if types is None:
        return True
    # In Python a bool is an int; in JSON it is no number.
    return isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))


def offer(engine: Engine) -> Kernel | None:
    """A fresh kernel of the default world, which shows its ladder; without a local engine there is none."""
    from seams.syscall.kernel import fresh_kernel  # here, because the kernel is composed of this module

    return fresh_kernel("default", engine) if engine in ("mock", "noop") else None
