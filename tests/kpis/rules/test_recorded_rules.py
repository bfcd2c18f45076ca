"""The rules on recorded steps: what is known decides, and what is not known is never taken for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.recorded import Cost, RecordedFindings, recorded_findings
from kpis.rules.recorded_steps import Ending, Step, steps_of
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import CustomRule, Finding, ToolCallAt
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Need, SkipClass
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Outcome, ToolCall, ToolOp

LOOP, FAILURE, COST = "no_tool_loop", "no_silent_tool_failure", "cost_under_threshold"
FREE = Cost(0.0, 0.0)


def step(given: str | None = "a", got: str | None = "x", **more: Any) -> Step:
    fields: dict[str, Any] = {
        "thread": "main",
        "tool": "Bash",
        "given": given,
        "got": got,
        "ending": Ending.WORKED,
        "outcome": "ok",
        "waits": False,
        "file": "s.jsonl",
        "line": 1,
    }
    return Step(**(fields | more))


def judged(
    steps: Sequence[Step], cost: Cost = FREE, settings: Settings | None = None, *, lost: bool = False
) -> RecordedFindings:
    return recorded_findings(steps, cost, settings or Settings(), lost=lost)


def of(found: RecordedFindings, name: str) -> Finding:
    (finding,) = [each for each in found.findings if each.rule.name == name]
    return finding


def state(found: RecordedFindings, name: str) -> str:
    """What the rule said; ``open`` where it was asked and had no answer, ``skipped`` where it was not asked."""
    claim = of(found, name).claim
    if name in found.unanswered:
        assert claim.state is ClaimState.UNKNOWN
        return "open"
    return "skipped" if claim.skip is not None else claim.state.value


def test_a_result_that_may_flip_to_and_fro_is_not_quiet() -> None:
    flips = [step(got=got) for got in ("x", "y", "x", "y", "x", None)]
    chosen = Settings(rule_thresholds={"max_tool_repeats": 9})
    assert state(judged(flips, settings=chosen), LOOP) == "open"
    assert state(judged([*flips[:-1], step(got="y")], settings=chosen), LOOP) == "fired"


FAILED: dict[str, Any] = {"ending": Ending.FAILED, "outcome": "error"}
UNKNOWN: dict[str, Any] = {"ending": Ending.UNKNOWN, "outcome": "unanswered"}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([step()] * 3, "quiet"),
        ([step()] * 4, "fired"),
        ([step("a", "x"), step("b", "y")] * 3, "fired"),
        ([step("a"), step("b"), step("c")] * 3, "fired"),
        ([step(got=str(at)) for at in range(9)], "quiet"),  # the result changes each time: progress, or polling
        ([step(waits=True)] * 9, "quiet"),
        ([step(given=None, waits=True)] * 9, "quiet"),
        ([step(thread=str(at)) for at in range(9)], "quiet"),
        ([step(thread="a")] * 3 + [step(thread="b")] * 3, "quiet"),
        ([step(tool=str(at)) for at in range(9)], "quiet"),
        ([], "skipped"),
        ([step(given=None)], "quiet"),
        ([step("b"), step(given=None)], "open"),
        ([step(tool=None)] * 4, "open"),
        ([step(), step(), step(), step(), step(given=None)], "fired"),
        ([step(got=None)] * 3, "quiet"),
        ([step(got=None)] * 4, "open"),
        ([step(got="x"), step(got="x"), step(got="x"), step(got=None)], "open"),
        ([step(got="x"), step(got="x"), step(got="y"), step("b", None)], "quiet"),
    ],
)
def test_loops(steps: list[Step], said: str) -> None:
    assert state(judged(steps), LOOP) == said


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([step()], "quiet"),
        ([step(**FAILED)], "open"),
        ([step(**FAILED), step()], "quiet"),
        ([step(), step(**FAILED)], "open"),
        ([step(**FAILED), step("b")], "open"),
        ([step(**FAILED), step(thread="other")], "open"),
        ([step(given=None, **FAILED), step(given=None)], "open"),
        ([step(**FAILED), step(ending=Ending.STOPPED, outcome="denied")], "open"),
        ([step(ending=Ending.STOPPED, outcome="interrupted")], "quiet"),
        ([step(**UNKNOWN)], "open"),
        ([step(**FAILED), step(**UNKNOWN)], "open"),
        ([step(**FAILED), step(**UNKNOWN), step()], "quiet"),
        ([], "skipped"),
    ],
)
def test_failures(steps: list[Step], said: str) -> None:
    assert state(judged(steps), FAILURE) == said


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([step(began=1, ended=2), step(**FAILED, began=5, ended=6)], "open"),
        ([step(**FAILED, began=5, ended=6), step(began=1, ended=2)], "open"),  # behind it, and made before
        ([step(began=7, ended=8), step(**FAILED, began=5, ended=6)], "quiet"),  # before it, and made later
        ([step(**FAILED, began=5, ended=9), step(began=7, ended=8)], "open"),  # it was still under way
        ([step(**FAILED, began=5), step(began=6)], "quiet"),
        ([step(**FAILED, began=5, ended=6), step(began=6)], "quiet"),  # the same millisecond: order says
        ([step(began=6), step(**FAILED, began=5, ended=6)], "open"),
        ([step(**FAILED, began=5, ended=6), step()], "quiet"),
        ([step(), step(**FAILED, began=5, ended=6)], "open"),
        ([step(**FAILED), step(began=1)], "quiet"),
        ([step(began=9), step(**FAILED)], "open"),
        ([step(began=9), step(**FAILED, began=5, ended=6), step(began=1)], "quiet"),
        ([step(**FAILED, thread="side", began=5, ended=6), step(began=7)], "open"),
    ],
)
def test_only_a_later_call_makes_a_failure_good(steps: list[Step], said: str) -> None:
    assert state(judged(steps), FAILURE) == said


def test_a_failure_that_was_made_good_is_named_where_it_stands() -> None:
    claim = of(judged([step("b"), step(began=7, ended=8), step(**FAILED, began=5, ended=6)]), FAILURE).claim
    assert claim.evidence == (ToolCallAt(2, "Bash", "failed (recovered)"),)


def test_what_has_no_answer_names_the_calls() -> None:
    steps = [step(), step("b", **FAILED), step("c", **FAILED), step("c"), step("d", **UNKNOWN)]
    claim = of(judged(steps), FAILURE).claim
    assert claim.evidence == (ToolCallAt(1, "Bash", "error"), ToolCallAt(4, "Bash", "unanswered"))
    assert claim.note == (
        "not carried: whether the run owns up to 1 of 5 tool calls, which failed, and how 1 of 5 tool calls ended"
    )
    assert of(judged([step(**FAILED)] * 60), FAILURE).claim.evidence[-1] == ToolCallAt(24, "Bash", "error")


def test_the_reference_knows_no_failure_that_was_made_good() -> None:
    found = judged([step(**FAILED), step()], settings=Settings(corrections=frozenset()))
    assert state(found, FAILURE) == "open"
    assert of(found, FAILURE).claim.evidence == (ToolCallAt(0, "Bash", "error"),)


@pytest.mark.parametrize(
    ("cost", "limit", "said"),
    [
        (Cost(5, 5), None, "skipped"),
        (Cost(5, 5), 5, "quiet"),
        (Cost(5.1, 5.1), 5, "fired"),
        (Cost(5.1, None), 5, "fired"),
        (Cost(4, 6), 5, "open"),
        (Cost(4, None), 5, "open"),
        (Cost(None, None), 5, "open"),
        (Cost(None, None), None, "skipped"),
        (Cost(4, 4), "dear", "skipped"),
    ],
)
def test_costs(cost: Cost, limit: object, said: str) -> None:
    chosen = Settings(rule_thresholds={} if limit is None else {"cost_threshold": limit})
    assert state(judged([step()], cost, chosen), COST) == said
    own = (CustomRule("mine", "cost_threshold", {"max_usd": limit}),)
    if isinstance(limit, int):
        assert state(recorded_findings([step()], cost, Settings(), own), "mine") == said


def test_the_limit_that_ships_is_asked_where_shipped_limits_decide() -> None:
    assert state(judged([step()], Cost(1, 1), Settings(defaults_gate=True)), COST) == "fired"


def test_what_reads_a_text_is_not_asked() -> None:
    own = (CustomRule("mine", "min_length", {"min": 1}),)
    found = recorded_findings([step()], FREE, Settings(), own)
    answered = [each.rule.name for each in found.findings if each.claim.state is not ClaimState.UNKNOWN]
    assert answered == [FAILURE, LOOP]
    assert found.unanswered == ()
    assert len(found.findings) == 16
    assert {each.claim.skip.skip_class for each in found.findings if each.claim.skip} == {SkipClass.NOT_APPLICABLE}
    assert all("not carried" in of(found, name).claim.note for name in ("no_pii", "keyword_overlap", "mine"))


def test_what_is_seen_is_what_is_there() -> None:
    assert judged([step()]).present == {Need.TOOL_CALLS, Need.TOOL_OUTPUTS, Need.COST}
    assert judged([step(got=None)]).present == {Need.TOOL_CALLS, Need.COST}, "a call of which no result is on record"
    assert of(judged([step()]), FAILURE).saw == (Need.TOOL_CALLS,)
    assert judged([], Cost(None, None)).present == frozenset()


def test_nothing_is_quiet_where_a_part_was_lost() -> None:
    found = judged([step()], settings=Settings(rule_thresholds={"cost_threshold": 1}), lost=True)
    assert [state(found, name) for name in (LOOP, FAILURE, COST)] == ["open"] * 3
    assert state(judged([step()] * 4, lost=True), LOOP) == "fired"


def call(number: int, **more: Any) -> ToolCall:
    return ToolCall(str(number), "r", "main", number, "Bash", ToolOp.EXEC, more.pop("outcome", Outcome.OK), **more)


def test_steps_are_the_calls_that_count() -> None:
    calls = (
        call(0, arg_digest="a", result_digest="x", file="f", line=3, t_start=5, t_end=6),
        call(1, copied=True),
        call(2, in_conversation=False),
        call(3, exit_code=2),
        call(4, exit_code=130, outcome=Outcome.INTERRUPTED, polling=True),
    )
    one, two, three = steps_of(RecordedRun("r", "own", (), calls=calls))
    assert one == step(file="f", line=3, began=5, ended=6)
    assert (two.ending, two.outcome, two.asked) == (Ending.FAILED, "exit code 2", None)
    assert (three.ending, three.outcome, three.waits) == (Ending.STOPPED, "interrupted", True)


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_an_ending(outcome: Outcome) -> None:
    (only,) = steps_of(RecordedRun("r", "own", (), calls=(call(0, outcome=outcome),)))
    assert (only.ending is Ending.WORKED) is (outcome is Outcome.OK)


def gaps(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(of, of, of, st.none())


FEW = st.sampled_from("ab")
STEPS = st.lists(
    st.builds(
        lambda given, got, thread, ending, waits, began, ended: step(
            given, got, thread=thread, ending=ending, waits=waits, began=began, ended=ended
        ),
        gaps(FEW),
        gaps(FEW),
        st.sampled_from(["main", "main", "side"]),
        st.sampled_from(Ending),
        st.sampled_from([False, False, False, True]),
        st.none() | st.integers(0, 3),
        st.none() | st.integers(0, 3),
    ),
    max_size=12,
)


@given(STEPS, st.data(), st.sampled_from([None, 1, 2, 5, 9]))
def test_an_answer_holds_whatever_fills_the_gaps(steps: list[Step], data: st.DataObject, limit: int | None) -> None:
    settings = Settings(rule_thresholds={} if limit is None else {"max_tool_repeats": limit})
    found = judged(steps, settings=settings)
    filled = [
        replace(
            each,
            given=each.given or data.draw(FEW),
            got=each.got or data.draw(FEW),
            ending=data.draw(st.sampled_from([Ending.WORKED, Ending.FAILED]))
            if each.ending is Ending.UNKNOWN
            else each.ending,
        )
        for each in steps
    ]
    whole = judged(filled, settings=settings)
    for name in (LOOP, FAILURE):
        if state(found, name) != "open":
            assert state(whole, name) == state(found, name)
    assert state(whole, LOOP) != "open"


@given(STEPS)
def test_what_one_thread_does_is_no_loop_of_another(steps: list[Step]) -> None:
    apart = [[each for each in steps if each.thread == name] for name in ("main", "side")]
    together = state(judged([each for part in apart for each in part]), LOOP)
    assert (together == "fired") is any(state(judged(part), LOOP) == "fired" for part in apart)


@given(STEPS)
def test_evidence_stays_within_the_steps(steps: list[Step]) -> None:
    for finding in judged(steps).findings:
        assert len(finding.claim.evidence) <= 25
        for item in finding.claim.evidence:
            assert not isinstance(item, ToolCallAt) or steps[item.index].name == item.tool_name
