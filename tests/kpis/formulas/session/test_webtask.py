from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.session.webtask import (
    ASSUMED_TURNS,
    Source,
    WebTask,
    estimate,
    prefill_of,
    sized,
    summed,
    within,
)


@pytest.fixture
def tasks(cases: Path) -> list[WebTask]:
    lines = (cases / "replay" / "webvoyager-geometry-inputs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return [WebTask(row["task_id"], row["desc_bytes"], row["instr_bytes"], row["difficulty"]) for row in rows]


@pytest.mark.parametrize(
    ("workers", "tokens"),
    [
        (1, (170_930_292, 19_386_804, 19_386_804)),
        (2, (341_860_584, 38_773_608, 36_806_104)),
        (4, (683_721_168, 77_547_216, 71_644_704)),
        (128, (21_879_077_376, 2_481_510_912, 2_231_637_904)),
    ],
)
def test_643_tasks_sum_to_the_known_integers(tasks, workers, tokens) -> None:
    found = summed(tasks, workers)
    assert found.tokens == tokens
    assert found.tokens.a / found.tokens.b == 8.816837060920408


def test_the_known_ratios_are_ratios_of_sums(tasks) -> None:
    by_workers = {workers: summed(tasks, workers).tokens for workers in (1, 2, 4, 128)}
    assert by_workers[1].a / by_workers[1].c == 8.816837060920408
    assert by_workers[2].a / by_workers[2].c == 9.288149161345629
    assert by_workers[2].b / by_workers[2].c == 1.0534559158991672
    assert by_workers[4].a / by_workers[4].c == 9.543219942677132
    assert by_workers[4].b / by_workers[4].c == 1.0823858801901114
    assert by_workers[128].a / by_workers[128].c == pytest.approx(9.80404, abs=1e-5)
    assert by_workers[128].b / by_workers[128].c == pytest.approx(1.11197, abs=1e-5)
    assert within(tasks) == pytest.approx(9.8127, abs=5e-5)


def test_what_the_643_tasks_are_made_of(tasks) -> None:
    found = summed(tasks, 1)
    assert (found.tasks, found.turns, found.told) == (643, 8745, 38_504)
    assert (found.least_turns, found.median_turns, found.most_turns) == (5, 12, 25)
    assert found.sources == {Source.DIFFICULTY: 643}
    assert found.unknown == {}


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        ((3400, 5, 4, 150, 2000), (154_000, 48_000, 37_800)),
        ((1000, 1, 3, 100, 500), (3_000, 3_000, 1_000)),
        ((100, 2, 1, 10, 20), (230, 130, 130)),
    ],
)
def test_the_known_tasks(given, tokens) -> None:
    assert prefill_of(*given) == tokens


@given(st.integers(0, 5000), st.integers(1, 40), st.integers(1, 9))
def test_stateless_over_own_cache_does_not_depend_on_the_workers(prefix, turns, workers) -> None:
    one, many = prefill_of(prefix, turns, 1), prefill_of(prefix, turns, workers)
    assert (many.a, many.b) == (workers * one.a, workers * one.b)
    assert many.a >= many.b >= many.c


def test_text_is_sized_by_its_bytes() -> None:
    assert [estimate(text) for text in ("", "abc", "abcd", "ж" * 4, "\ud800a")] == [0, 0, 1, 2, 1]


def test_turns_come_from_the_surest_source() -> None:
    bare = WebTask("t", 40, 40)
    assert sized(bare) == (3020, ASSUMED_TURNS, Source.DEFAULT)
    assert sized(bare._replace(actions=7)) == (3020, 7, Source.ACTIONS)
    assert sized(bare._replace(actions=7, difficulty="expert")) == (3020, 45, Source.DIFFICULTY)
    assert sized(bare._replace(actions=7, difficulty="expert", recorded=3)) == (3020, 3, Source.TRAJECTORY)
    assert sized(WebTask("t", 3, 3)).prefix == 3400


def test_a_difficulty_that_no_bucket_has_is_counted() -> None:
    found = summed([WebTask("t", 4, 4, "<15 min fix"), WebTask("u", 4, 4, "easy")], 1)
    assert found.unknown == {"<15 min fix": 1}
    assert found.sources == {Source.DEFAULT: 1, Source.DIFFICULTY: 1}


def test_of_tasks_with_one_id_the_last_counts() -> None:
    twice = [WebTask("t", 4, 4, "easy"), WebTask("u", 4, 4, "easy"), WebTask("t", 4, 4, "hard")]
    assert summed(twice, 1) == summed([twice[2], twice[1]], 1)


def test_no_task_and_no_worker_are_refused() -> None:
    with pytest.raises(ValueError, match="without a task"):
        summed([], 1)
    with pytest.raises(ValueError, match="0 workers"):
        summed([WebTask("t", 4, 4)], 0)
    assert within([WebTask("t", 4, 4, recorded=1)]) is None
