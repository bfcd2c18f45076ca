"""The time ledger: every millisecond of the wall once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.recorded.evaluate import evaluate, metrics
from kpis.formulas.recorded.intervals import owned, union
from kpis.formulas.recorded.ledger import LedgerParts, ledger_parts, turn_ledgers
from kpis.formulas.recorded.ledger_spans import Spent
from kpis.formulas.recorded.view import view_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Event, EventKind, Recording, Thread, ThreadKind, ToolOp, Turn, UserKind
from tests.kpis.recorded.runs import TABLE, call, recorded_runs, request, run

NAMES = [spent.value for spent in Spent]


def ledger(recorded: RecordedRun) -> LedgerParts:
    return ledger_parts(view_of(recorded))


def spent(recorded: RecordedRun) -> dict[str, int]:
    found = ledger(recorded)
    return {name: ms for name in NAMES if (ms := getattr(found, name))}


TURN = Turn("main", 0, UserKind.HUMAN, 0, 20)


def test_model_tool_and_person_share_a_simple_session() -> None:
    """Asked at 0, answered at 4; the tool ran until 10, the second answer came at 13; the person spoke again at 50."""
    requests = [request(0, at=4), request(1, at=13), request(2, at=55)]
    calls = [call(0, 0, t_start=4, t_end=10)]
    turns = [TURN, Turn("main", 1, UserKind.HUMAN, 50)]
    assert spent(run(requests, calls, turns=turns)) == {"model": 4 + 3 + 5, "tool": 6, "user_idle": 37}


def test_parallel_tools_overlap_and_are_counted_once() -> None:
    calls = [call(n, 0, ToolOp.EXEC, f"e{n}", t_start=4, t_end=10 + n) for n in range(3)]
    found = ledger(run([request(0, at=4)], calls, turns=[TURN]))
    assert found.tool == 8
    assert found.tool_overlap == (6 + 7 + 8) - 8


def test_an_approval_inside_a_tools_lines_is_not_the_tools() -> None:
    calls = [call(0, 0, t_start=4, t_end=10)]
    approval = Event(EventKind.PERMISSION, "main", t=9, duration_ms=3)
    assert spent(run([request(0, at=4)], calls, turns=[TURN], events=[approval]))["approval"] == 3


def test_a_hook_and_a_retry_have_their_own_clocks() -> None:
    events = [Event(EventKind.HOOK, "main", t=8, duration_ms=2), Event(EventKind.RETRY, "main", t=10, duration_ms=5)]
    found = spent(run([request(0, at=20)], turns=[TURN], events=events))
    assert found == {"hook": 2, "retry": 5, "model": 13}


def test_an_answer_after_a_retry_began_with_the_attempt_that_failed() -> None:
    """No input opens it, and the client's clock of the turn must not take the model's time for its own."""
    events = [
        Event(EventKind.RETRY, "main", t=26, duration_ms=4),
        Event(EventKind.HOOK, "main", t=41, duration_ms=41, detail="turn_duration"),
    ]
    turns = [Turn("main", 0, UserKind.HUMAN, 0, 41)]
    found = spent(run([request(0, at=25), request(1, at=40)], turns=turns, events=events))
    assert found == {"model": 25 + 10, "retry": 4, "harness": 2}
    early = [Event(EventKind.RETRY, "main", t=2, duration_ms=3)]
    assert spent(run([request(0, at=25), request(1, at=40)], turns=turns, events=early)) == {
        "retry": 3, "model": 22, "unattributed": 16,
    }  # fmt: skip


def test_what_sub_agents_do_is_their_parents_wait() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("s1", ThreadKind.SUBAGENT), Thread("s2", ThreadKind.SUBAGENT))
    side = [request(n, at=6 + n, thread_id=f"s{1 + n % 2}") for n in range(2, 6)]
    recorded = run(
        [request(0, at=4), *side], [call(0, 0, ToolOp.SPAWN, t_start=4, t_end=15)], threads=threads, turns=[TURN]
    )
    assert spent(recorded) == {"model": 4, "subagent_wait": 11, "unattributed": 5}
    assert ledger(recorded).agent_overlap == 1


def test_a_clock_of_the_client_leaves_the_rest_to_the_harness() -> None:
    requests = [request(0, at=10, duration_ms=6)]
    calls = [call(0, 0, t_start=10, t_end=20, duration_ms=7)]
    assert spent(run(requests, calls, turns=[TURN])) == {"model": 6, "tool": 7, "harness": 4 + 3}


def test_the_clock_of_a_turn_is_no_hook() -> None:
    clock = Event(EventKind.HOOK, "main", t=20, duration_ms=20, detail="turn_duration")
    recorded = run([request(0, at=14)], turns=[TURN], events=[clock])
    assert spent(recorded) == {"model": 14, "harness": 6}
    assert not evaluate(recorded, TABLE).verdicts.events


def test_an_answer_without_an_input_before_it_has_no_known_start() -> None:
    requests = [request(0, at=4), request(1, at=1_000)]
    assert spent(run(requests, turns=[TURN])) == {"model": 4, "unattributed": 996}


def test_a_span_without_times_inside_is_unattributed() -> None:
    recorded = run([request(0, t_first=None, t_last=None)], recordings=(Recording("test", t_start=5, t_end=105),))
    assert spent(recorded) == {"unattributed": 100}
    found = metrics(evaluate(recorded, TABLE, ledger=True))["time_unattributed_ms"]
    assert found.notes == ("1 requests have no time.",)


def test_a_recording_without_times_has_no_wall() -> None:
    recorded = run([request(0, t_first=None, t_last=None)])
    found = metrics(evaluate(recorded, TABLE, ledger=True))
    assert found["time_wall_ms"].value is None
    assert found["time_model_ms"].undefined == "the recording has no times"


def test_a_history_that_is_another_runs_takes_no_time_of_this_one() -> None:
    requests = [request(0, at=4, copied=True), request(1, at=20, copied=True), request(2, at=105)]
    calls = [call(0, 0, t_start=4, t_end=10, copied=True), call(1, 2, t_start=105, t_end=109)]
    turns = [TURN, Turn("main", 1, UserKind.HUMAN, 100, 109)]
    recordings = (Recording("claude-code", t_start=0, t_end=110, file="a.jsonl"),)
    found = replace(run(requests, calls, turns=turns), recordings=recordings)
    assert ledger(found).wall == 10
    assert spent(found) == {"model": 5, "tool": 4, "unattributed": 1}
    assert [each.start for each in turn_ledgers(view_of(found))] == [100]


def test_the_ledger_is_made_where_it_is_asked_for() -> None:
    assert "time_wall_ms" not in metrics(evaluate(run([request(0)]), TABLE))


def test_a_turn_ends_where_a_person_speaks_again() -> None:
    turns = [Turn("main", 0, UserKind.HUMAN, 10), Turn("main", 1, UserKind.HUMAN, 50)]
    pieces = turn_ledgers(view_of(run([request(0, at=0), request(1, at=14), request(2, at=60)], turns=turns)))
    assert [(piece.index, piece.start, piece.parts.wall) for piece in pieces] == [(-1, 0, 10), (0, 10, 40), (1, 50, 10)]
    assert [(piece.file, piece.line) for piece in pieces] == [("a.jsonl", 1), ("a.jsonl", 11), ("a.jsonl", 21)]


def test_a_turn_without_an_answer_has_no_place() -> None:
    turns = [Turn("main", 0, UserKind.HUMAN, 0), Turn("main", 1, UserKind.HUMAN, 50, 70)]
    pieces = turn_ledgers(view_of(run([request(0, at=4)], turns=turns)))
    assert [(piece.file, piece.line) for piece in pieces] == [("a.jsonl", 1), (None, None)]


@given(recorded_runs())
def test_the_shares_add_up_to_the_wall(recorded: RecordedRun) -> None:
    found = ledger(recorded)
    assert sum(getattr(found, name) for name in NAMES) == found.wall
    assert min(getattr(found, name) for name in NAMES) >= 0


@given(recorded_runs())
def test_the_ledgers_of_turns_add_up_to_that_of_the_run(recorded: RecordedRun) -> None:
    found = ledger(recorded)
    pieces = turn_ledgers(view_of(recorded))
    for name in ["wall", "tool_overlap", "agent_overlap", *NAMES]:
        assert sum(getattr(piece.parts, name) for piece in pieces) == getattr(found, name), name


_spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6)


@given(st.lists(_spans, min_size=1, max_size=4), st.integers(0, 60), st.integers(0, 60))
def test_an_instant_belongs_to_the_first_who_claims_it(claims: list[list[tuple[int, int]]], a: int, b: int) -> None:
    """Against counting millisecond by millisecond."""
    start, end = min(a, b), max(a, b)
    expected = [0] * (len(claims) + 1)
    for at in range(start, end):
        owners = [n for n, spans in enumerate(claims) if any(low <= at < high for low, high in spans)]
        expected[owners[0] if owners else len(claims)] += 1
    assert owned(claims, start, end) == expected


@given(_spans)
def test_a_union_holds_the_same_instants_in_spans_that_do_not_touch(spans: list[tuple[int, int]]) -> None:
    joined = union(spans)
    inside = {at for low, high in spans for at in range(low, high)}
    assert {at for low, high in joined for at in range(low, high)} == inside
    assert all(one[1] < other[0] for one, other in pairwise(joined))


def test_logs_with_one_time_a_record_say_nothing_of_the_models_time() -> None:
    """An answer is written down when it was asked for; in the hour between nobody knows of any work."""
    requests = [request(n, at=n * 100) for n in range(3)]
    turns = [Turn("main", n, UserKind.HUMAN, n * 100) for n in range(3)]
    assert spent(run(requests, turns=turns)) == {"user_idle": 200}
    assert spent(run(requests, turns=turns[:1])) == {"unattributed": 200}
    ran = [call(0, 0, t_start=0, t_end=100)]
    assert spent(run(requests, ran, turns=turns[:1])) == {"tool": 100, "unattributed": 100}
