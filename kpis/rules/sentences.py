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

_STOP = re.compile(r"[.!?\n]")
_BLANK = re.compile("[" + WHITE.replace("\n", "") + r"]*+\n")
_END = re.compile(r"[.!?]++[\"”\u2019')\]}]*+")
_GAP = re.compile(r"[ \t\r\n]*+")
_GAPS = frozenset(" \t\r\n")
_CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_OPENERS = _CAPITALS | _DIGITS | frozenset("\"'“”\u2018\u2019([{*_#-—")
_TOKEN_START = re.compile("[" + WHITE + r"(\[\"'“”\u2018\u2019]")

_NEVER = frozenset(
    [
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "sr",
        "jr",
        "st",
        "mt",
        "e.g",
        "i.e",
        "vs",
        "al",
        "cf",
        "approx",
        "est",
        "dept",
        "univ",
        "a.m",
        "p.m",
        "u.s",
        "u.k",
    ]
)
"""Abbreviations that end no sentence."""

_BEFORE_NUMBER = frozenset(
    [
        "no",
        "fig",
        "eq",
        "ch",
        "vol",
        "pp",
        "etc",
        "inc",
        "ltd",
        "co",
        "corp",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
    ]
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
    begun = at = 0
    while (stop := _STOP.search(text, at)) is not None:
        place = stop.start()
        if text[place] == "\n":
            blank = _BLANK.match(text, place + 1)
            # The second line break may begin another blank line; what lies between holds nothing either way.
            end, ends = (blank.end() - 1, True) if blank else (place + 1, False)
        else:
            end, ends = _after(text, place)
        if ends:
            yield text[begun:end]
            begun = end
        at = end if end > place else place + 1
    yield text[begun:]


def _after(text: str, place: int) -> tuple[int, bool]:
    """Where the stop at ``place`` with its closing marks ends, and whether a sentence ends there."""
    dot = text[place] == "."
    if dot and text[place + 1 : place + 2] in _DIGITS and place and text[place - 1] in _DIGITS:
        return place + 1, False
    run = _END.match(text, place)
    end = run.end() if run else place + 1
    opener = text[end : end + 1]
    if opener in _GAPS:
        gap = _GAP.match(text, end)
        following = gap.end() if gap else end
        opener = text[following : following + 1]
        if opener and opener not in _OPENERS:
            return end, False
    elif opener and opener not in _CAPITALS:
        return end, False
    return end, not (dot and _abbreviates(text, place, opener))


def _abbreviates(text: str, place: int, opener: str) -> bool:
    """Whether the token that ends before ``place`` is an abbreviation or an initial."""
    token = _TOKEN_START.split(text[max(0, place - _LONGEST - 1) : place])[-1].lower()
    if token in _NEVER or (len(token) == 1 and "a" <= token <= "z"):
        return True
    return token in _BEFORE_NUMBER and opener in _DIGITS
