"""The seam ``syscall/hook``: one decision from a line of JSON to a line of JSON, for a process started for it.

The same chain as in process; only the way in and out is added. It starts no process itself, and imports only what a
decision needs.
"""

from __future__ import annotations

import json
from typing import Any

from seams.contract import Engine
from seams.contract.syscall import ToolCall, Verdict
from seams.syscall.canonical import canonical
from seams.syscall.decide import Decider, chain_of
from seams.syscall.fold import Chain, kind_name
from seams.syscall.policy import Policy
from seams.syscall.reasons import reason_name
from seams.syscall.worlds import world_named

__all__ = ["HookInputError", "chain_for", "decide_line", "offer", "read_call", "verdict_line"]


class HookInputError(ValueError):
    """The text is no call."""


def chain_for(world: str, policy: Policy | None = None) -> Chain:
    """The chain of that world, with ``policy`` in place of its own where one is given."""
    return chain_of(world_named(world), policy)


def read_call(text: bytes) -> ToolCall:
    """A call from ``{"tool": str, "args": any JSON, "meta": {str: str}}``; the last two may be left out.

    Raises:
        HookInputError: it is something else.
    """
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookInputError(f"The call on standard input is not JSON: {error}.") from error
    if not isinstance(given, dict) or not isinstance(given.get("tool"), str):
        raise HookInputError('The call on standard input must be an object with "tool" as text.')
    meta = given.get("meta") or {}
    if not isinstance(meta, dict) or not all(isinstance(value, str) for value in meta.values()):
        raise HookInputError('The "meta" of the call on standard input must map text to text.')
    return ToolCall(given["tool"], canonical(given["args"]) if "args" in given else b"", meta)


def verdict_line(verdict: Verdict) -> str:
    """``{"kind", "reason", "by"}`` on one line."""
    named = {"kind": kind_name(verdict.kind), "reason": reason_name(verdict.reason), "by": verdict.by}
    return json.dumps(named, ensure_ascii=False)


def decide_line(chain: Chain, text: bytes) -> str:
    """One call in, one verdict out.

    Raises:
        HookInputError: ``text`` is no call.
    """
    return verdict_line(chain.fold(read_call(text)))


def offer(engine: Engine) -> Decider | None:
    """The in-process decision that the spawned one must repeat; only ``none`` is answered."""
    return Decider(chain_for("default")) if engine == "none" else None
