"""Outcomes, waste, sub-agents and efficiency."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.terms.trace import (
    Outcome,
    RequestStatus,
    RunFacts,
    Thread,
    ThreadKind,
    ToolOp,
    Turn,
    UserKind,
)
from tests.kpis.recorded.runs import call, parts, request, run


def test_unanswered_calls_and_orphans_are_no_errors() -> None:
    became = [Outcome.OK, Outcome.ERROR, Outcome.TIMEOUT, Outcome.DENIED, Outcome.UNANSWERED, Outcome.ORPHAN]
    calls = [call(n, n, outcome=outcome, error_class="E" if n == 1 else None) for n, outcome in enumerate(became)]
    found = metrics(parts(run([request(n) for n in range(6)], calls)))
    assert found["tool_calls"].value == 5
    assert found["tool_errors"].value == 2
    assert found["tool_error_ratio"].denominator == 4
    assert [found[f"tool_{word}"].value for word in ("denials", "timeouts", "unanswered", "orphans")] == [1, 1, 1, 1]
    assert dict(found["tool_errors"].detail) == {"E": 1}


def test_messages_of_errors_are_failures_and_no_requests() -> None:
    requests = [request(0), request(1, status=RequestStatus.SYNTHETIC), request(2, status=RequestStatus.ABORTED)]
    found = metrics(parts(run(requests)))
    assert found["recorded_requests"].value == 2
    assert found["request_failures"].value == 2


def test_requests_that_only_failed_are_wasted() -> None:
    requests = [request(n, read=9_000, fresh=10, out=100) for n in range(3)]
    calls = [
        call(0, 0, outcome=Outcome.ERROR),
        call(1, 0, outcome=Outcome.OK),
        call(2, 1, outcome=Outcome.ERROR),
        call(3, 1, outcome=Outcome.DENIED),
    ]
    found = metrics(parts(run(requests, calls)))
    assert found["wasted_tokens"].value == 110
    assert found["wasted_token_ratio"].value == pytest.approx(1 / 3)


def test_a_call_that_was_never_answered_makes_no_waste() -> None:
    requests = [request(n, fresh=10, out=100) for n in range(3)]
    calls = [
        call(0, 0, outcome=Outcome.UNANSWERED),
        call(1, 1, outcome=Outcome.ERROR), call(2, 1, outcome=Outcome.UNANSWERED),
        call(3, 2, outcome=Outcome.TIMEOUT),
    ]  # fmt: skip
    assert metrics(parts(run(requests, calls)))["wasted_tokens"].value == 110


def test_an_aborted_request_is_wasted_without_any_call() -> None:
    found = metrics(parts(run([request(0, fresh=5, out=7, status=RequestStatus.ABORTED)])))
    assert found["wasted_tokens"].value == 12


def test_a_branch_that_was_left_was_billed() -> None:
    found = metrics(parts(run([request(0, read=100), request(1, read=200, out=5, in_conversation=False)])))
    assert found["abandoned_tokens"].value == 205
    assert found["exposed_tokens"].value == 300


AGENT = Thread("side", ThreadKind.SUBAGENT, "main", spawned_by="c0")
THREADS = (Thread("main", ThreadKind.MAIN), AGENT)
WORK = request(7, read=1_000, out=50, thread_id="side")


@pytest.mark.parametrize(
    ("later", "outcome", "unread"), [(True, Outcome.OK, 0), (False, Outcome.OK, 1), (True, Outcome.INTERRUPTED, 1)]
)
def test_a_sub_agent_is_read_where_the_parent_went_on(later: bool, outcome: Outcome, unread: int) -> None:
    requests = [request(0), *([request(1)] if later else []), WORK]
    found = metrics(parts(run(requests, [call(0, 0, ToolOp.SPAWN, outcome=outcome)], threads=THREADS)))
    assert found["subagents"].value == 1
    assert found["subagents_unread"].value == unread
    assert found["subagent_unread_tokens"].value == 1_050 * unread


def test_a_sub_agent_of_a_branch_that_was_left_is_unread() -> None:
    requests = [request(0, in_conversation=False), request(1), WORK]
    spawn = call(0, 0, ToolOp.SPAWN, in_conversation=False)
    assert metrics(parts(run(requests, [spawn], threads=THREADS)))["subagents_unread"].value == 1


def test_a_sub_agent_without_its_call_is_neither_read_nor_unread() -> None:
    found = metrics(parts(run([request(0), WORK], threads=THREADS)))
    assert (found["subagents_unread"].value, found["subagent_unread_tokens"].value) == (None, None)
    assert dict(found["subagents"].detail)["unlinked"] == 1


def test_calls_are_counted_for_each_input_of_a_person() -> None:
    turns = [Turn("main", 0, UserKind.HUMAN), Turn("main", 1, UserKind.TOOL), Turn("main", 2, UserKind.HUMAN)]
    calls = [call(n, n) for n in range(3)]
    recorded = run(
        [request(n, out=10) for n in range(3)], calls, turns=turns, facts=[RunFacts(score=0.5, success=True)]
    )
    found = metrics(parts(recorded))
    assert found["calls_per_turn"].value == 1.5
    assert found["output_per_call"].value == 10
    assert found["score_per_action"].value == 0.125
    assert metrics(parts(run([request(0)], calls)))["calls_per_turn"].value is None


def test_scores_of_many_runs_are_a_ratio_of_sums() -> None:
    one = parts(run([], [call(0, 0)], facts=[RunFacts(score=1)]))
    other = parts(run([], [call(n, n) for n in range(5)], facts=[RunFacts(score=0)]))
    assert metrics(one + other)["score_per_action"].value == 1 / 8
