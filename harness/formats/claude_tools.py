"""What a tool's name and a result's wording mean in a Claude Code session.

Closed tables: a name that is not in them is ``other``, a wording that is not in them is plain ok or error. This module
refuses to read a result further than the client's own phrases, which stand at its beginning.
"""

from __future__ import annotations

import msgspec

from kpis.terms.trace import Outcome, ToolOp

__all__ = ["INTERRUPTED", "agent_of", "op_of", "outcome_of"]

INTERRUPTED = b"[Request interrupted by user"

_OPS = {
    "Read": ToolOp.READ,
    "NotebookRead": ToolOp.READ,
    "Grep": ToolOp.SEARCH,
    "Glob": ToolOp.SEARCH,
    "LS": ToolOp.LIST,
    "Write": ToolOp.WRITE,
    "Edit": ToolOp.WRITE,
    "MultiEdit": ToolOp.WRITE,
    "NotebookEdit": ToolOp.WRITE,
    "Bash": ToolOp.EXEC,
    "WebFetch": ToolOp.WEB,
    "WebSearch": ToolOp.WEB,
    "TodoWrite": ToolOp.PLAN,
    "ExitPlanMode": ToolOp.PLAN,
    "Task": ToolOp.SPAWN,
    "Agent": ToolOp.SPAWN,
}

_DENIED = (b"doesn't want to proceed", b"doesn't want to take this action", b"haven't granted it")
_TIMED_OUT = b"timed out"
_PHRASE_BYTES = 400


class _Structured(msgspec.Struct, rename="camel"):
    agent_id: str | None = None
    interrupted: bool | None = None


def _structured(raw: msgspec.Raw) -> _Structured:
    body = bytes(raw)
    # Structured results hold whole files; the two fields wanted are rare, so most are not decoded.
    if b'"agentId"' not in body and b'"interrupted"' not in body:
        return _Structured()
    try:
        return msgspec.json.decode(body, type=_Structured)
    except (msgspec.DecodeError, RecursionError):
        return _Structured()


def op_of(name: str | None) -> ToolOp:
    """What a tool of that name does."""
    return _OPS.get(name or "", ToolOp.OTHER)


def outcome_of(is_error: bool | None, body: bytes, structured: msgspec.Raw) -> Outcome:
    """What became of a call, from its result block, the result's text and the line's structured result."""
    phrase = body[:_PHRASE_BYTES]
    if is_error:
        if any(words in phrase for words in _DENIED):
            return Outcome.DENIED
        if INTERRUPTED in phrase:
            return Outcome.INTERRUPTED
        if _TIMED_OUT in phrase:
            return Outcome.TIMEOUT
        return Outcome.ERROR
    return Outcome.INTERRUPTED if _structured(structured).interrupted else Outcome.OK


def agent_of(structured: msgspec.Raw) -> str | None:
    """The id of the sub-agent that a call started, where the structured result names it."""
    return _structured(structured).agent_id
