"""Which stretches of a text are quoted: a phrase that is cited is not a phrase that is said.

Pairs of straight or curly double quotes and of backticks up to 300 characters, of straight single quotes up to 200; an
apostrophe inside a word is none, and a fence of three backticks is none. A stretch that is most of the text does not
count: wrapping everything in quotes cites nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

__all__ = ["Quotes"]

_WHOLE = 0.6
"""The share of the text beyond which a pair of quotes is a wrapper."""

_PAIRS = (
    re.compile(r'"[^"]{1,300}+"'),
    re.compile(r"(?<!`)`(?!`)[^`]{1,300}+`(?!`)"),
    re.compile("“[^“”]{1,300}+”"),
    # Not possessive: Python 3.11.2 matches a possessive group wrongly, and 200 characters bound the way back.
    re.compile(r"(?<!\w)'[^\s'](?:[^'\n]|(?<=\w)'(?=\w)){0,199}'(?!\w)"),
)
_MARKS = "\"`“'"


class Quotes:
    """The quoted stretches of one text, found once; asking whether a place is inside is a binary search."""

    def __init__(self, text: str) -> None:
        longest = _WHOLE * len(text)
        found = [
            pair.span()
            for mark, pattern in zip(_MARKS, _PAIRS, strict=True)
            if mark in text
            for pair in pattern.finditer(text)
        ]
        spans = sorted(span for span in found if span[1] - span[0] <= longest)
        self._begins = [begin for begin, _ in spans]
        self._reach = list(accumulate((end for _, end in spans), max))

    def hold(self, start: int, end: int) -> bool:
        """Whether the stretch ``start`` up to ``end`` lies within one quoted stretch."""
        last = bisect_right(self._begins, start) - 1
        return last >= 0 and self._reach[last] >= end
