"""The sums of a set of web tasks: those of the known one, and that they come to what its tasks come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.session.webset import WEB_TASKS, WORKERS, Sums, sums_of, tokens_of, with_ever_more
from kpis.formulas.session.webtask import TURNS, WebTask, summed, within

TASKS = st.lists(
    st.builds(
        WebTask,
        id=st.sampled_from("abcdefgh"),
        described=st.integers(0, 900),
        instructed=st.integers(0, 900),
        difficulty=st.sampled_from([None, *TURNS, "unheard of"]),
        recorded=st.none() | st.integers(0, 60),
        actions=st.none() | st.integers(0, 60),
    ),
    min_size=1,
    max_size=12,
)


def test_the_known_set_has_these_sums(cases: Path) -> None:
    lines = (cases / "replay" / "webvoyager-geometry-inputs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    tasks = [WebTask(row["task_id"], row["desc_bytes"], row["instr_bytes"], row["difficulty"]) for row in rows]
    assert sums_of(tasks) == WEB_TASKS


def test_the_known_set_comes_to_the_known_integers() -> None:
    assert {workers: tuple(tokens_of(WEB_TASKS, workers)) for workers in WORKERS} == {
        1: (170_930_292, 19_386_804, 19_386_804),
        2: (341_860_584, 38_773_608, 36_806_104),
        4: (683_721_168, 77_547_216, 71_644_704),
        128: (21_879_077_376, 2_481_510_912, 2_231_637_904),
    }
    assert with_ever_more(WEB_TASKS) == pytest.approx(9.8127, abs=5e-5)


@given(TASKS, st.integers(1, 200))
def test_the_sums_come_to_what_the_tasks_do(tasks, workers) -> None:
    sums = sums_of(tasks)
    assert tokens_of(sums, workers) == summed(tasks, workers).tokens
    assert with_ever_more(sums) == within(tasks)


@pytest.mark.parametrize(("sums", "workers"), [(WEB_TASKS, 0), (Sums(0, 0, 0, 0, 0), 1)])
def test_no_task_and_no_worker_serve_nothing(sums, workers) -> None:
    with pytest.raises(ValueError, match="serve nothing: it takes one of each"):
        tokens_of(sums, workers)
