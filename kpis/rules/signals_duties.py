"""Signs of fabrication in what one may, must and must not do: a choice told as a duty, a ban told as advice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from kpis.rules.anchors import holds_any
from kpis.rules.assertion import sentence_around
from kpis.rules.content_terms import content_terms
from kpis.rules.material import CLAIMS, Material

__all__ = ["forbidden_recommendation", "modality_strengthening"]

_MOST_GIVEN = 500
"""Sentences of the material that are looked at; where there are more, not all of it is known, and nothing is said."""

_END = r"[^.,;:!?()\n]"
_DEED = rf" (?P<deed>[a-z]{{2,20}}\b{_END}{{0,120}})"
_WEAK = re.compile(rf"\b(?:may|might|(?P<can>can|could)|should){_DEED}")
_STRONG = re.compile(
    r"\b(?:(?P<will>will)|must|shall|ha(?:ve|s) to|needs? to|(?P<bound>(?:is|are) (?:required|obliged|obligated) to))"
    rf"(?: always)?{_DEED}"
)
_CLAUSE = re.compile(r"[,;:()]|\b(?:says|states|means|requires) that\b")
_NAMED = 6
"""Words before the verb that may name who is to do it."""

_STRONG_WORDS = ("must ", " will ", "shall ", "have to ", "has to ", "need to ", "needs to ", "required to ", "oblig")
_WEAK_WORDS = ("may ", "might ", "can ", "could ", "should ")
_ROUND = (
    r"not|no|never|only|nor|neither|either|or|unless|until|without|except|if|when|whether|otherwise|so that|because|to"
)
_ROUND_BEFORE = re.compile(
    rf"\b(?:{_ROUND}|before|after|once|in order|for|given|during|upon|while|as|with|in case|under|new)\b|n't\b",
    re.IGNORECASE,
)
_ROUND_BEHIND = re.compile(rf"\b(?:{_ROUND})\b|n't\b", re.IGNORECASE)
"""Words with which a duty can follow from what was given, or is none."""

_ONLY_WAY = re.compile(r"\b(?:on|at|with|within|by|in|via|through|from|using|before|during|until)\b")
"""Words of a place, a means or a term: who can do it there may well have to do it there."""

_TERM = re.compile(r"\b(?:within|before|by|until)\b")

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
    r"(?:\A|(?<=[.!?] )|(?<=[^:]\n))(?:(?:please|then|just|simply|so|next),? )?"
    r"(?:(?:(?:you (?:should|can|must)|(?:i|we) (?:would )?(?:recommend|suggest|advise)(?: that you| you(?: to)?| to)"
    r"|(?:it is|it's) best to|the best (?:way|option) is to) )?(?P<verb>use|run|call|install)"
    r"|(?:i|we) (?:would )?(?:recommend|suggest|advise) (?P<gerund>using|running|calling|installing))"
    r" (?P<rest>(?:[^\n.!?]|\.(?=\w)){2,80})",
    re.IGNORECASE,
)
"""An imperative, or advice in so many words: a gerund by itself only names what is spoken of."""

_VERBS = {"using": "use", "running": "run", "calling": "call", "installing": "install"}
_UNADVISED = re.compile(
    r"\b(?:avoid|could|might|would be|forbid\w{0,5}|prohibited|banned|against|unsafe|danger\w{0,4}|risk\w{0,2}|peril"
    r"|fired|bad|breaks?|violates?|off limits|of the past|instead of|rather than|only"
    r"|and you(?:'ll| will| get| are)?)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\Z|[\s,;:)]")
_SCOPED = re.compile(r"\s(?:in|on|with|at|within|under|inside|when|where)\b")
"""What narrows the advice to a place or a case that the ban may not mean."""


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
        and material.plain(duty.found.start(), duty.found.start("deed"))
        for duty in islice(_duties(_STRONG, material.said), CLAIMS)
    )


def _duties(pattern: re.Pattern[str], text: str) -> Iterator[_Duty]:
    for found in pattern.finditer(text):
        verb, _, rest = found["deed"].partition(" ")
        begin, end = sentence_around(text, *found.span())
        before = text[begin : found.start()]
        doer = _CLAUSE.split(before.lower())[-1].split()[-_NAMED:]
        told = text[end : end + 1] != "?" and doer[-1:] not in (["i"], ["we"])  # no question, no plan of the speaker
        behind = text[found.start("deed") : end]
        plain = told and _ROUND_BEFORE.search(before) is None and _ROUND_BEHIND.search(behind) is None
        named = frozenset(content_terms(" ".join(word for word in doer if word not in _NOBODY)))
        yield _Duty(named, verb.lower(), frozenset(rest.lower().split()) - _IDLE, plain, begin, end, found)


def _stronger(said: _Duty, given: _Duty) -> bool:
    """Whether both speak of the same deed of the same doer; a doer without a name is anyone's."""
    if not given.plain or said.deed != given.deed or _TERM.search(said.found["deed"]):
        return False
    if given.found["can"] and (
        said.found["will"] or (not said.found["bound"] and _ONLY_WAY.search(said.found["deed"]))
    ):
        return False  # what one is able to do, and the way in which it is done
    if said.subject and given.subject:
        return said.subject == given.subject
    return said.found["will"] is None and bool(said.deed)


def forbidden_recommendation(material: Material) -> bool:
    """Whether to use, run, call or install something is advised that the material forbids without a condition."""
    if not holds_any(material.given_lower, ("never ", " not ", "do not", "don't ", "avoid ")):
        return False
    banned: dict[str, set[str]] = {}
    for ban in islice(_BANNED.finditer(material.given), _MOST_GIVEN):
        banned.setdefault(_verb(ban["verb"]), set()).add(_bare(ban["what"]))
    if not banned or any(_advises(material.given, banned)):
        return False
    return any(material.plain(advice.start(), advice.start("rest")) for advice in _advises(material.said, banned))


def _advises(text: str, banned: dict[str, set[str]]) -> Iterator[re.Match[str]]:
    """Where ``text`` advises what is banned, in the words of advice."""
    for advice in islice(_ADVISED.finditer(text), CLAIMS):
        begin, end = sentence_around(text, *advice.span())
        if _UNADVISED.search(text, begin, end):
            continue
        if any(
            _begins(_bare(advice["rest"]), what) for what in banned.get(_verb(advice["verb"] or advice["gerund"]), ())
        ):
            yield advice


def _verb(word: str) -> str:
    verb = word.lower()
    return _VERBS.get(verb, verb)


def _bare(what: str) -> str:
    """A thing without its article and the marks of code around it."""
    return re.sub(r"\A(?:the|an?) ", "", what.lower().replace("`", "").replace('"', "").strip())


def _begins(rest: str, what: str) -> bool:
    behind = rest[len(what) :]
    return rest.startswith(what) and _ENDS.match(behind) is not None and _SCOPED.match(behind) is None
