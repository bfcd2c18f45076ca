"""How sure the beginning of a file is a Claude Code session: by the kinds of its lines and what they hold."""

from __future__ import annotations

from collections.abc import Callable

from harness.formats.claude_decode import NotALineError, decode
from harness.formats.claude_lines import KNOWN_KINDS
from harness.formats.jsonl import first_objects
from harness.formats.limits import FormatError, Limits, check_depth

__all__ = ["session_score"]

_ENOUGH = 8
"""Lines that fit, with none before that does not, need no further ones: big trees hold thousands of such files."""

_MARKS = (b'"sessionId"', b'"parentUuid"', b'"isSidechain"')


def session_score(head: bytes, filename: str, also: Callable[[bytes], bool] = lambda _raw: True) -> float:
    """0 to 1. Content decides; the name only breaks a near tie.

    A line counts if its kind is a known one, for user and assistant lines if it holds a message, and if ``also`` is
    true of it.
    """
    named = 0.05 if filename.endswith(".jsonl") else 0.0
    lines = first_objects(head)
    fitting = 0
    for at, raw in enumerate(lines):
        if at == fitting == _ENOUGH:
            return 0.9 + named
        try:
            check_depth(raw, Limits(), "A line")
            line, _ = decode(raw)
        except (NotALineError, FormatError):
            continue
        fits = line.message is not None if line.type in ("user", "assistant") else line.type in KNOWN_KINDS
        fitting += fits and also(raw)
    if fitting:
        return min(1.0, 0.2 + 0.7 * fitting / len(lines) + named)
    # The first line may be longer than the head: then only its keys can tell.
    return 0.3 + named if head.lstrip()[:1] == b"{" and sum(mark in head for mark in _MARKS) >= 2 else 0.0
