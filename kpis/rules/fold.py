"""Take the disguise off a text, and keep the way back.

What looks like plain text is made plain: characters that are not seen are dropped and strokes through a letter with
them, compatibility forms (full width, circled, ligatures) become what they stand for, letters drawn like Latin ones
become Latin, and a run of white space becomes one line break or one space. Nothing is spelt differently: digits stay
digits. Refuses to say what a text means. The work is linear in the text: a letter takes so many marks, and one
character becomes so many, and no more.

The way back is worked out only when somebody asks for it. A place in the folded text leads to the characters of the
text as it came, dropped ones inside the stretch included; each character counts once, whatever its width.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from unicodedata import normalize

from kpis.rules.lookalikes import LOOKALIKES
from kpis.rules.unseen import REFERENCE_UNSEEN, UNSEEN, Ranges, characters, class_of
from kpis.rules.utf16 import WHITE, Places

__all__ = ["Folded", "fold"]

_MOST_MARKS = 32
"""Marks of one cluster: putting them in order takes the square of their number. Those beyond begin another."""

_MOST_LETTERS = 4
"""What one character may stand for: a ligature that is a sentence stays one, and hides no letter of an alphabet."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u3099\u309a\ufe20-\ufe2f"
)
"""Marks that join the letter before them into one cluster."""

_STROKES = re.compile("[\u0334-\u0338]")
_SEEN_WHITE = WHITE.replace("\ufeff", "")
_BREAKS = re.compile("[\n\r\u2028\u2029]")
_ANY_MARK = re.compile(f"[{_MARKS}]")
_ASCII = re.compile(r"[\t-\r ](?:[\t-\r ]++|(?<![ \n]))")
_ALL_ASCII = bytes(range(128))


class _Way:
    """How characters are folded when those of ``ranges`` are not seen, and strokes are or are not dropped."""

    def __init__(self, ranges: Ranges, *, strokes: bool) -> None:
        unseen = class_of(ranges)
        self._unseen = frozenset(characters(ranges))
        self._strokes = strokes
        # One class first, so that the engine runs over plain characters; a space alone is left where it is.
        odd = (
            r"[^\x00-\x08\x0e-\x1f!-\x7f](?:"
            rf"(?<=[ \n])[{_SEEN_WHITE}{unseen}]++"
            rf"|(?<=[{_SEEN_WHITE}])(?<![ \n])[{_SEEN_WHITE}{unseen}]*+"
            rf"|(?<=[{unseen}])[{unseen}]*+"
            rf"|(?<![{_SEEN_WHITE}{unseen}])[{_MARKS}]{{0,{_MOST_MARKS}}})"
        )
        self.without_marks = re.compile(odd)
        self.with_marks = re.compile(rf"[A-Za-z][{_MARKS}]{{1,{_MOST_MARKS}}}|{odd}")
        self.read: Callable[[str], str] = lru_cache(maxsize=1 << 16)(self._read)
        self.stays: Callable[[str], bool] = lru_cache(maxsize=1 << 16)(self._stays)

    def folded(self, odd: re.Match[str]) -> str:
        """What the characters that ``without_marks`` or ``with_marks`` found become."""
        found = odd.group()
        if found[0] in _SEEN_WHITE:
            return "\n" if _BREAKS.search(found) else " "
        return "" if found[0] in self._unseen else self.read(found)

    def _read(self, cluster: str) -> str:
        plain = normalize("NFKC", cluster)
        if len(plain) > _MOST_LETTERS * len(cluster):
            plain = cluster
        if self._strokes:
            plain = _STROKES.sub("", plain)
        return "".join([LOOKALIKES.get(character, character) for character in plain if character not in self._unseen])

    def _stays(self, character: str) -> bool:
        """Whether the character, which is none of ASCII, stays as it is wherever it stands."""
        return not (
            _ANY_MARK.match(character)
            or character in WHITE
            or character in self._unseen
            or self.read(character) != character
        )


@cache
def _way(*, as_reference: bool) -> _Way:
    return _Way(REFERENCE_UNSEEN, strokes=False) if as_reference else _Way(UNSEEN, strokes=True)


class Folded:
    """A text without its disguise. ``text`` is the folded text; places in it go back by ``raw_span``.

    ``same_words`` says that nothing but white space was folded; ``marked``, that a mark may have changed a letter of
    ASCII.
    """

    def __init__(self, raw: str, odd: re.Pattern[str], way: _Way, text: str | None = None) -> None:
        self.raw = raw
        self._odd = odd
        self._way = way
        self.same_words = text is not None
        self.marked = odd is way.with_marks
        self.text = odd.sub(way.folded, raw) if text is None else text

    @cached_property
    def _pieces(self) -> tuple[list[int], list[int], list[int]]:
        """Begin in the folded text, begin and end in the raw text, of the pieces that are not one to one."""
        at: list[int] = []
        begins: list[int] = []
        ends: list[int] = []
        shift = 0
        for odd in self._odd.finditer(self.raw):
            begin, end = odd.span()
            length = len(self._way.folded(odd))
            if length != end - begin:
                at.append(begin + shift)
                begins.append(begin)
                ends.append(end)
                shift += length - (end - begin)
        return at, begins, ends

    @cached_property
    def _places(self) -> Places:
        return Places(self.raw)

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The UTF-16 places in the raw text of the stretch ``start`` up to ``end`` of the folded text."""
        first = self._raw(start)[0]
        last = self._raw(end - 1)[1] if end > start else first
        return self._places.unit(first), self._places.unit(max(first, last))

    def _raw(self, place: int) -> tuple[int, int]:
        """Begin and end, in the raw text, of the folded character at ``place``."""
        at, begins, ends = self._pieces
        piece = bisect_right(at, place) - 1
        if piece < 0:
            return place, place + 1
        width = (at[piece + 1] - begins[piece + 1] if piece + 1 < len(at) else len(self.text) - len(self.raw)) - (
            at[piece] - begins[piece]
        )
        length = width + ends[piece] - begins[piece]
        if place < at[piece] + length:
            return begins[piece], ends[piece]
        beyond = ends[piece] + place - at[piece] - length
        return beyond, beyond + 1


def fold(raw: str, *, as_reference: bool = False) -> Folded:
    """``raw`` without its disguise; an equal text when it wears none. The reference sees through fewer disguises."""
    way = _way(as_reference=as_reference)
    if raw.isascii():
        return Folded(raw, _ASCII, way, _shortened(raw))
    beyond = raw.encode("utf-8", "surrogatepass").translate(None, _ALL_ASCII).decode("utf-8", "surrogatepass")
    if all(map(way.stays, set(beyond))):
        return Folded(raw, way.without_marks, way, _shortened(raw))
    return Folded(raw, way.with_marks if _ANY_MARK.search(raw) else way.without_marks, way)


def _shortened(raw: str) -> str | None:
    """``raw`` folded, if it has nothing to fold but spaces and line feeds; None if it has tabs or the like."""
    if "\t" in raw or "\r" in raw or "\v" in raw or "\f" in raw:
        return None
    if "\n" in raw:
        first, *between, last = raw.split("\n")
        kept = [line for line in [line.strip(" ") for line in between] if line]
        raw = "\n".join([first.rstrip(" "), *kept, last.lstrip(" ")])
    while "  " in raw:  # each time a run is half as long
        raw = raw.replace("  ", " ")
    return raw
