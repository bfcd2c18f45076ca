"""What a result's wording means in a Claude Code session.

A closed table: a wording that is not in it is plain ok or error. This module refuses to read a result further than the
client's own phrases, which stand at its beginning.
"""

from __future__ import annotations

import re

import msgspec

from kpis.terms.trace import Outcome

__all__ = ["INTERRUPTED", "agent_of", "error_class_of", "exit_code_of", "failure_of", "outcome_of"]

INTERRUPTED = b"[Request interrupted by user"

_DENIED = (b"doesn't want to proceed", b"doesn't want to take this action", b"haven't granted it")
_TIMED_OUT = b"timed out"
_CLASS_OF = {Outcome.DENIED: "approval", Outcome.INTERRUPTED: "cancelled", Outcome.TIMEOUT: "timeout"}
_CLASSES = (
    (b"InputValidationError", "parsing"),
    (b"No such tool available", "parsing"),
    (b"File does not exist", "file_not_found"),
    (b"No such file or directory", "file_not_found"),
    (b"ENOENT", "file_not_found"),
    (b"EISDIR", "is_a_directory"),
    (b"EACCES", "permission"),
    (b"ermission denied", "permission"),
    (b"exceeds maximum allowed", "limit"),
    (b"UnicodeDecodeError", "unicode_decode"),
    (b"String to replace not found", "OTHER_edit"),
    (b"matches of the string to replace", "OTHER_edit"),
    (b"File has not been read yet", "OTHER_edit"),
    (b"File has been modified since", "OTHER_edit"),
    (b"Exit code ", "OTHER_exit"),
)
_EXIT = re.compile(rb"^(?:<tool_use_error>)?(?:Error: )?(?:Command failed with e|E)xit code (\d{1,9})\b")
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


def outcome_of(is_error: bool | None, body: bytes, structured: msgspec.Raw) -> Outcome:
    """What became of a call, from its result block, the result's text and the line's structured result."""
    if is_error:
        return failure_of(body)
    return Outcome.INTERRUPTED if _structured(structured).interrupted else Outcome.OK


def failure_of(body: bytes) -> Outcome:
    """What became of a call whose result is marked as an error, from the text of the result."""
    phrase = body[:_PHRASE_BYTES]
    if any(words in phrase for words in _DENIED):
        return Outcome.DENIED
    if INTERRUPTED in phrase:
        return Outcome.INTERRUPTED
    if _TIMED_OUT in phrase:
        return Outcome.TIMEOUT
    return Outcome.ERROR


def error_class_of(outcome: Outcome, body: bytes) -> str:
    """A failed result's class: a word that evaluation tools use, else ``OTHER_`` and why, else ``unknown``."""
    if outcome in _CLASS_OF:
        return _CLASS_OF[outcome]
    phrase = body[:_PHRASE_BYTES]
    return next((name for words, name in _CLASSES if words in phrase), "unknown")


def exit_code_of(body: bytes) -> int | None:
    """The exit code that the client wrote ahead of a failed command's output, or None."""
    found = _EXIT.search(body[:_PHRASE_BYTES])
    return int(found[1]) if found is not None else None


def agent_of(structured: msgspec.Raw) -> str | None:
    """The id of the sub-agent that a call started, where the structured result names it."""
    return _structured(structured).agent_id
