"""Length, blankness, sentences, expected words; and who chose the number that each is held against."""

from __future__ import annotations

from typing import Any

import pytest

from kpis.rules.thresholds import ThresholdError
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Count, Value
from kpis.terms.evaluation_words import SkipClass, ThresholdSource
from tests.kpis.rules.asking import claim, fires

LENGTH = "min_output_length"
COVERAGE = "expected_coverage"


@pytest.mark.parametrize(("length", "short", "score"), [(50, False, 1.0), (49, True, 0.98), (0, True, 0.0)])
def test_the_shortest_length(length: int, short: bool, score: float) -> None:
    found = claim(LENGTH, "x" * length)
    assert (found.state is ClaimState.FIRED, found.score) == (short, score)
    assert found.value == Value("length", "chars", length)


def test_one_short_of_a_long_minimum_is_not_all_but_one() -> None:
    assert claim(LENGTH, "x" * 999, deployment={"min_output_length": 1000}).score == 0.99


@pytest.mark.parametrize(("reference", "length"), [(False, 25), (True, 50)])
@pytest.mark.parametrize("rule", [LENGTH, "non_empty_output"])
def test_correction_characters_are_counted(rule: str, reference: bool, length: int) -> None:
    found = claim(rule, "\U0001f600" * 25, reference=reference)
    assert found.value == Value("length", "chars", length)


@pytest.mark.parametrize(
    ("deployment", "call", "threshold", "source"),
    [
        ({}, {}, 50, ThresholdSource.DEFAULT),
        ({"min_length": 7}, {}, 7, ThresholdSource.CONFIG),
        ({"min_length": 7, "min_output_length": 20}, {}, 20, ThresholdSource.CONFIG),
        ({"min_output_length": 20}, {"min_output_length": 40}, 40, ThresholdSource.CALL),
        ({"min_output_length": 50}, {}, 50, ThresholdSource.CONFIG),
        ({"min_output_length": 20}, {"min_output_length": None}, 20, ThresholdSource.CONFIG),
        ({}, {"min_output_length": None}, 50, ThresholdSource.DEFAULT),
    ],
)
def test_who_chose_is_told_by_the_key(
    deployment: dict[str, object], call: dict[str, object], threshold: float, source: ThresholdSource
) -> None:
    found = claim(LENGTH, "x", deployment=deployment, call=call)
    assert found.evidence == (Count("length", "chars", 1, threshold, source),)


def test_correction_null_is_unset() -> None:
    chosen: dict[str, Any] = {"deployment": {"min_output_length": 20}, "call": {"min_output_length": None}}
    for reference, least in ((False, 20), (True, 50)):
        (held,) = claim(LENGTH, "x", reference=reference, **chosen).evidence
        assert isinstance(held, Count)
        assert held.threshold == least


def test_the_reference_tells_it_by_the_value() -> None:
    for deployment, source in (({"min_output_length": 50}, "default"), ({"min_output_length": 51}, "config")):
        found = claim(LENGTH, "x", deployment=deployment, reference=True)
        assert isinstance(found.evidence[0], Count)
        assert found.evidence[0].source is ThresholdSource(source)


@pytest.mark.parametrize("value", ["50", True, [], float("nan"), float("inf"), 10**400])
def test_a_threshold_that_is_no_number_is_no_answer(value: object) -> None:
    with pytest.raises(ThresholdError, match="min_output_length"):
        claim(LENGTH, "x", deployment={"min_output_length": value})


@pytest.mark.parametrize("output", ["", " ", "\n\t\u00a0\ufeff\u2028"])
def test_a_blank_output_fires(output: str) -> None:
    found = claim("non_empty_output", output)
    assert (found.state, found.score, found.value) == (ClaimState.FIRED, 0.0, Value("length", "chars", 0))
    assert found.evidence == ()


def test_a_separator_is_no_white_space() -> None:
    assert not fires("non_empty_output", "\x1c")


def test_too_few_sentences() -> None:
    assert fires("sentence_count", "One only.")
    found = claim("sentence_count", "One. Two. Three.", deployment={"min_sentences": 4})
    assert (found.state, found.score) == (ClaimState.FIRED, 0.75)


@pytest.mark.parametrize(
    ("output", "expected", "missing", "score"),
    [
        ("alpha", "alpha beta", False, 0.5),
        ("one111 x", "one111 b222 c333 d444 e555 f666 g777 h888", True, 0.125),
        ("The the THE", "the The THE cat", False, 0.5),
        ("anything at all", "a b c 12", False, 1.0),
        ("caf\u00e9 noir", "cafe", True, 0.0),
    ],
)
def test_expected_words(output: str, expected: str, missing: bool, score: float) -> None:
    found = claim(COVERAGE, output, expected=expected)
    assert (found.state is ClaimState.FIRED, found.score) == (missing, score)


@pytest.mark.parametrize("expected", [None, "", "  "])
def test_without_an_expectation_there_is_no_answer(expected: str | None) -> None:
    found = claim(COVERAGE, "x", expected=expected)
    assert found.skip is not None
    assert found.skip.skip_class is SkipClass.NOT_APPLICABLE


def test_the_reference_takes_a_blank_expectation_for_one() -> None:
    assert claim(COVERAGE, "x", expected="  ", reference=True).state is ClaimState.QUIET


def test_one_is_told_in_the_singular() -> None:
    assert claim("sentence_count", output="One sentence.").note == "1 sentence, fewer than 2"
    assert claim("min_output_length", output="x").note == "1 char, fewer than 50"
    assert claim("min_output_length", output="xy").note == "2 chars, fewer than 50"
