"""Attribution adds up to what was sent, whatever it is by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.recorded.carried import BY, NO_FILE, RESIDUAL, CarriedParts, by_kind, carried_parts
from kpis.formulas.recorded.shares import split
from kpis.formulas.recorded.view import view_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Recording, Thread, ThreadKind, Tokens, ToolOp
from tests.kpis.recorded.runs import TABLE, call, compaction, recorded_runs, request, run


def by(recorded: RecordedRun, what: str) -> CarriedParts:
    return carried_parts(view_of(recorded), TABLE, what)


def rows(recorded: RecordedRun, what: str) -> dict[str, tuple[int, int]]:
    return {key: (row.initial, row.carried) for key, row in by(recorded, what).rows.items()}


BASE = [request(0, write=1_000), request(1, read=1_000, write=300), request(2, read=1_300, write=50)]


def test_a_result_is_sent_once_and_carried_with_every_later_request() -> None:
    """400 bytes are 100 tokens: new in the request after the call, sent again with the one after that."""
    found = rows(run(BASE, [call(0, 0)]), "tool")
    assert found["Read"] == (100, 100)
    assert found[RESIDUAL] == (1_000 + 200 + 50, 1_000 + 1_200)


def test_a_result_is_no_larger_than_what_the_prompt_grew_by() -> None:
    found = rows(run(BASE, [call(0, 0, result_bytes=1_000_000)]), "tool")
    assert found["Read"] == (300, 300)


def test_what_the_model_wrote_is_not_a_tools() -> None:
    requests = [request(0, write=1_000, visible_chars=1_000), *BASE[1:]]
    found = rows(run(requests, [call(0, 0, result_bytes=1_000_000)]), "tool")
    assert found["Read"] == (50, 50)


def test_results_of_one_request_share_what_they_brought_by_their_size() -> None:
    calls = [call(0, 0, result_bytes=40_000), call(1, 0, ToolOp.SEARCH, result_bytes=20_000)]
    found = rows(run(BASE, calls), "tool")
    assert (found["Read"], found["search"]) == ((200, 200), (100, 100))


def test_a_compaction_ends_the_carrying() -> None:
    requests = [*BASE[:2], request(2, read=100, write=200), request(3, read=300, write=10)]
    found = rows(run(requests, [call(0, 0)], events=[compaction(15)]), "tool")
    assert found["Read"] == (100, 0)
    assert found[RESIDUAL] == (1_000 + 200 + 200 + 10, 1_000 + 100 + 300)


def test_a_prompt_that_shrank_holds_less_of_everything() -> None:
    requests = [*BASE[:2], request(2, read=700), request(3, read=700)]
    calls = [call(0, 0, result_bytes=1_200)]
    found = rows(run(requests, calls), "tool")
    assert found["Read"] == (300, 600)
    big = [request(0, write=100), request(1, read=100, write=900), request(2, read=600), request(3, read=600)]
    found = rows(run(big, [call(0, 0, result_bytes=3_600)]), "tool")
    assert found["Read"] == (900, 1_200)


def test_files_are_told_apart_and_commands_are_none() -> None:
    calls = [call(0, 0, target="f"), call(1, 0, ToolOp.EXEC, target="make")]
    assert set(rows(run(BASE, calls), "file")) == {"f", NO_FILE, RESIDUAL}


def test_whole_requests_go_to_their_agent_model_project_branch_and_day() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("side", ThreadKind.SUBAGENT, "main", agent="search"))
    recordings = (
        Recording("test", file="a.jsonl", project="p", branch="b"),
        Recording("test", file="b.jsonl", project="p"),
    )
    requests = [
        request(0, write=100, out=5, at=1_767_225_600_000),
        request(1, write=70, thread_id="side", model="tiered", file="b.jsonl", at=1_767_225_600_000 - 1),
    ]
    recorded = run(requests, threads=threads, recordings=recordings)
    assert rows(recorded, "agent") == {"main": (100, 0), "subagent search, reading unknown: side": (70, 0)}
    assert rows(recorded, "model") == {"small": (100, 0), "tiered": (70, 0)}
    assert rows(recorded, "project") == {"p": (170, 0)}
    assert rows(recorded, "branch") == {"b": (170, 0)}
    assert rows(recorded, "day") == {"2026-01-01": (100, 0), "2025-12-31": (70, 0)}


def agents(*kinds: str) -> RecordedRun:
    """A main thread that started a sub-agent of each kind and went on after all but the last."""
    threads = [Thread("main", ThreadKind.MAIN)]
    requests, calls, side = [], [], []
    for at, kind in enumerate(kinds):
        threads.append(Thread(f"s{at}", ThreadKind.SUBAGENT, "main", f"c{at}", agent=kind))
        requests.append(request(at, fresh=10))
        calls.append(call(at, at, ToolOp.SPAWN, f"a{at}", spawned_thread=f"s{at}"))
        side.append(request(100 + at, fresh=7 + at, thread_id=f"s{at}"))
    return run([*requests, *side], calls, threads=tuple(threads))


def test_each_sub_agent_has_a_row_that_says_whether_it_was_read() -> None:
    found = by(agents("search", "search", "review"), "agent")
    assert {key: (row.calls, row.initial) for key, row in found.rows.items()} == {
        "main": (3, 10),
        "subagent search, result read: s0": (1, 7),
        "subagent search, result read: s1": (1, 8),
        "subagent review, result never read: s2": (1, 9),
    }


def test_of_many_runs_sub_agents_are_told_by_kind() -> None:
    whole = by(agents("search", "search", "review"), "agent") + by(agents("search"), "agent")
    found = by_kind(whole)
    assert {key: row.calls for key, row in found.rows.items()} == {
        "main": 4,
        "subagent search, result read": 2,
        "subagent search, result never read": 1,
        "subagent review, result never read": 1,
    }
    assert (found.prompt, found.output, found.cost) == (whole.prompt, whole.output, whole.cost)
    assert sum(row.initial + row.carried for row in found.rows.values()) == found.prompt


def test_a_result_without_a_known_size_is_counted_as_such() -> None:
    calls = [call(0, 0, result_bytes=None), call(1, 0, ToolOp.SEARCH), call(2, 0, ToolOp.SEARCH, result_bytes=None)]
    found = by(run(BASE, calls), "tool")
    assert (found.rows["Read"].unsized, found.rows["search"].unsized, found.rows[RESIDUAL].unsized) == (1, 1, 0)
    assert (found.rows["Read"].initial, found.rows["search"].initial, found.unsized) == (0, 100, 2)
    last = [call(0, 2, result_bytes=None)]
    assert by(run(BASE, last), "tool").unsized == 0  # no later prompt holds it


def test_new_tokens_pay_as_what_was_written_and_the_rest_as_what_was_read() -> None:
    found = by(run(BASE, [call(0, 0)]), "tool").rows["Read"]
    assert found.initial_cost == 100 * 3_750_000
    assert found.carried_cost == pytest.approx(100 * 300_000, abs=1)


def test_nothing_else_can_be_attributed_by() -> None:
    with pytest.raises(ValueError, match="one of tool, file, agent, model, project, branch, day"):
        by(run(BASE), "mood")


@given(recorded_runs(), st.sampled_from(BY))
def test_every_token_and_every_picodollar_has_exactly_one_row(recorded: RecordedRun, what: str) -> None:
    found = by(recorded, what)
    assert sum(row.initial + row.carried for row in found.rows.values()) == found.prompt
    assert sum(row.output for row in found.rows.values()) == found.output
    assert sum(row.initial_cost + row.carried_cost + row.output_cost for row in found.rows.values()) == found.cost
    for row in found.rows.values():
        assert min(row.initial, row.carried, row.output, row.initial_cost, row.carried_cost, row.output_cost) >= 0


@given(recorded_runs(), recorded_runs(), st.sampled_from(BY))
def test_rows_of_runs_add_up_in_either_order(one: RecordedRun, other: RecordedRun, what: str) -> None:
    assert by(one, what) + by(other, what) == by(other, what) + by(one, what)


@given(st.integers(0, 10**18), st.lists(st.integers(0, 10**12), min_size=1, max_size=20))
def test_shares_are_whole_and_within_one_of_their_quota(whole: int, weights: list[int]) -> None:
    parts, base = split(whole, weights), sum(weights)
    assert sum(parts) == (whole if base else 0)
    for part, weight in zip(parts, weights, strict=True):
        assert not base or abs(part * base - whole * weight) < base


def test_a_share_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        split(3, [1, -1])


def test_a_result_in_a_prompt_that_is_not_known_has_no_size_of_its_own() -> None:
    """The prompt before the call, or the one after it, does not say its cached part: nothing tells the growth."""
    dark = Tokens(fresh_in=500, out_total=1)
    for at in range(3):
        requests = [request(n, tokens=dark) if n in (at, 2) else each for n, each in enumerate(BASE)]
        found = by(run(requests, [call(0, 0)]), "tool").rows["Read"]
        assert (found.calls, found.unsized) == (1, int(at < 2)), at
    requests = [BASE[0], request(1, tokens=dark)]
    assert by(run(requests, [call(0, 0)]), "tool").rows["Read"].unsized == 1
    assert by(run([request(0, tokens=dark)], [call(0, 0)]), "tool").rows["Read"].unsized == 0, "it was never sent"
