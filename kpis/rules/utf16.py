"""Lengths and places counted in UTF-16 code units, as the published schema counts them; and its white space.

Texts are matched as Python holds them, by code point, and only what is reported is converted: one character outside the
basic plane is two units. Surrogates without their partner count one, as they do there.
"""

from __future__ import annotations

import re
from bisect import bisect_left

__all__ = ["SPACE", "WHITE", "Places", "trimmed", "units"]

WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""White space by the schema's measure: the byte-order mark is, the separators 1C to 1F and 85 are not."""

SPACE = r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
"""The same as a class of a regular expression."""

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def units(text: str) -> int:
    """The length of ``text`` in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def trimmed(text: str) -> str:
    """``text`` without the white space around it."""
    return text.strip(WHITE)


class Places:
    """The way from places in a text, by code point, to places by code unit."""

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [found.start() for found in _ASTRAL.finditer(text)]

    def unit(self, place: int) -> int:
        """The code units before code point number ``place``."""
        return place + bisect_left(self._astral, place) if self._astral else place
