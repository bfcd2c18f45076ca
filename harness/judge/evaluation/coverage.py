"""What a case carried, and which questions its rules could answer: judged, unjudged and why, or never asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from types import MappingProxyType

from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_words import Need, Question, SkipClass

__all__ = ["Asked", "Coverage", "Status", "coverage_of", "why_skipped"]


class Status(Enum):
    """How far a question got."""

    JUDGED = "judged"  # some rule that asks it answered; ``of`` says out of how many
    UNJUDGED = "unjudged"  # rules ask it, and none could answer
    NOT_APPLICABLE = "not_applicable"  # no rule that ran asks it


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: ``evaluated`` of the ``of`` rules that ask it answered; ``why`` where none did."""

    question: Question
    status: Status
    why: str | None
    evaluated: int
    of: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """``inputs`` says of every need whether the case carried it; ``questions`` are all seven, in their order."""

    inputs: Mapping[Need, bool]
    questions: tuple[Asked, ...]


def why_skipped(findings: Sequence[Finding]) -> str:
    """Why none of ``findings`` answered: what was defeated, else what is defined wrongly, else every reason once."""
    for skip_class, words in (
        (SkipClass.DEFEATED, "reached its bound on work"),
        (SkipClass.CONFIG_INVALID, "is defined wrongly"),
    ):
        names = [item.rule.name for item in findings if item.claim.skip and item.claim.skip.skip_class is skip_class]
        if names:
            return f"{', '.join(names)} {words}"
    return "; ".join(dict.fromkeys(item.claim.skip.reason for item in findings if item.claim.skip))


_NEVER_ASKED = {name: Asked(name, Status.NOT_APPLICABLE, "no rule that ran asks this", 0, 0) for name in Question}


def _asked(question: Question, findings: Sequence[Finding]) -> Asked:
    asking = [item for item in findings if item.rule.question is question]
    if not asking:
        return _NEVER_ASKED[question]
    answered = sum([item.claim.state is not ClaimState.UNKNOWN for item in asking])
    if answered:
        return Asked(question, Status.JUDGED, None, answered, len(asking))
    return Asked(question, Status.UNJUDGED, why_skipped(asking), 0, len(asking))


@lru_cache(maxsize=1 << len(Need))
def _inputs(present: frozenset[Need]) -> Mapping[Need, bool]:
    return MappingProxyType({need: need in present for need in Need})


def coverage_of(findings: Sequence[Finding], present: frozenset[Need]) -> Coverage:
    """The coverage of a case that carried ``present``, by the findings of all rules that ran."""
    return Coverage(_inputs(present), tuple([_asked(question, findings) for question in Question]))
