"""A sign of fabrication in limits: what was given above a figure is said below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from kpis.rules.anchors import holds_any
from kpis.rules.assertion import sentence_around
from kpis.rules.content_terms import content_terms
from kpis.rules.material import CLAIMS, Material, number

__all__ = ["threshold_flip"]

_MOST_GIVEN = 500
"""Limits of the material that are looked at; where there are more, not all of it is known, and nothing is said."""

_THAN = (
    r"(?:more|greater|higher|larger|bigger|longer|older)(?= than)|(?:less|fewer|lower|smaller|shorter|younger)(?= than)"
)
_FIGURE = r"(?P<sign>[$\u20ac\u00a3]?)(?P<figure>[0-9]{1,12}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,6})?)(?![0-9]|[.,:/-][0-9])"
_UNIT = r"(?P<unit> ?%| [A-Za-z]{2,20})?"
_LIMIT = re.compile(
    rf"(?:\b(?P<word>(?:no|not) (?:{_THAN}) than|(?:{_THAN}) than|at least|at most|above|below|over|under"
    rf"|exceed(?:s|ing)?|up to) |(?P<mark>[<>]=? ?)){_FIGURE}{_UNIT}"
    rf"|(?<![\w.,-]){_FIGURE.replace('P<', 'P<late_')}{_UNIT.replace('P<', 'P<late_')}"
    r" (?:or|and) (?P<late_word>more|above|higher|over|older|less|below|lower|fewer|under|younger)\b",
    re.IGNORECASE,
)
_DIRECTED = re.compile(
    r"\b(?:more|greater|higher|larger|bigger|longer|older|above|over|exceed(?:s|ing)?|at least|less|fewer|lower|smaller"
    r"|shorter|younger|below|under|at most|up to|min(?:imum)?|max(?:imum)?|within|between|from)\b|[<>]",
    re.IGNORECASE,
)
_UP = frozenset("more greater higher larger bigger longer older above over exceed exceeds exceeding least".split())  # noqa: SIM905 - words
_OTHERWISE = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|unless|until|except|excluding|else|otherwise"
    r"|rest|others?|remain\w{0,6}|but|while|whereas|instead|only|stops?|stopped|clears?|cleared|resolve[sd]?|recover\w{0,3}"
    r"|quiet|silent|suppress\w{0,3}|return|the same|opposite|drops?|falls?|rises?)\b|n't\b|[;{}()=&|!]",
    re.IGNORECASE,
)
"""Words that turn a sentence round, or bring a second case into it, and signs of code."""

_FOLLOWS = frozenset(
    content_terms(
        "alert alarm warning page notify notification fire trigger raise scale restart retry block reject deny approve "
        "approval refund ship shipping discount apply require charge fee bonus escalate lock expire delete archive "
        "eligible qualify grant throttle fail pass"
    )
)
"""What may follow from a limit."""

_EMPTY = frozenset(
    content_terms(
        "send sent fire raise trigger happen occur issue set start apply guide policy rule document config threshold "
        "limit when value level system according case percent reach"
    )
)
"""Words that say no more than that it follows."""


_ANY_WORD = re.compile(r"\w+")
_APART = frozenset(
    {"one", "two", "three", "four", "five", "ten", "first", "second", "third", "next", "last", "new", "old", "before"}
    | {"after", "off", "my", "your", "his", "her", "its", "our", "their", "always", "often", "usually", "sometimes"}
)
"""Words that say nothing of a subject, but which of two is meant."""


_WAY = re.compile(r"\b(?:up|down|out|through|past|(?:scal|zoom|log|opt|phas)(?:e[sd]?|ing|s)? in)\b", re.IGNORECASE)
_WAYS = frozenset({"up", "down", "out", "through", "past", "in"})
"""Words that turn a deed into another one."""


class _Limit(NamedTuple):
    key: tuple[float, str]
    up: bool
    terms: frozenset[str]
    found: re.Match[str]


def threshold_flip(material: Material) -> bool:
    """Whether what was given for one side of a figure is said, in the same words, for the other side of it."""
    if not holds_any(material.said_lower, _WORDS) or _LIMIT.search(material.said) is None:
        return False
    given: dict[tuple[float, str], list[_Limit]] = {}
    for count, limit in enumerate(_limits(material.given)):
        if count == _MOST_GIVEN:
            return False
        given.setdefault(limit.key, []).append(limit)
    return bool(given) and any(_flips(material, limit, given) for limit in islice(_limits(material.said), CLAIMS))


def _flips(material: Material, said: _Limit, given: dict[tuple[float, str], list[_Limit]]) -> bool:
    there = given.get(said.key, [])
    if not said.terms or any(limit.up is said.up or not limit.terms for limit in there):
        return False
    return any(_same_words(said.terms, limit.terms) for limit in there) and material.plain(*said.found.span())


def _same_words(said: frozenset[str], given: frozenset[str]) -> bool:
    """Whether nothing is said beyond what was given, and what follows from the limit is the same."""
    both = said & given
    if said & _WAYS != given & _WAYS:
        return False
    return said - given <= _EMPTY and (bool(both & _FOLLOWS) or (bool(both) and given - said <= _EMPTY))


def _limits(text: str) -> Iterator[_Limit]:
    """The limits in ``text``; those in a sentence that is no plain one have no terms."""
    for found in _LIMIT.finditer(text):
        late = "late_" if found["figure"] is None else ""
        mark = found["mark"]
        word = (found["late_word"] or found["word"] or "").lower()
        up = mark.startswith(">") if mark else not _UP.isdisjoint(word.split())
        if word.startswith(("no ", "not ")):
            up = not up
        unit = (found[f"{late}unit"] or "").strip().lower()
        unit = "%" if unit == "percent" else unit if unit == "%" or content_terms(unit) else ""
        key = number(found[f"{late}figure"]), f"{found[f'{late}sign']}{unit.removesuffix('s')}"
        begin, end = sentence_around(text, *found.span())
        rest = f"{text[begin : found.start()]} {text[found.end() : end]}"
        plain = _DIRECTED.search(rest) is None and _OTHERWISE.search(rest) is None
        yield _Limit(key, up, _terms(rest) if plain else frozenset(), found)


def _terms(sentence: str) -> frozenset[str]:
    """The stems of a sentence, and what else tells two things of a kind apart: A from B, the first from the last."""
    words = _ANY_WORD.findall(sentence)
    names = (word for at, word in enumerate(words) if not word.isascii() or not word.isalpha() or _is_letter(word, at))
    ways = (way.lower().split()[-1] for way in _WAY.findall(sentence))
    return frozenset({*content_terms(sentence), *names, *ways, *_APART.intersection(map(str.lower, words))})


def _is_letter(word: str, at: int) -> bool:
    return len(word) <= 2 and word.isupper() and (at > 0 or word not in "AI")


_WORDS = (
    *("than ", "at least", "at most", "above", "below", "over ", "under", "exceed", "up to", "<", ">"),
    *("or more", "or less", "or fewer", "or higher", "or lower", "or older", "or younger", "and over", "and higher"),
)
