"""Signs of fabrication in what is said of the material itself: that it lacks what it has, or holds what nobody said."""

from __future__ import annotations

import re
from itertools import islice

from kpis.rules.anchors import holds_any
from kpis.rules.content_terms import content_terms
from kpis.rules.material import CLAIMS, Material, hedged, sentence_around

__all__ = ["false_absence_claim", "ungrounded_attribution"]

_WHOLE = (
    r"(?:the|this|your) (?:(?:provided|given|supplied|attached|whole|entire|above) )?"
    r"(?:document|text|input|material|context|information|passage|source)"
)
_SAYS = r"(?:mention|contain|include|list|name|state|specify|describe|cover|define)"
_SAID = r"(?:mentioned|listed|named|stated|specified|described|defined)"
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
    r"|subject|search|find|mentions?|mentioned|about|regarding|i|i'm|my|me|please)\b|n't\b|\?",
    re.IGNORECASE,
)
"""Words of a sentence that names a thing and does not tell of it: a request, a question, a denial."""

_TELLS = (
    r"(?:is|are|was|were|has|have|had|can|must|may|will|shall|does|do|takes?|costs?|appl(?:y|ies)|starts?|ends?|expires?"
    r"|runs?|works?|needs?|requires?|includes?|contains?|covers?|comes?|goes|go|gets?|lasts?|arrives?|belongs?|depends?"
    r"|allows?|lets?|makes?|gives?|stands?|remains?|stays?|becomes?|begins?|follows?|uses?)"
)
_HEAD = re.compile(r"(?:\A|\n|[.!?] |[-*] )(?:the |our |all |each |every |an? )?\Z")
_LONGEST_HEAD = 8
_GOES_ON = re.compile(rf"s?(?:[ \t]?[:=][ \t]?(?=[^\s\[{{])|[ \t]{_TELLS}\b)")

_PERSON = r"[A-Z][a-z]{1,20}(?: [A-Z]\.)?(?: [A-Z][a-z]{1,20}){1,2}"
_TOLD = r"(?:says?|said|stated?|states|wrote|writes|argued|argues|claimed|claims|noted|notes|added|explained|reported)"
_NAMED = re.compile(
    rf"\b(?:[Aa]ccording to |in the words of )(?:Dr\.? |Prof\.? |Mr\.? |Mrs\.? |Ms\.? )?(?P<one>{_PERSON})"
    rf"|(?<!\bthe )(?<!\bThe )\b(?P<two>{_PERSON}),? {_TOLD}\b"
)
_SPEAKER = re.compile(
    rf"^[ \t>*-]{{0,6}}{_PERSON}(?: \([^)\n]{{1,40}}\))?: [^\n]{{0,200}}?\b(?:I|we|We|my|our|you)\b"
    rf"|\b{_PERSON},? {_TOLD}\b",
    re.MULTILINE,
)
"""Somebody who speaks of themselves behind their name, or of whom it is told that they said something."""

_NO_PERSON = frozenset(
    {"manager", "owner", "lead", "engineer", "team", "director", "officer", "president", "chief", "head", "editor"}
    | {"author", "user", "customer", "support", "service", "department", "committee", "board", "council", "ministry"}
    | {"agency", "office", "court", "university", "institute", "inc", "ltd", "corp", "company", "group", "report"}
    | {"guide", "manual", "policy", "act", "law", "news", "times", "post", "journal", "overflow", "docs"}
)
"""Parts of a name that show that it is not a person's."""


def false_absence_claim(material: Material) -> bool:
    """Whether the whole material is said not to hold, in so many words, what a sentence or a line of it begins with."""
    if not holds_any(material.said_lower, _ABSENCE_WORDS):
        return False
    claims = [*islice(_LACKS.finditer(material.said), CLAIMS), *islice(_UNSAID.finditer(material.said), CLAIMS)]
    return any(_of_all(material.said, claim) and _tells_of(material.given_lower, claim["what"]) for claim in claims)


def _of_all(said: str, claim: re.Match[str]) -> bool:
    """Whether it is asserted, and not of a part of the material alone."""
    begin, end = sentence_around(said, *claim.span())
    if _PART.search(said, max(0, begin - _BEFORE), claim.start()) or _PART.search(said, claim.end(), end):
        return False
    beside = _SCOPE.search(said, begin, claim.start()) or _SCOPE.search(said, claim.end(), end)
    return beside is None and not hedged(said, begin, end)


def _tells_of(given: str, what: str) -> bool:
    """Whether a sentence of ``given``, in small letters, begins with ``what`` and goes on to tell of it."""
    if set(content_terms(what)) <= _VAGUE:
        return False
    stem = what.lower().removesuffix("s")
    at = given.find(stem)
    for _ in range(CLAIMS):
        if at < 0:
            return False
        end = at + len(stem)
        # A text that goes on further back does not begin here.
        before = given[:at] if at <= _LONGEST_HEAD else f"|{given[at - _LONGEST_HEAD : at]}"
        if _HEAD.search(before) and (tells := _GOES_ON.match(given, end)):
            rest = sentence_around(given, at, tells.end())[1] + 1
            if _ANSWERED.search(given, end, rest) is None:
                return True
        at = given.find(stem, end)
    return False


def ungrounded_attribution(material: Material) -> bool:
    """Whether something is put into the mouth of a person who was not given, though it was given who said what."""
    said = material.said
    if not holds_any(material.said_lower, _ATTRIBUTION_WORDS) or _SPEAKER.search(material.given) is None:
        return False
    return material.any_asserted(found for found in _NAMED.finditer(said) if _is_stranger(found, material.given_lower))


def _is_stranger(found: re.Match[str], given: str) -> bool:
    """Whether it is the name of a person, and no part of it was given."""
    parts = [part for part in (found["one"] or found["two"]).lower().split() if not part.endswith(".")]
    return _NO_PERSON.isdisjoint(parts) and not any(part in given for part in parts)


_ATTRIBUTION_WORDS = (
    *("according to", "the words of", " say", " said", " state", " wrote", " writes", " argue", " claim", " note"),
    *(" added", " explained", " reported"),
)
