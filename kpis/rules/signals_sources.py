"""Signs of fabrication in what is said of the material itself: that it lacks what it has, or holds what nobody said."""

from __future__ import annotations

import re
from itertools import islice

from kpis.rules.anchors import holds_any
from kpis.rules.assertion import sentence_around
from kpis.rules.content_terms import content_terms
from kpis.rules.material import CLAIMS, Material
from kpis.rules.people import NOT_OF_A_PERSON, is_given_name, same_given_name

__all__ = ["false_absence_claim", "ungrounded_attribution"]

_WHOLE = (
    r"(?:the|this|your) (?:(?:provided|given|supplied|attached|whole|entire|above) )?"
    r"(?:document|text|input|material|context|information|passage|source)"
)
_SAYS = r"(?:mention|contain|include|describe|cover|(?P<exact>list|name|state|specify|define))"
_SAID = r"(?:mentioned|described|(?P<exact>listed|named|stated|specified|defined))"
_TAIL = rf"(?: at all| anywhere)?(?: in {_WHOLE})?(?=[.,;!?)\n]|\Z)"
_WORD = r"\w[\w'/-]{0,40}"
_WHAT = rf"(?P<what>{_WORD}(?: {_WORD}){{0,4}}?)"
_ITS = r"(?:(?:any|an?|the|its) )?"
_LACKS = re.compile(
    rf"(?:\b{_WHOLE} (?:does not|doesn't|do not|don't|never) {_SAYS}s?"
    rf"|\b(?:there (?:is|was)|i (?:found|find|saw|see)) no (?:mention|trace) of) {_ITS}{_WHAT}{_TAIL}",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    rf"(?:\A|(?<=[.!?] )|(?<=[.!?:\n]\n))(?:the )?{_WHAT} (?:is|are|was|were) (?:not|never) {_SAID}{_TAIL}",
    re.IGNORECASE,
)
_ABSENCE_WORDS = (" no mention of ", " no trace of ", " not ", "n't ", " never ")
_VAGUE = frozenset(
    content_terms(
        "information data details anything thing answers evidence reason errors issues problems sources date name "
        "number value figure specific instructions requirements examples context content section title"
    )
)
"""What is said to be missing in so many words without the words being meant."""

_PART = re.compile(
    r"\b(?:sections?|chapters?|paragraphs?|clauses?|articles?|appendix|parts?|pages? [0-9]+|rows?|columns?|tables?"
    r"|lines?|first|second|third|last|former|latter|other|only in|under)\b",
    re.IGNORECASE,
)
"""Signs that a part of the material is spoken of, here or in the sentence before."""

_BEFORE = 240
_SCOPE = re.compile(r"\b(?:in|on|from|within|among)\b", re.IGNORECASE)

_ANSWERED = re.compile(
    r"\b(?:not|no|none|never|without|n/?a|unknown|unspecified|tbd|whether|asks?|asked|question|quer(?:y|ies)|topic|task"
    r"|subject|search|find|mentions?|mentioned|about|regarding|i|i'm|my|me|please|elsewhere|separate\w{0,2}|other|another"
    r"|scope|outside|beyond|removed?|removal|follow\w{0,3}|left|omit\w{0,4}|missing|blank|empty|to be|to come|yet"
    r"|request|see|refer\w{0,3}|consult|contact|depends?|discretion|open|pending|later|future|vary|varies|var(?:ied|ying)|soon"
    r"|pages?|sheets?|chapters?|link\w{0,3}|appendix|annex|attach\w{0,4}|announced|decided|agreed|individual\w{0,2})\b|n't\b|\?",
    re.IGNORECASE,
)
"""Words of a sentence that names a thing and does not tell of it: a request, a question, a denial, a pointer."""

_TELLS = (
    r"(?:is|are|was|were|has|have|had|can|must|may|will|shall|does|do|takes?|costs?|appl(?:y|ies)|starts?|ends?|expires?"
    r"|runs?|works?|needs?|requires?|includes?|contains?|covers?|comes?|goes|go|gets?|lasts?|arrives?|belongs?|depends?"
    r"|allows?|lets?|makes?|gives?|stands?|remains?|stays?|becomes?|begins?|follows?|uses?)"
)
_HEAD = re.compile(r"(?:\A|\n|[.!?] |[-*] )(?:the |our |all |each |every |an? )?\Z")
_LONGEST_HEAD = 8
_VALUE = r"[ \t]?[:=][ \t]?(?=[\"'$\u20ac\u00a3(]{0,2}\w)"
_GOES_ON = re.compile(rf"s?(?:{_VALUE}|[ \t]{_TELLS}\b)")
_GIVES_IT = re.compile(
    rf"[Ss]?(?:{_VALUE}|[ \t](?:is|are|was|were)[ \t](?:[$\u20ac\u00a3]?[0-9]|[\"']?[A-Z])"
    r"|[ \t](?:takes?|costs?|lasts?)[ \t][$\u20ac\u00a3]?[0-9])"
)
"""What gives a thing its value: without one it is neither named nor specified."""

_PERSON = r"[A-Z][a-z]{1,20}(?: [A-Z]\.)?(?: [A-Z][a-z]{1,20}){1,2}"
_TOLD = r"(?:says?|said|stated?|states|wrote|writes|argued|argues|claimed|claims|noted|notes|added|explained|reported)"
_TITLE = r"(?:Dr|Prof|Mr|Mrs|Ms)\.? "
_NAMED = re.compile(
    rf"\b(?:[Aa]ccording to |in the words of )(?P<title>{_TITLE})?(?P<one>{_PERSON})\b(?!['\u2019]s\b)"
    rf"|(?<!\bthe )(?<!\bThe )\b(?P<mister>{_TITLE})?(?P<two>{_PERSON}),? {_TOLD}\b"
)
_SPEAKER = re.compile(
    rf"^[ \t>*-]{{0,6}}{_PERSON}(?: \([^)\n]{{1,40}}\))?: [^\n]{{0,200}}?\b(?:I|we|We|my|our|you)\b"
    rf"|\b{_PERSON},? {_TOLD}\b",
    re.MULTILINE,
)
"""Somebody who speaks of themselves behind their name, or of whom it is told that they said something."""

_BY_ONE_NAME = re.compile(
    rf"^[ \t>*-]{{0,6}}([A-Z][a-z]{{1,20}}): [^\n]{{0,200}}?\b(?:I|we|We|my|our|you)\b"
    rf"|\b([A-Z][a-z]{{1,20}}),? {_TOLD}\b",
    re.MULTILINE,
)
_OF_A_PERSON = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b")


def false_absence_claim(material: Material) -> bool:
    """Whether the whole material is said not to hold, in so many words, what a sentence or a line of it begins with."""
    if not holds_any(material.said_lower, _ABSENCE_WORDS):
        return False
    claims = [*islice(_LACKS.finditer(material.said), CLAIMS), *islice(_UNSAID.finditer(material.said), CLAIMS)]
    return any(
        _of_all(material.said, claim) and _tells_of(material, claim) and material.plain(*claim.span())
        for claim in claims
    )


def _of_all(said: str, claim: re.Match[str]) -> bool:
    """Whether it is not said of a part of the material alone."""
    begin, end = sentence_around(said, *claim.span())
    if _PART.search(said, max(0, begin - _BEFORE), claim.start()) or _PART.search(said, claim.end(), end):
        return False
    beside = _SCOPE.search(said, begin, claim.start()) or _SCOPE.search(said, claim.end(), end)
    return beside is None


def _tells_of(material: Material, claim: re.Match[str]) -> bool:
    """Whether a sentence that was given begins with what is said to lack, and goes on to tell of it."""
    given, what = material.given_lower, claim["what"]
    if set(content_terms(what)) <= _VAGUE:
        return False
    if len(given) != len(material.given):
        return False  # a letter that is two small ones: the places are not the same
    stem = what.lower().removesuffix("s")
    at = given.find(stem)
    for _ in range(CLAIMS):
        if at < 0:
            return False
        end = at + len(stem)
        # A text that goes on further back does not begin here.
        before = given[:at] if at <= _LONGEST_HEAD else f"|{given[at - _LONGEST_HEAD : at]}"
        if _HEAD.search(before) and (tells := _tells(material, end, exact=claim["exact"] is not None)):
            rest = sentence_around(given, at, tells.end())[1] + 1
            if _ANSWERED.search(given, end, rest) is None:
                return True
        at = given.find(stem, end)
    return False


def _tells(material: Material, end: int, *, exact: bool) -> re.Match[str] | None:
    return _GIVES_IT.match(material.given, end) if exact else _GOES_ON.match(material.given_lower, end)


def ungrounded_attribution(material: Material) -> bool:
    """Whether something is put into the mouth of a person who was not given, though it was given who said what."""
    said = material.said
    if not holds_any(material.said_lower, _ATTRIBUTION_WORDS) or _SPEAKER.search(material.given) is None:
        return False
    known = _Known(material.given)
    return any(
        _is_stranger(found, known) and known.speaks_of(said, found) and material.plain(*found.span())
        for found in islice(_NAMED.finditer(said), CLAIMS)
    )


class _Known:
    """What was given of people: the text in small letters, its terms, and those who speak by one name alone."""

    def __init__(self, given: str) -> None:
        self.lower = given.lower()
        self.terms = frozenset(content_terms(given))
        self.by_one_name = {(one or other).lower() for one, other in _BY_ONE_NAME.findall(given)}

    def speaks_of(self, said: str, found: re.Match[str]) -> bool:
        """Whether what is put into the mouth touches what was given."""
        begin, end = sentence_around(said, *found.span())
        rest = f"{said[begin : found.start()]} {said[found.end() : end]}"
        return not self.terms.isdisjoint(content_terms(rest))


def _is_stranger(found: re.Match[str], known: _Known) -> bool:
    """Whether it is the name of a person, with certainty, and no part of it was given."""
    parts = [part for part in (found["one"] or found["two"]).lower().split() if not part.endswith(".")]
    if not NOT_OF_A_PERSON.isdisjoint(parts) or any(part in known.lower for part in parts):
        return False
    if any(same_given_name(parts[0], name) for name in known.by_one_name):
        return False
    behind = found.string[found.end() : found.end() + 160]
    return bool(is_given_name(parts[0]) or found["title"] or found["mister"] or _OF_A_PERSON.search(behind))


_ATTRIBUTION_WORDS = (
    *("according to", "the words of", " say", " said", " state", " wrote", " writes", " argue", " claim", " note"),
    *(" added", " explained", " reported"),
)
