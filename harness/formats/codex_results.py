"""What the result of a Codex tool call says: the exit code, the time it took, and what became of it.

Three builds write the result of a command in three ways: a JSON object with ``metadata``, lines of text that begin
``Exit code:``, and lines of which one is ``Process exited with code``. A refused or broken call has neither, only a
phrase at its beginning. This module refuses to search further than that beginning, and never reads what a command
printed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from harness.formats.codex_lines import plain, text_of
from kpis.terms.trace import Outcome

__all__ = ["CallResult", "duration_of", "outcome_of", "result_of"]

_HEADED = ("Exit code: ", "Chunk ID: ", "Wall time: ", "Process exited with code ")
_HEADER = 400
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})\b", re.MULTILINE)
_WALL = re.compile(r"^Wall time: (\d{1,9}(?:\.\d{1,9})?)", re.MULTILINE)
_BODY = re.compile(r"^Output:(?:\n|\Z)", re.MULTILINE)
_SANDBOX = re.compile(r"failed in sandbox .{0,200}?exit code: (-?\d{1,10})\b")
_CUT = re.compile(r"\b(?:tokens|chars|lines) truncated")
_SHORTEST_CUT = 1_000
"""No build leaves anything out of a text as short as this."""
_PHRASES = (
    (re.compile(r"aborted\b"), Outcome.INTERRUPTED, "aborted"),
    (re.compile(r"(?:exec command |patch )?rejected\b|.{0,60}rejected by user"), Outcome.DENIED, "rejected"),
    (re.compile(r"command timed out|.{0,120}sandbox error: command timed out"), Outcome.TIMEOUT, "timeout"),
    (re.compile(r"apply_patch verification failed|error: (?:Failed to find|invalid hunk)"), Outcome.ERROR, "patch"),
    (re.compile(r"failed to parse function arguments"), Outcome.ERROR, "arguments"),
    (re.compile(r"unsupported (?:custom tool )?call"), Outcome.ERROR, "unknown_tool"),
    (re.compile(r"failed in sandbox|execution denied"), Outcome.ERROR, "sandbox"),
    (re.compile(r"(?:err|error|execution error|exec_command failed|write_stdin failed)\b:?"), Outcome.ERROR, "tool"),
)
_TIMED_OUT = 124


class _Metadata(msgspec.Struct, gc=False):
    exit_code: int | None = None
    duration_seconds: float | None = None


class _Shell(msgspec.Struct, gc=False):
    output: str
    metadata: _Metadata


class CallResult(NamedTuple):
    """``body`` is what the tool printed, without the client's header; ``size`` the bytes that the model was shown."""

    outcome: Outcome
    body: bytes
    size: int
    exit_code: int | None = None
    duration_ms: int | None = None
    truncated: bool | None = None
    error_class: str | None = None


_decode_text = msgspec.json.Decoder(str).decode
_decode_shell = msgspec.json.Decoder(_Shell).decode


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _milliseconds(seconds: float | None) -> int | None:
    return round(seconds * 1_000) if seconds is not None and 0 <= seconds < 1e9 else None


def outcome_of(exit_code: int | None, success: bool | None = None) -> tuple[Outcome, str | None]:
    """What became of a call, and its error class, by the exit code; ``success`` where the client says it."""
    if exit_code == _TIMED_OUT:
        return Outcome.TIMEOUT, "timeout"
    if exit_code:
        return Outcome.ERROR, "exit"
    return (Outcome.ERROR, "tool") if success is False else (Outcome.OK, None)


def result_of(raw: msgspec.Raw) -> CallResult:
    """Read the ``output`` of a result line."""
    success: bool | None = None
    try:
        text = _decode_text(raw)
    except (msgspec.DecodeError, RecursionError):
        value = plain(raw)
        if isinstance(value, dict):
            given = value.get("success")
            success = given if isinstance(given, bool) else None
            value = value.get("content", value.get("output"))
        text = text_of(value)
    if text.startswith("{"):
        try:
            shell = _decode_shell(_utf8(text))
        except (msgspec.DecodeError, RecursionError):
            shell = None
        if shell is not None:
            return _ended(shell.output, len(_utf8(text)), shell.metadata.exit_code, shell.metadata.duration_seconds)
    head = text[:_HEADER]
    if head.startswith(_HEADED):
        body = _BODY.search(head)
        header = head[: body.start()] if body is not None else head
        code, wall = _EXIT.search(header), _WALL.search(header)
        return _ended(
            text[body.end() :] if body is not None else text,
            len(_utf8(text)),
            None if code is None else int(code[1]),
            None if wall is None else float(wall[1]),
            cut="Total output lines: " in header,
        )
    whole = _utf8(text)
    for phrase, outcome, word in _PHRASES:
        if phrase.match(head):
            code = _SANDBOX.match(head)
            if code is not None and word == "sandbox":
                return CallResult(Outcome.ERROR, whole, len(whole), int(code[1]), error_class="exit")
            return CallResult(outcome, whole, len(whole), error_class=word)
    outcome, word_or_none = outcome_of(None, success)
    return CallResult(outcome, whole, len(whole), truncated=_cut(text), error_class=word_or_none)


def _ended(text: str, size: int, code: int | None, seconds: float | None, cut: bool = False) -> CallResult:
    outcome, word = outcome_of(code)
    return CallResult(outcome, _utf8(text), size, code, _milliseconds(seconds), cut or _cut(text), word)


def _cut(text: str) -> bool | None:
    """True where the client says that it left something out; it never says that it did not."""
    if len(text) < _SHORTEST_CUT:
        return None
    return True if "[... omitted " in text or ("truncated" in text and _CUT.search(text)) else None


def duration_of(raw: msgspec.Raw, milliseconds: float | None) -> int | None:
    """The milliseconds of an event: its own, or a duration in seconds, as text, or in seconds and nanoseconds."""
    if milliseconds is not None:
        return _milliseconds(milliseconds / 1_000)
    value = plain(raw)
    if isinstance(value, dict):
        whole, part = value.get("secs"), value.get("nanos", 0)
        numbers = isinstance(whole, int) and isinstance(part, int) and abs(whole) < 1 << 53 and abs(part) < 1 << 53
        return _milliseconds(whole + part / 1e9) if numbers else None
    if isinstance(value, str):
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|s)", value)
        return None if found is None else _milliseconds(float(found[1]) / (1_000 if found[2] == "ms" else 1))
    return _milliseconds(float(value)) if isinstance(value, (int, float)) and abs(value) < 1e12 else None
