"""Where the fenced blocks of a text are, and which lines a diff in it takes away."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

__all__ = ["Stretches", "fenced", "removed_lines"]

_FENCE = re.compile(r"^[ \t]{0,8}```[ \t]*([\w+-]{0,20})", re.MULTILINE)
_LINE = re.compile(r"^(?:```[ \t]*(\w{0,20})|(@@ )|(-(?!--))|([ +\\-])|).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of a text in order, none of which overlap."""

    spans: tuple[tuple[int, int], ...]

    def hold(self, place: int) -> bool:
        """Whether ``place`` lies in one of them."""
        at = bisect_right(self.spans, (place, 1 << 62)) - 1
        return at >= 0 and place < self.spans[at][1]


def fenced(text: str) -> Stretches:
    """The fenced blocks of ``text``, with their fences; an open one reaches to the end."""
    marks = [found.start() for found in _FENCE.finditer(text)] if "```" in text else []
    if len(marks) % 2:
        marks.append(len(text))
    return Stretches(tuple(zip(marks[0::2], marks[1::2], strict=True)))


def removed_lines(text: str) -> Stretches:
    """The lines that a diff takes away: those with a minus in a block of language diff, or under a hunk's header."""
    spans: list[tuple[int, int]] = []
    in_block = in_diff = in_hunk = False
    for line in _LINE.finditer(text):
        language, hunk, minus, other = line.groups()
        if language is not None:
            in_block = not in_block
            in_diff = in_block and language.lower() in {"diff", "patch", "udiff"}
            in_hunk = False
        elif hunk:
            in_hunk = True
        elif minus and (in_diff or in_hunk):
            spans.append(line.span())
        elif not other:
            in_hunk = False
    return Stretches(tuple(spans))
