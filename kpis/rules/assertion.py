"""Whether a text says something plainly: one test for what is denied, asked, quoted, past, supposed or only reported.

A sentence is read with what stands around it: the quotes and fences it lies in, the heading it stands under, and a
sentence behind it that takes it back. The words are looked for, not understood: where one of them stands in the
sentence, nothing is taken as said, for a sign that is quiet costs less than one that is wrong. Each question looks at a
bounded stretch of the text.
"""

from __future__ import annotations

import re
from functools import cached_property

from kpis.rules.fences import Stretches, fenced
from kpis.rules.quotes import Quotes

__all__ = ["Assertions", "hedged", "sentence_around"]

_BEFORE = 240
_AFTER = 160
_EDGE = re.compile(r"[.!?][ \t]|\n")

_NOT_ASSERTED = re.compile(
    r"\b(?:should|could|would|might|(?-i:may|MAY)(?! \d)|will|if|unless|recommend\w{0,4}|suggest\w{0,4}|propos\w{1,4}"
    r"|consider\w{0,4}"
    r"|assum\w{1,4}|plan\w{0,4}|expect\w{0,4}|target\w{0,4}|e\.g|example|for instance|instead"
    r"|about|around|approximately|approx|roughly|nearly|almost|estimat\w{1,4}|perhaps|maybe|possibly|probably|likely"
    r"|seems?|appears?|unsure|not sure|unclear|unknown|cannot (?:tell|confirm|verify)"
    r"|upgrad\w{1,4}|downgrad\w{1,4}|bump\w{0,4}|migrat\w{1,4}|chang\w{1,4} (?:(?:it|them|this) )?(?:to|from)"
    r"|after (?:the|this|my) (?:fix|change|update|patch)|fixed|updated|now|no longer)\b|[~\u2248?]",
    re.IGNORECASE,
)
"""Words of a proposal, a hedge, a question, or of how things are once something has been changed. May is a month."""

_DENIED = (
    r"not|never|no|none|nor|neither|nobody|nothing|nowhere|cannot|without|hardly|unlike|contrary|false\w{0,4}"
    r"|wrong\w{0,3}|incorrect\w{0,2}|untrue|myths?|mistak\w{1,4}|misread\w{0,3}|misconception\w?|misunderst\w{1,8}"
    r"|rumou?rs?|nonsense|absurd|lies?|den(?:y|ies|ied)|refut\w{1,4}|revers\w{1,4}|contradict\w{0,4}|typos?|bugs?"
)
_REPORTED = (
    r"claim\w{0,3}|alleg\w{1,6}|believ\w{1,4}|think\w{0,3}|thought|say|saying|said|ask\w{0,3}|wonder\w{0,3}|whether|why"
    r"|(?<!guide )(?<!document )(?<!text )(?<!policy )(?<!it )says"
    r"|doubt\w{0,4}|question\w{0,3}|suppos\w{1,5}|imagin\w{1,4}|pretend\w{0,3}|hypothe\w{1,6}|guess\w{0,3}|told|heard"
    r"|hop(?:e[sd]?|ing)|want\w{0,3}|wish\w{0,3}|goals?|aims?|ideas?|intend\w{0,3}|prefer\w{0,3}|films?|novels?|fiction\w{0,2}"
)
_PAST = (
    r"used to|former\w{0,2}|previous\w{0,2}|earlier|original\w{0,2}|(?:the|an|this|its|their|our|my|your) old|outdated"
    r"|obsolete|deprecated|legacy|histor\w{1,6}|back then|at that time|in the past|yesterday|ago"
    r"|last (?:week|month|year)|until recently|draft"
)
_FORBIDDEN = (
    r"forbid\w{0,5}|forbade|ban(?:s|ned)?|prohibit\w{0,5}|disallow\w{0,3}|avoid\w{0,3}|break\w{0,3}|violat\w{1,5}|unsafe"
    r"|danger\w{0,4}|bad|anti-?patterns?|mistakes?|don'?ts|flag\w{0,4}|attacks?|attacker\w{0,2}|risk\w{0,2}|smells?"
)
_NOT_SAID = re.compile(rf"\b(?:{_DENIED}|{_REPORTED}|{_PAST})\b|n['\u2019]t\b", re.IGNORECASE)
_NOT_BELOW = re.compile(rf"\b(?:{_DENIED}|{_REPORTED}|{_PAST}|{_FORBIDDEN})\b|n['\u2019]t\b|\?", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"[.!]?[\s\"'\u201d)]{0,4}(?:no\b|nope\b|wrong\b|false\b|not (?:true|so|at all)\b"
    r"|(?:that|this|it|which)(?:'s| is| was) (?:not|wrong|false|untrue|incorrect|outdated|out of date"
    r"|a (?:myth|lie|mistake))\b)",
    re.IGNORECASE,
)
"""What a sentence begins with that takes back the one before it."""

_HEADING = re.compile(r"^[ \t]*(?:#{1,6} .*|\|.*[A-Za-z].*|\*\*[^*\n]+\*\*:?[ \t]*|.*:[ \t]*)$", re.MULTILINE)
_ABOVE = 400
"""Characters in which the heading is looked for that something stands under."""


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence begins and ends in which ``start`` up to ``end`` stands; a long one is cut off."""
    begin = max(0, start - _BEFORE)
    for edge in _EDGE.finditer(text, begin, start):
        begin = edge.end()
    after = _EDGE.search(text, end, end + _AFTER)
    return begin, after.start() if after else min(len(text), end + _AFTER)


def hedged(text: str, begin: int, end: int) -> bool:
    """Whether this stretch proposes, hedges, asks, or tells of how things are once something has been changed."""
    return _NOT_ASSERTED.search(text, begin, end) is not None


class Assertions:
    """What one text asserts: its quotes and fences are found once, when they are first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _quotes(self) -> Quotes:
        return Quotes(self._text)

    @cached_property
    def _fences(self) -> Stretches:
        return fenced(self._text)

    def plain(self, start: int, end: int) -> bool:
        """Whether ``start`` up to ``end`` is said plainly; its own words, such as a ``not``, belong to what is said."""
        text = self._text
        begin, stop = sentence_around(text, start, end)
        if text[stop : stop + 1] == "?" or text[begin : begin + 8].lstrip(" \t").startswith(">"):
            return False
        if any(hedged(text, *side) or _NOT_SAID.search(text, *side) for side in ((begin, start), (end, stop))):
            return False
        if _TAKEN_BACK.match(text, stop) or self._fences.hold(start) or self._quotes.hold(start, end):
            return False
        return self._stands_free(begin)

    def _stands_free(self, begin: int) -> bool:
        """Whether the last heading before ``begin`` does not deny, forbid, propose or report what stands under it."""
        above = [heading.span() for heading in _HEADING.finditer(self._text, max(0, begin - _ABOVE), begin)]
        return not above or not (_NOT_BELOW.search(self._text, *above[-1]) or hedged(self._text, *above[-1]))
