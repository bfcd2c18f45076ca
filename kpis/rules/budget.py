"""Was it worth its price: the cost against a limit, and the tokens said against the tokens asked with."""

from __future__ import annotations

from kpis.rules.claims import held, skipped
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import threshold
from kpis.terms.evaluation import Count, RuleClaim, RuleFacts, Value
from kpis.terms.evaluation_words import Bundle, Correction, FailureClass, Mechanism, Need, Question, RuleKind

__all__ = ["COST", "VERBOSITY", "dollars"]

MOST_USD = 0.10
MOST_RATIO = 5.0
_DECIMALS = range(4, 18)


def dollars(cost: float, limit: float) -> tuple[str, str]:
    """Both in dollars, with as many decimals as tell them apart and from nought: four at least."""
    for places in _DECIMALS:
        one, other = f"{cost:.{places}f}", f"{limit:.{places}f}"
        apart = one != other or cost == limit
        if apart and bool(float(one)) is bool(cost) and bool(float(other)) is bool(limit):
            return f"${one}", f"${other}"
    return f"${cost!r}", f"${limit!r}"


def _cost(subject: Subject) -> RuleClaim:
    cost = subject.case.cost
    if cost is None:
        return skipped("no cost was sent")
    if cost < 0 and subject.has(Correction.NEGATIVE_COST_IS_ABSENT):
        return skipped("a negative cost is none")
    most = threshold(subject.case.settings, MOST_USD, "cost_threshold")
    inside = cost <= most.value
    spent, limit = dollars(cost, most.value)
    return held(
        inside,
        f"{spent}, {'within' if inside else 'over'} {limit}",
        score=1.0 if inside else _over(cost, most.value),
        value=Value("cost", "usd", cost),
        evidence=[Count("cost", "usd", cost, most.value, most.source)],
    )


def _over(value: float, most: float) -> float:
    """What is left of the score when ``value`` exceeds ``most``: nothing from twice as much on."""
    if most <= 0:
        return 0.0
    return max(0.0, 1 - (value - most) / most)


def _verbosity(subject: Subject) -> RuleClaim:
    tokens = subject.case.tokens
    if tokens is None or tokens.prompt is None or tokens.completion is None or tokens.prompt == 0:
        return skipped("the tokens of prompt and completion were not both sent")
    if min(tokens.prompt, tokens.completion) < 0 and subject.has(Correction.NEGATIVE_TOKENS_ARE_ABSENT):
        return skipped("a negative count of tokens is none")
    ratio = tokens.completion / tokens.prompt
    most = threshold(subject.case.settings, MOST_RATIO, "max_token_ratio")
    inside = ratio <= most.value
    stat = "completion_to_prompt_ratio"
    return held(
        inside,
        f"{ratio:.2f} tokens out for one in, {'within' if inside else 'over'} {most.value:g}",
        score=1.0 if inside else _over(ratio, most.value),
        value=Value(stat, "ratio", ratio),
        evidence=[Count(stat, "ratio", ratio, most.value, most.source)],
    )


def _facts(name: str, weight: float, kind: RuleKind, need: Need) -> RuleFacts:
    return RuleFacts(
        name,
        Bundle.COST,
        weight,
        kind,
        Mechanism.FORMULA,
        (need,),
        Question.WITHIN_BUDGET,
        (FailureClass.OVER_BUDGET,),
    )


COST = Rule(_facts("cost_under_threshold", 1.0, RuleKind.POLICY, Need.COST), _cost)
VERBOSITY = Rule(_facts("verbosity_ratio", 0.5, RuleKind.MEASUREMENT, Need.TOKENS), _verbosity)
