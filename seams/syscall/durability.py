"""How long what a result says is likely to hold: for good, for the session, or for the turn.

A prior from its wording alone, in English, and no judgement of its truth. The longest-lived frame that occurs decides,
because a preference stays one where it names an hour. Words that tie a text to the moment (right now, today, a time of
day) say what is assumed of every text without a frame, so nothing has to look for them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from seams.contract.turn import Durability

__all__ = ["durability_of_text"]

_ABOUT_ME = (
    "name|role|title|pronouns?|timezone|tz|email|handle|username|nickname|birthday|address|"
    "favou?rite(?: [a-z0-9_-]{1,24}){1,3}"
)
_APOSTROPHE = "(?:'|\u2019)"


class _Phrase(NamedTuple):
    """A phrase by how it begins, which a substring search finds fast, and the whole of it."""

    begins: bytes
    whole: re.Pattern[bytes]


def _phrase(begins: str, rest: str = "") -> _Phrase:
    first = begins.encode()
    # Whole words: none goes on before the beginning, which is checked behind it to let the search begin with a literal.
    return _Phrase(first, re.compile(rb"%b(?<!\w%b)%b\b" % (first, first, rest.encode())))


_FRAMES: tuple[tuple[Durability, tuple[_Phrase, ...]], ...] = (
    (
        Durability.DURABLE,
        (
            _phrase("prefer", "(?:s|red|ences?)?"),
            _phrase("i always"),
            _phrase("i usually"),
            _phrase("i normally"),
            _phrase("we use"),
            _phrase("my ", f"(?:{_ABOUT_ME}) is"),
        ),
    ),
    (
        Durability.SESSION,
        (
            _phrase("this session"),
            _phrase("this branch"),
            _phrase("working on"),
            _phrase("today", f"{_APOSTROPHE}s task"),
            _phrase("current task"),
            _phrase("for now"),
        ),
    ),
)


def durability_of_text(lower: bytes) -> Durability:
    """The class of a text in lower case: durable before session, and turn where neither frame occurs."""
    for durability, phrases in _FRAMES:
        if any(begins in lower and whole.search(lower) for begins, whole in phrases):
            return durability
    return Durability.TURN
