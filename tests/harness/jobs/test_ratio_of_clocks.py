"""A rate whose two sides are times: how it is asked for, what an answer has to hold, and the reading that it makes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.jobs.answers import answer_fault
from harness.jobs.measure_point import Outcome, measure
from harness.jobs.modes import DEFAULT, QUICK
from harness.jobs.plan import PlannedPoint
from harness.jobs.readings import to_reading
from harness.jobs.samples import save_samples
from harness.report.authority_rows import label_fault
from kpis.registry import load
from kpis.terms.quantity import Basis, Source
from kpis.terms.reading import ReadingKind, Warn

KPI = load().get("net_value_add_vs_tuned")
POINT = PlannedPoint(KPI, {"of": "clock"}, ("reference", "r"), None, "p")
FOUND = {"slice": "parts", "engine": "none", "source": "synthetic", "touched": {}, "seconds": 0.1}


def ratio(numerator: float, denominator: float = 100) -> dict[str, Any]:
    told = {"numerator": numerator, "denominator": denominator, "evidence": [f"b took {numerator}"]}
    return {"ratio": told, "rounds": {"b": [1, 2], "c": [3, 4]}, "seconds": 0.2}


def asking(*ratios: float):
    asked: list[tuple[str, int]] = []

    def ask(task: str, index: int, extra: Any) -> dict[str, Any]:
        asked.append((task, index))
        return FOUND if task == "discover" else ratio(ratios[(index - 1) % len(ratios)])

    return ask, asked


def test_every_process_is_asked_for_one_ratio() -> None:
    ask, asked = asking(150, 170, 160)
    outcome = list(measure(POINT, QUICK, ask))[-1]
    assert asked == [("discover", 0), ("ratio", 1), ("ratio", 2), ("ratio", 3)]
    assert (outcome.taken, outcome.empty, outcome.engine) == (3, False, "none")


def test_a_ratio_that_is_refused_leaves_none() -> None:
    undefined = {"undefined": {"reason": "work-not-done", "detail": "nothing was served"}, "seconds": 0.1}
    outcome = list(measure(POINT, QUICK, lambda task, *_: FOUND if task == "discover" else undefined))[-1]
    assert outcome.undefined == ("work-not-done", "nothing was served")
    assert outcome.ratios == []


def test_the_reading_is_that_of_the_median_process_with_its_own_two_sides() -> None:
    ask, _ = asking(150, 170, 160)
    reading = to_reading(POINT, list(measure(POINT, QUICK, ask))[-1], load(), QUICK)
    assert (reading.value, reading.numerator, reading.denominator) == (1.6, 160, 100)
    assert (reading.basis, reading.source, reading.kind) == (Basis.CLOCK, Source.SYNTHETIC, ReadingKind.RATE)
    assert reading.evidence == ["b took 160"]
    assert reading.distribution is not None
    assert (reading.distribution.n, reading.distribution.median, reading.distribution.values) == (3, 1.6, 2)
    assert reading.distribution.ci95 is None
    assert Warn.TOO_FEW in {notice.code for notice in reading.warnings}
    assert label_fault(reading, KPI, None) is None


def test_of_an_even_number_the_lower_middle_is_taken_and_the_interval_holds_it() -> None:
    values = tuple(150.0 + step for step in range(12))
    ask, _ = asking(*values)
    reading = to_reading(POINT, list(measure(POINT, DEFAULT, ask))[-1], load(), DEFAULT)
    assert reading.value == 1.55
    assert reading.distribution is not None
    assert reading.distribution.ci95 is not None
    low, high = reading.distribution.ci95
    assert low <= reading.value <= high
    assert reading.warnings == []


def test_a_count_with_the_basis_of_a_clock_is_still_a_fault() -> None:
    ask, _ = asking(150)
    reading = to_reading(POINT, list(measure(POINT, QUICK, ask))[-1], load(), QUICK)
    fault = label_fault(reading, load().get("denies"), None)
    assert fault is not None
    assert "basis clock" in fault


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {**ratio(1), "ratio": {"numerator": 1, "denominator": 2}},
        {**ratio(1), "ratio": {"numerator": 0, "denominator": 2, "evidence": []}},
        {**ratio(1), "ratio": {"numerator": True, "denominator": 2, "evidence": []}},
        {**ratio(1), "ratio": [1]},
        {**ratio(1), "rounds": {"a": []}},
        {**ratio(1), "rounds": [1]},
    ],
)
def test_an_answer_without_both_sides_is_none(answer) -> None:
    assert answer_fault("ratio", timed=False, answer={"seconds": 0.1, **answer}) in ("ratio", "rounds")


def test_a_whole_answer_has_no_fault() -> None:
    assert answer_fault("ratio", timed=False, answer=ratio(3)) is None
    assert answer_fault("discover", timed=False, answer=FOUND) is None
    assert answer_fault("discover", timed=False, answer={**FOUND, "slice": "batch"}) == "tally"
    assert answer_fault("tally", timed=False, answer=FOUND) == "tally"


def test_the_rounds_are_kept_beside_the_run(tmp_path) -> None:
    ask, _ = asking(150, 170)
    outcome = list(measure(POINT, QUICK, ask))[-1]
    save_samples(tmp_path / "samples", POINT, outcome)
    (file,) = (tmp_path / "samples").iterdir()
    assert file.name == "net_value_add_vs_tuned,of=clock@reference@-.rounds.json"
    kept = json.loads(file.read_text())
    assert (kept["schema"], kept["processes"]) == ("harness.rounds/1", [{"b": [1, 2], "c": [3, 4]}] * 3)


def test_nothing_came_of_an_outcome_without_ratios() -> None:
    assert Outcome().empty
    assert Outcome().taken == 0
