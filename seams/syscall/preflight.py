"""The preflight rung: two cheap checks that catch a broken call before anything is dispatched.

Check 0: the arguments are a JSON object. Check 1, for tools with a schema: what is required is there and of its type.
It repairs nothing, and an unknown type name accepts every value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seams.contract import Engine
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind

__all__ = ["PreflightRung", "offer"]

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
    """The rung of rank 10. ``total`` and ``caught`` count submitted calls only."""

    __slots__ = ("_schemas", "caught", "total")

    name = "preflight"
    rank = 10
    tools: frozenset[str] | None = None

    def __init__(self, schemas: Mapping[str, Mapping[str, str]]) -> None:
        """``schemas`` maps a tool to its required keys and their JSON types."""
        self._schemas = {tool: tuple(required.items()) for tool, required in schemas.items()}
        self.total = 0
        self.caught = 0

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
            self.caught += found is not None
        return found or _DEFER


def _is(value: Any, kind: str) -> bool:
    types = _TYPES.get(kind)
    if types is None:
        return True
    # In Python a bool is an int; in JSON it is no number.
    return isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))


def offer(engine: Engine) -> PreflightRung | None:
    """The rung with the schemas of the default world; it needs no engine, so only ``none`` is answered."""
    return PreflightRung({}) if engine == "none" else None
