"""Signs of fabrication in what one may, must and must not do: a choice told as a duty, a ban told as advice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from kpis.rules.anchors import holds_any
from kpis.rules.content_terms import content_terms
from kpis.rules.material import CLAIMS, Material, hedged, sentence_around

__all__ = ["forbidden_recommendation", "modality_strengthening"]

_MOST_GIVEN = 500
"""Sentences of the material that are looked at; where there are more, not all of it is known, and nothing is said."""

_END = r"[^.,;:!?()\n]"
_DEED = rf" (?P<deed>[a-z]{{2,20}}\b{_END}{{0,120}})"
_WEAK = re.compile(rf"\b(?:may|might|can|could|should){_DEED}")
_STRONG = re.compile(
    r"\b(?:(?P<will>will)|must|shall|ha(?:ve|s) to|needs? to|(?:is|are) (?:required|obliged|obligated) to)"
    rf"(?: always)?{_DEED}"
)
_CLAUSE = re.compile(r"[,;:()]")
_NAMED = 6
"""Words before the verb that may name who is to do it."""

_STRONG_WORDS = ("must ", " will ", "shall ", "have to ", "has to ", "need to ", "needs to ", "required to ", "oblig")
_WEAK_WORDS = ("may ", "might ", "can ", "could ", "should ")
_ROUND = (
    r"not|no|never|only|nor|neither|either|or|unless|until|without|except|if|when|whether|otherwise|so that|because|to"
)
_ROUND_BEFORE = re.compile(rf"\b(?:{_ROUND}|before|after|once|in order)\b|n't\b", re.IGNORECASE)
_ROUND_BEHIND = re.compile(rf"\b(?:{_ROUND})\b|n't\b", re.IGNORECASE)
"""Words with which a duty can follow from what was given, or is none."""

_NOBODY = frozenset({"you", "it", "they", "he", "she", "this", "that", "one", "we", "i"})

_IDLE = frozenset({"a", "an", "the", "also", "always"})
"""Words that do not change a deed."""

_BANNED = re.compile(
    r"(?:\A|(?<=[.!?\n] )|(?<=\n)|(?<=: )|(?<=\* )|(?<=- ))(?:please )?(?:you (?:must|should|may) (?:not|never) "
    r"|never |do not (?:ever )?|don't (?:ever )?|avoid (?=[a-z]{2,12}ing ))"
    r"(?P<verb>use|using|run|running|call|calling|install|installing) (?P<what>[^\s.,;:!?()][^,;:!?()\n]{1,60}?)"
    r"(?=[!\n]|\.(?:\s|\Z)|\Z)",
    re.IGNORECASE,
)
_ADVISED = re.compile(
    r"(?:\A|(?<=[.!?] )|(?<=[^:]\n))(?:(?:please|then|just|simply|instead|so|next),? )?"
    r"(?:(?:you (?:should|can|must)|i (?:would )?(?:recommend|suggest|advise)(?: that you| you(?: to)?| to)?"
    r"|(?:it is|it's) best to|the best (?:way|option) is to) )?"
    r"(?P<verb>use|using|run|running|call|calling|install|installing) (?P<rest>(?:[^\n.!?]|\.(?=\w)){2,80})",
    re.IGNORECASE,
)
_VERBS = {"using": "use", "running": "run", "calling": "call", "installing": "install"}
_UNADVISED = re.compile(
    r"\b(?:not|never|avoid|don't|whether|could|might|would be|forbid\w{0,5}|prohibited|banned|against|unsafe"
    r"|wrong|bad|instead of|rather than)\b",
    re.IGNORECASE,
)


class _Duty(NamedTuple):
    subject: frozenset[str]
    verb: str
    deed: frozenset[str]
    plain: bool
    begin: int
    end: int
    found: re.Match[str]


def modality_strengthening(material: Material) -> bool:
    """Whether what was given as allowed or advised is said, in the same words, to be a duty or a certainty."""
    if not holds_any(material.said, _STRONG_WORDS) or not holds_any(material.given, _WEAK_WORDS):
        return False
    weak: dict[str, list[_Duty]] = {}
    for count, duty in enumerate(_duties(_WEAK, material.given)):
        if count == _MOST_GIVEN:
            return False
        weak.setdefault(duty.verb, []).append(duty)
    if not weak:
        return False
    strong = {duty.verb for duty in islice(_duties(_STRONG, material.given), _MOST_GIVEN)}
    return any(
        duty.plain
        and duty.verb not in strong
        and any(_stronger(duty, given) for given in weak.get(duty.verb, []))
        and not hedged(material.said, duty.begin, duty.found.start())  # between the two stands ``will``, the claim
        and not hedged(material.said, duty.found.start("deed"), duty.end)
        for duty in islice(_duties(_STRONG, material.said), CLAIMS)
    )


def _duties(pattern: re.Pattern[str], text: str) -> Iterator[_Duty]:
    for found in pattern.finditer(text):
        verb, _, rest = found["deed"].partition(" ")
        begin, end = sentence_around(text, *found.span())
        before = text[begin : found.start()]
        doer = _CLAUSE.split(before.lower())[-1].split()[-_NAMED:]
        told = text[end : end + 1] != "?" and doer[-1:] not in (["i"], ["we"])  # no question, no plan of the speaker
        plain = told and _ROUND_BEFORE.search(before) is None and _ROUND_BEHIND.search(found["deed"]) is None
        named = frozenset(content_terms(" ".join(word for word in doer if word not in _NOBODY)))
        yield _Duty(named, verb.lower(), frozenset(rest.lower().split()) - _IDLE, plain, begin, end, found)


def _stronger(said: _Duty, given: _Duty) -> bool:
    """Whether both speak of the same deed of the same doer; a doer without a name is anyone's."""
    if not given.plain or said.deed != given.deed:
        return False
    if said.subject and given.subject:
        return said.subject == given.subject
    return said.found["will"] is None and bool(said.deed)


def forbidden_recommendation(material: Material) -> bool:
    """Whether to use, run, call or install something is advised that the material forbids without a condition."""
    if not holds_any(material.given_lower, ("never ", " not ", "do not", "don't ", "avoid ")):
        return False
    banned: dict[str, set[str]] = {}
    for ban in islice(_BANNED.finditer(material.given), _MOST_GIVEN):
        banned.setdefault(_verb(ban), set()).add(_bare(ban["what"]))
    if not banned or _advises(material.given, banned):
        return False
    return _advises(material.said, banned)


def _advises(text: str, banned: dict[str, set[str]]) -> bool:
    return any(
        _is_advice(text, *sentence_around(text, *advice.span()))
        and any(_begins(_bare(advice["rest"]), what) for what in banned.get(_verb(advice), ()))
        for advice in islice(_ADVISED.finditer(text), CLAIMS)
    )


def _is_advice(text: str, begin: int, end: int) -> bool:
    return text[end : end + 1] != "?" and _UNADVISED.search(text, begin, end) is None


def _verb(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    return _VERBS.get(verb, verb)


def _bare(what: str) -> str:
    """A thing without its article and the marks of code around it."""
    return re.sub(r"\A(?:the|an?) ", "", what.lower().replace("`", "").replace('"', "").strip())


def _begins(rest: str, what: str) -> bool:
    return rest.startswith(what) and re.match(r"(?:\Z|[\s,;:)](?!only\b))", rest[len(what) :]) is not None
