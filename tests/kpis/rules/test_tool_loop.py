"""Trajectories that go in circles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.call_key import call_key
from kpis.rules.cycles import longest_alternation, longest_cycle
from kpis.rules.thresholds import ThresholdError
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Count, ToolCallAt, Value
from kpis.terms.evaluation_case import ABSENT, ToolCall
from kpis.terms.evaluation_words import ThresholdSource
from tests.kpis.rules.asking import calls, claim

LOOP = "no_tool_loop"


@pytest.mark.parametrize(
    ("trajectory", "state", "score", "value"),
    [
        ("aaa", ClaimState.QUIET, 1.0, ("max_repeats_of_one_call", "calls", 3)),
        ("aaaa", ClaimState.FIRED, 0.75, ("max_repeats_of_one_call", "calls", 4)),
        ("aaaaaaaa", ClaimState.FIRED, 0.0, ("max_repeats_of_one_call", "calls", 8)),
        ("abacaba", ClaimState.FIRED, 0.75, ("max_repeats_of_one_call", "calls", 4)),
        ("abab", ClaimState.QUIET, 1.0, ("max_repeats_of_one_call", "calls", 2)),
        ("ababab", ClaimState.FIRED, 0.75, ("two_call_cycles", "cycles", 3)),
        ("abababa", ClaimState.FIRED, 0.75, ("max_repeats_of_one_call", "calls", 4)),
        ("abcabcabc", ClaimState.FIRED, 0.75, ("call_cycles", "cycles", 3)),
        ("abcabc", ClaimState.QUIET, 1.0, ("max_repeats_of_one_call", "calls", 2)),
    ],
)
def test_circles(trajectory: str, state: ClaimState, score: float, value: tuple[str, str, int]) -> None:
    found = claim(LOOP, tool_calls=calls(trajectory))
    assert (found.state, found.score, found.value) == (state, score, Value(*value))


def test_the_reference_sees_rounds_of_two_only() -> None:
    assert claim(LOOP, tool_calls=calls("abcabcabc"), reference=True).state is ClaimState.QUIET


def test_a_round_of_two_names_every_call_of_either() -> None:
    found = claim(LOOP, tool_calls=calls("abxababab"), deployment={"max_tool_repeats": 9})
    assert found.evidence[0] == Count("two_call_cycles", "cycles", 3, 2, ThresholdSource.RULE)
    assert [item.index for item in found.evidence if isinstance(item, ToolCallAt)] == [0, 1, 3, 4, 5, 6, 7, 8]


def test_evidence_is_capped() -> None:
    found = claim(LOOP, tool_calls=calls("a" * 60))
    assert len(found.evidence) == 25
    assert sum(isinstance(item, ToolCallAt) for item in found.evidence) == 24


@pytest.mark.parametrize("setting", [0, -1, 0.5, "9", float("nan"), True, []])
def test_correction_repeats_are_counted(setting: object) -> None:
    """For the reference what is no limit is none, and its own number stands."""
    chosen = {"deployment": {"max_tool_repeats": setting}}
    with pytest.raises(ThresholdError, match=r"max_tool_repeats is set to .*, and has to be "):
        claim(LOOP, tool_calls=calls("aaaa"), **chosen)
    found = claim(LOOP, tool_calls=calls("aaaa"), reference=True, **chosen)
    assert found.evidence[0] == Count("max_repeats_of_one_call", "calls", 4, 3, ThresholdSource.DEFAULT)
    assert claim(LOOP, tool_calls=(), **chosen).state is ClaimState.UNKNOWN, "without a trajectory nobody asks"


def test_a_limit_that_nobody_set_is_ours() -> None:
    found = claim(LOOP, tool_calls=calls("aaaa"), deployment={"max_tool_repeats": None})
    assert found.evidence[0] == Count("max_repeats_of_one_call", "calls", 4, 3, ThresholdSource.DEFAULT)


def test_a_limit_is_a_whole_number() -> None:
    assert claim(LOOP, tool_calls=calls("aaaa"), deployment={"max_tool_repeats": 4.9}).state is ClaimState.QUIET
    assert claim(LOOP, tool_calls=calls("aaaaa"), deployment={"max_tool_repeats": 4.9}).state is ClaimState.FIRED


@pytest.mark.parametrize("trajectory", [None, ()])
def test_without_a_trajectory_there_is_no_answer(trajectory: tuple[ToolCall, ...] | None) -> None:
    assert claim(LOOP, tool_calls=trajectory).state is ClaimState.UNKNOWN


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"b": 1, "a": [{"z": 1, "y": 2}]}, {"a": [{"y": 2, "z": 1}], "b": 1.0}, True),
        ("a  b\n", " a b", True),
        (ABSENT, None, True),
        (None, "null", True),
        ("", ABSENT, False),
        ([1, 2], [2, 1], False),
        ({"a": True}, {"a": 1}, False),
        ({"a": "x  y"}, {"a": "x y"}, True),
    ],
)
def test_what_makes_two_calls_the_same(one: object, other: object, same: bool) -> None:
    keys = [call_key(ToolCall("t", given), whole=True) for given in (one, other)]
    assert (keys[0] == keys[1]) is same


def test_two_long_inputs_are_the_same_only_to_the_end() -> None:
    one, other = (ToolCall("t", "y" * 500 + end) for end in ("ab", "ac"))
    longer = ToolCall("t", "y" * 503)
    assert call_key(one, whole=False) == call_key(other, whole=False) != call_key(longer, whole=False)
    assert call_key(one, whole=True) != call_key(other, whole=True)


def test_another_tool_is_another_call() -> None:
    assert call_key(ToolCall("a", "b c"), whole=True) != call_key(ToolCall("a b", "c"), whole=True)


def _alternations(keys: str) -> int:
    """The most rounds of two different letters in turn, by trying every start."""
    best = 0
    for start in range(len(keys) - 1):
        if keys[start] == keys[start + 1]:
            continue
        length = 2
        while start + length < len(keys) and keys[start + length] == keys[start + length - 2]:
            length += 1
        best = max(best, length // 2)
    return best


@given(st.text("abc", max_size=14))
def test_alternations_are_those_found_by_trying(keys: str) -> None:
    found = longest_alternation(keys)
    expected = _alternations(keys)
    assert (found.rounds if found else 0) == (expected if expected >= 2 else 0)


@given(st.text("abcd", max_size=14))
def test_longer_rounds_are_those_found_by_trying(keys: str) -> None:
    def rounds(start: int, period: int) -> int:
        count = 1
        while keys[start + count * period : start + (count + 1) * period] == keys[start : start + period]:
            count += 1
        return count

    most = max(
        (rounds(start, period) for start in range(len(keys)) for period in range(3, len(keys) // 3 + 1)), default=0
    )
    found = longest_cycle(keys, 3)
    assert (found.rounds if found else 0) == (most if most >= 3 else 0)
