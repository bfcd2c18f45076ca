"""The splitter once more, read off its description step by step and slow: what the quick one is held against."""

from __future__ import annotations

from kpis.rules.utf16 import WHITE

_ALWAYS = "dr mr mrs ms prof sr jr st mt e.g i.e vs al cf approx est dept univ a.m p.m u.s u.k".split()  # noqa: SIM905
_NUMBERED = "no fig eq ch vol pp etc inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec".split()  # noqa: SIM905
_DIGITS = "0123456789"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPENERS = _CAPITALS + _DIGITS + "\"'\u201c\u201d\u2018\u2019([{*_#\u2014-"


def plain_sentences(text: str) -> list[str]:
    """The sentences of ``text``."""
    pieces: list[str] = []
    begun = at = 0
    while at < len(text):
        cut, at = _step(text, at)
        if cut is not None:
            pieces.append(text[begun:cut])
            begun = cut
    pieces.append(text[begun:])
    return [piece.strip(WHITE) for piece in pieces if piece.strip(WHITE)]


def _run(text: str, at: int, of: str) -> int:
    while at < len(text) and text[at] in of:
        at += 1
    return at


def _step(text: str, at: int) -> tuple[int | None, int]:
    """Where a sentence ends, if one does here, and where to go on."""
    mark = text[at]
    if mark == "\n":
        after = _run(text, at + 1, WHITE.replace("\n", ""))
        return (at, after) if text[after : after + 1] == "\n" else (None, at + 1)
    if mark not in ".!?":
        return None, at + 1
    if mark == "." and at and text[at - 1] in _DIGITS and text[at + 1 : at + 2] and text[at + 1] in _DIGITS:
        return None, at + 1
    end = _run(text, _run(text, at, ".!?"), "\"\u201d\u2019')]}")
    following = _run(text, end, " \t\r\n")
    opener = text[following : following + 1]
    if opener and opener not in (_CAPITALS if following == end else _OPENERS):
        return None, end
    if mark == ".":
        begin = at
        while begin and text[begin - 1] not in WHITE + "([\"'\u201c\u201d\u2018\u2019":
            begin -= 1
        token = text[begin:at].lower()
        numbered = token in _NUMBERED and opener and opener in _DIGITS
        if token in _ALWAYS or numbered or (len(token) == 1 and token in "abcdefghijklmnopqrstuvwxyz"):
            return None, end
    return end, end
