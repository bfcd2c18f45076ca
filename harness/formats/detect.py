"""Which of the known formats a file is in, by its content.

A name may lie and an exported file is often renamed, so the extension only breaks near ties. This module refuses to
guess: below even odds the answer is that the format is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import BinaryIO, Protocol

from harness.formats import toolcalls
from harness.formats.claude_code import ClaudeCode
from harness.formats.jsonl_session import JsonlSession
from harness.formats.limits import FormatError, Limits, printable
from kpis.terms.trace import Issue, TraceEvent

__all__ = ["HEAD", "Format", "Known", "detect", "head_of"]

HEAD = 1 << 20
"""Bytes of a file that are enough to know it by, if its first line ends within them."""

_SURE = 0.5


class Format(Protocol):
    """A reader of recorded sessions: it is handed bytes, opens nothing, and lets no text through."""

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` (the first bytes of a file of that name) is in this format: 0 to 1."""
        ...

    def read(self, blob: BinaryIO, limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield what the recording says; the only exception is FormatError."""
        ...


class Known(Enum):
    """The formats that can be read."""

    CLAUDE_CODE = "claude-code"
    TOOL_CALLS = "calls"
    JSONL_SESSION = "jsonl-session"


def head_of(data: bytes, limits: Limits) -> bytes:
    """The first bytes of a file that begins with ``data``: :data:`HEAD` of them, or a longer first line as a whole.

    A first line that is longer than ``limits.max_line`` is cut at :data:`HEAD`, since no reader would take it.
    """
    end = data.find(b"\n", 0, limits.max_line) + 1
    if not end and len(data) <= limits.max_line:
        end = len(data)
    return data[: max(HEAD, end)]


def detect(head: bytes, filename: str) -> Known:
    """The format of the file that begins with ``head``.

    Raises:
        FormatError: none of the known ones.
    """
    scores = {
        Known.CLAUDE_CODE: ClaudeCode().sniff(head, filename),
        Known.TOOL_CALLS: toolcalls.sniff(head, filename),
        Known.JSONL_SESSION: JsonlSession().sniff(head, filename),
    }
    best = max(scores, key=scores.__getitem__)
    if scores[best] < _SURE:
        known = ", ".join(each.value for each in Known)
        raise FormatError(f"{printable(filename)} is in none of the known formats ({known}).")
    return best
