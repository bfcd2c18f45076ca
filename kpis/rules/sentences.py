"""Cut a text into sentences: one splitter for every rule that counts or walks them.

Only ``.``, ``!`` and ``?`` end a sentence, and a blank line does. Decimals, file names, initials and abbreviations
do not. Refuses to guess at other scripts: their stops end nothing. Linear in the text; no token is looked at further
back than the longest abbreviation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kpis.rules.utf16 import WHITE, trimmed

__all__ = ["sentences"]

_CLOSERS = "\"\u201d\u2019')\\]}"
_OPENERS = "A-Z0-9\"'\u201c\u201d\u2018\u2019(\\[{*_#\u2014-"
# A stop with its closing marks, where what follows can open a sentence; or a line break with the white space after it.
# Of a run of stops only the first is tried, or a long run would be read once for each of them.
_EDGE = re.compile(
    rf"[.!?\n](?:(?<=\n)[{WHITE}]*+"
    rf"|(?<!\n)(?<![.!?]{{2}})(?P<closing>[.!?]*+[{_CLOSERS}]*+)"
    rf"(?:(?=[A-Z])|[ \t\r\n]++(?=[{_OPENERS}]|\Z)|\Z))"
)
_DIGITS = frozenset("0123456789")
_TOKEN_START = re.compile("[" + WHITE + r"(\[\"'“”\u2018\u2019]")

_NEVER = frozenset(
    "dr mr mrs ms prof sr jr st mt e.g i.e vs al cf approx est dept univ a.m p.m u.s u.k".split()  # noqa: SIM905 - words
)
"""Abbreviations that end no sentence."""

_BEFORE_NUMBER = frozenset(
    "no fig eq ch vol pp etc inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec".split()  # noqa: SIM905
)
"""Abbreviations that end no sentence when a number follows. May is missing: it is a word."""

_LONGEST = max(map(len, _NEVER | _BEFORE_NUMBER))


def sentences(text: str, *, with_a_letter: bool = False) -> list[str]:
    """The sentences of ``text`` in order, without the white space around them.

    Args:
        text: any text.
        with_a_letter: leave out what holds neither a letter nor a digit, such as a ruler of dashes.
    """
    pieces = [trimmed(piece) for piece in _pieces(text)]
    if with_a_letter:
        return [piece for piece in pieces if any(map(str.isalnum, piece))]
    return [piece for piece in pieces if piece]


def _pieces(text: str) -> Iterator[str]:
    begun = 0
    for edge in _EDGE.finditer(text):
        place = edge.start()
        mark = text[place]
        if mark == "\n":
            if "\n" not in edge.group()[1:]:
                continue
            end = place
        else:
            end = edge.end("closing")
            abbreviated = mark == "." and _abbreviates(text, place, text[edge.end() : edge.end() + 1])
            if abbreviated and text.count("\n", end, edge.end()) < 2:  # a blank line ends a sentence all the same
                continue
        yield text[begun:end]
        begun = end
    yield text[begun:]


def _abbreviates(text: str, place: int, opener: str) -> bool:
    """Whether the token that ends before ``place`` is an abbreviation or an initial."""
    token = _TOKEN_START.split(text[max(0, place - _LONGEST - 1) : place])[-1].lower()
    if token in _NEVER or (len(token) == 1 and "a" <= token <= "z"):
        return True
    return token in _BEFORE_NUMBER and opener in _DIGITS
