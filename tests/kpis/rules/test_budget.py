"""The cost and the tokens against their limits."""

from __future__ import annotations

import pytest

from kpis.rules.presence import present
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case
from kpis.terms.evaluation_case import TokenCounts
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Need
from tests.kpis.rules.asking import claim


@pytest.mark.parametrize(
    ("cost", "over", "score"),
    [
        (0.1, False, 1.0),
        (0.1000001, True, 0.999999),
        (0.15, True, 0.5),
        (0.25, True, 0.0),
        (1.33, True, 0.0),
        (0, False, 1.0),
    ],
)
def test_the_cost(cost: float, over: bool, score: float) -> None:
    found = claim("cost_under_threshold", cost=cost)
    assert found.state is (ClaimState.FIRED if over else ClaimState.QUIET)
    assert found.score == pytest.approx(score)


def test_a_limit_of_nothing_leaves_nothing() -> None:
    assert claim("cost_under_threshold", cost=0.01, deployment={"cost_threshold": 0}).score == 0.0
    assert claim("cost_under_threshold", cost=0, deployment={"cost_threshold": 0}).state is ClaimState.QUIET


def test_a_cost_below_nothing_is_none() -> None:
    assert claim("cost_under_threshold", cost=-1).state is ClaimState.UNKNOWN
    assert claim("cost_under_threshold", cost=-1, reference=True).state is ClaimState.QUIET
    assert claim("cost_under_threshold").state is ClaimState.UNKNOWN


@pytest.mark.parametrize(
    ("prompt", "completion", "state", "score"),
    [
        (10, 50, ClaimState.QUIET, 1.0),
        (10, 51, ClaimState.FIRED, 0.98),
        (10, 75, ClaimState.FIRED, 0.5),
        (10, 200, ClaimState.FIRED, 0.0),
        (0, 10, ClaimState.UNKNOWN, 0.0),
        (None, 10, ClaimState.UNKNOWN, 0.0),
        (10, None, ClaimState.UNKNOWN, 0.0),
    ],
)
def test_the_ratio_of_tokens(prompt: float | None, completion: float | None, state: ClaimState, score: float) -> None:
    found = claim("verbosity_ratio", tokens=TokenCounts(prompt, completion, 99))
    assert found.state is state
    assert found.score == pytest.approx(score)


@pytest.mark.parametrize(("prompt", "completion"), [(-5, 900), (5, -1), (-5, -5)])
def test_correction_negative_tokens_are_absent(prompt: int, completion: int) -> None:
    counts = TokenCounts(prompt, completion)
    found = claim("verbosity_ratio", tokens=counts)
    assert found.skip is not None
    assert found.skip.reason == "a negative count of tokens is none"
    assert claim("verbosity_ratio", tokens=counts, reference=True).state is not ClaimState.UNKNOWN


def test_negative_counts_alone_are_no_evidence_of_tokens() -> None:
    theirs = Settings(corrections=frozenset())
    assert not present(Case("x", tokens=TokenCounts(-5, -1)))[Need.TOKENS]
    assert present(Case("x", tokens=TokenCounts(-5, 0)))[Need.TOKENS]
    assert present(Case("x", tokens=TokenCounts(-5, -1), settings=theirs))[Need.TOKENS]


@pytest.mark.parametrize(
    ("cost", "limit", "said"),
    [
        (1.0, 0.5, "$1.0000, over $0.5000"),
        (0.05, 0.05, "$0.0500, within $0.0500"),
        (4e-5, 3e-5, "$0.00004, over $0.00003"),
        (1.00001, 1.0, "$1.00001, over $1.00000"),
        (0, 1e-9, "$0.000000000, within $0.000000001"),
        (2e-30, 1e-30, "$2e-30, over $1e-30"),
    ],
)
def test_both_amounts_are_told_apart(cost: float, limit: float, said: str) -> None:
    assert claim("cost_under_threshold", cost=cost, deployment={"cost_threshold": limit}).note == said
