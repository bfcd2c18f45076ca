"""Calls whose input was not sent: they are no repeat and make nothing good, as far as is known."""

from __future__ import annotations

import pytest

from kpis.rules.call_key import call_key, call_keys
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation_case import ToolCall
from kpis.terms.evaluation_words import SkipClass
from tests.kpis.rules.asking import calls, claim

LOOP, FAILURE = "no_tool_loop", "no_silent_tool_failure"
BARE, NULL = ToolCall("ls"), ToolCall("ls", None)


def bare(tools: str) -> tuple[ToolCall, ...]:
    """A call a letter, of the tool that the letter is."""
    return tuple(ToolCall(tool) for tool in tools)


@pytest.mark.parametrize(
    ("trajectory", "most", "state"),
    [
        (bare("aaa"), 3, ClaimState.QUIET),
        (bare("aaaaa"), 3, ClaimState.UNKNOWN),
        (bare("abcdefgh"), 3, ClaimState.QUIET),
        (bare("ababab"), 3, ClaimState.UNKNOWN),
        (bare("abcabcabc"), 3, ClaimState.UNKNOWN),
        (bare("aaaaa"), 9, ClaimState.QUIET),
        (bare("aaaaaa"), 9, ClaimState.UNKNOWN),  # two inputs in turn
        ((*calls("aaaa"), BARE), 3, ClaimState.FIRED),
        ((*calls("aaa"), BARE), 3, ClaimState.UNKNOWN),
        ((*calls("aaa"), ToolCall("cat")), 3, ClaimState.QUIET),
        ((NULL,) * 4, 3, ClaimState.FIRED),
    ],
)
def test_correction_unsent_input_is_unknown(trajectory: tuple[ToolCall, ...], most: int, state: ClaimState) -> None:
    found = claim(LOOP, tool_calls=trajectory, deployment={"max_tool_repeats": most})
    assert found.state is state
    if found.skip is not None:
        assert found.skip.skip_class is SkipClass.NOT_APPLICABLE
        assert found.skip.reason.endswith(f"of {len(trajectory)} calls was not sent")
    theirs = claim(LOOP, tool_calls=trajectory, deployment={"max_tool_repeats": most}, reference=True)
    assert theirs.state is not ClaimState.UNKNOWN


@pytest.mark.parametrize(("given", "state"), [({}, ClaimState.FIRED), ({"input": None}, ClaimState.QUIET)])
def test_a_failure_is_made_good_by_the_same_call_only(given: dict[str, object], state: ClaimState) -> None:
    trajectory = (ToolCall("a", error="e", **given), ToolCall("a", output="k", **given))  # type: ignore[arg-type]
    assert claim(FAILURE, "Done.", tool_calls=trajectory).state is state


def test_no_other_call_has_the_key_of_one_without_input() -> None:
    made = (BARE, BARE, ToolCall("ls", "0 "), ToolCall("ls\0000 ", ""), NULL)
    keys = call_keys(made, whole=True, unsent_differ=True)
    assert len(set(keys)) == len(made)
    assert call_keys(made, whole=True, unsent_differ=False) == [call_key(call, whole=True) for call in made]
