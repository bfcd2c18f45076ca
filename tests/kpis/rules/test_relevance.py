"""Words of the ask that come back, and sentences that hang together."""

from __future__ import annotations

import pytest

from kpis.rules.content_terms import content_terms, without_fences
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Value
from tests.kpis.rules.asking import claim

ASK = "What does the retention sweep remove from the store, and when does it run?"
ANSWER = (
    "The retention sweep removes traces older than thirty days from the store. It runs at boot and then once every day."
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The policies of the boxes", ["polici", "box"]),
        ("passes class status basis", ["pass", "class", "status", "basis"]),
        ("running stopped quickly retention", ["run", "stop", "retent"]),
        ("evaluateAll EvalEngine", ["evalu", "eval", "engin"]),
        ("see https://x.org for a summary", []),
        ("```\ncode here\n``` prose", ["pros"]),
        ("an open ``` fence stays", ["open", "fenc", "stay"]),
    ],
)
def test_stems(text: str, terms: list[str]) -> None:
    assert content_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "kept"), [("a```b```c", "a c"), ("a```b", "a```b"), ("a```b```c```d", "a c```d"), ("abc", "abc")]
)
def test_fences_go_in_pairs(text: str, kept: str) -> None:
    assert without_fences(text) == kept


def test_an_answer_to_the_point() -> None:
    assert claim("keyword_overlap", ANSWER, input=ASK).value == Value("input_terms_in_output", "ratio", 1.0)
    assert claim("topic_consistency", ANSWER, input=ASK).value == Value("connected_sentences", "ratio", 1.0)


def test_an_answer_to_something_else() -> None:
    other = "Bananas ripen faster in paper bags. Bakers prefer yellow ones with spots."
    for rule in ("keyword_overlap", "topic_consistency"):
        found = claim(rule, other, input=ASK)
        assert (found.state, found.score) == (ClaimState.FIRED, 0.0)


def test_a_share_is_enough_at_its_threshold_and_scores_double() -> None:
    found = claim("keyword_overlap", "cache", input="cache latency", deployment={"keyword_overlap": 0.5})
    assert (found.state, found.score) == (ClaimState.QUIET, 1.0)
    found = claim("keyword_overlap", "cache", input="cache latency retention sweep")
    assert (found.state, found.score) == (ClaimState.FIRED, 0.5)


@pytest.mark.parametrize("rule", ["keyword_overlap", "topic_consistency"])
@pytest.mark.parametrize("text", [None, "", " \n"])
def test_without_an_input_there_is_no_answer(rule: str, text: str | None) -> None:
    assert claim(rule, ANSWER, input=text).state is ClaimState.UNKNOWN


def test_an_input_of_nothing_but_small_words_asks_for_nothing() -> None:
    found = claim("keyword_overlap", ANSWER, input="what is it?")
    assert (found.state, found.score, found.value, found.evidence) == (ClaimState.QUIET, 1.0, None, ())


@pytest.mark.parametrize(
    ("output", "asked", "score"),
    [
        ("Port is 6920 by default", ASK, 1.0),  # too short to drift, which reads as nothing wrong
        ("1 2 3", ASK, 0.0),
        (ANSWER, "a b c", 0.0),
        (ANSWER, "what when where does this", 0.0),
        ("these those there where which while", ASK, 0.0),
    ],
)
def test_what_cannot_drift(output: str, asked: str, score: float) -> None:
    found = claim("topic_consistency", output, input=asked)
    assert (found.state, found.score) == (ClaimState.UNKNOWN, score)


def test_items_under_a_lead_in_belong_to_it() -> None:
    listed = "The retention sweep removes:\n- bananas forever\n- elephants everywhere\n\n1) kangaroos jumping"
    found = claim("topic_consistency", listed, input=ASK)
    assert found.value == Value("connected_sentences", "ratio", 1.0)
    loose = listed.replace("The retention sweep removes:", "Curious animals:")
    assert claim("topic_consistency", loose, input=ASK).value == Value("connected_sentences", "ratio", 0.0)


def test_a_sentence_carries_on_from_the_one_before() -> None:
    chained = "The sweep touches partitions. Partitions hold elephants. Elephants remember everything vividly."
    assert claim("topic_consistency", chained, input=ASK).value == Value("connected_sentences", "ratio", 1.0)
