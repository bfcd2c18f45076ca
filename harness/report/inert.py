"""Text that came from elsewhere, made safe to show: no escape sequence, no line break, no reversal of direction.

Workload names, ids of users' KPIs and the details of errors are written by others; shown raw, they could repaint the
terminal or forge a row of a table. Refuses to interpret anything: what is not a plain visible character goes.
"""

from __future__ import annotations

import re
from typing import IO, Any

__all__ = ["encoding_of", "inert"]

# Whole sequences first, so that no "[31m" is left over: CSI, then OSC, DCS, PM, APC and SOS up to their terminator.
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]"
)
# Breaks become a space. Controls, and the marks that reverse or hide text, vanish.
_BREAK = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")


def inert(text: str, encoding: str = "utf-8") -> str:
    """``text`` on one line, harmless, and with an escape in ASCII for each character that ``encoding`` cannot hold."""
    text = _HIDDEN.sub("", _BREAK.sub(" ", _SEQUENCE.sub("", text)))
    return text.encode(encoding, "backslashreplace").decode(encoding)


def encoding_of(stream: IO[Any]) -> str:
    """The encoding of a text stream; UTF-8 where it has none (a buffer in memory)."""
    return getattr(stream, "encoding", None) or "utf-8"
