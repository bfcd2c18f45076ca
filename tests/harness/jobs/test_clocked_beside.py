"""What a clock says beside a number may differ between processes; the time of a model has no clock at all."""

from __future__ import annotations

from typing import Any

import pytest

from harness.jobs.answers import answer_fault
from harness.jobs.measure_point import Outcome, measure
from harness.jobs.modes import QUICK
from harness.jobs.plan import PlannedPoint
from harness.jobs.readings import to_reading
from harness.measure.clock import Tally
from harness.measure.handed import LONGEST, SENTENCES, described, tally_fault
from harness.report.authority_rows import label_fault
from kpis.registry import load
from kpis.terms.quantity import Basis
from kpis.terms.reading import ReadingKind

SPEEDUP = PlannedPoint(load().get("parallel_speedup"), {}, ("reference", "r"), None, "p")
JOIN = PlannedPoint(load().get("fold_join_ns"), {}, ("reference", "r"), None, "p")


def model(numerator: float, denominator: float | None = None, **more: Any) -> dict[str, Any]:
    return described(Tally(numerator, denominator, knobs={"agents": 16}, basis="model", **more))


def counted(point: PlannedPoint, first: dict[str, Any], second: dict[str, Any]) -> Outcome:
    told = {"discover": first, "tally": second}
    return list(measure(point, QUICK, lambda task, *_: {"tally": told[task], "seconds": 0.1}))[-1]


def test_sentences_of_a_clock_may_differ_and_stand_behind_the_evidence() -> None:
    one, two = (model(66, 6, evidence=("counted",), clocked=(f"took {ms} ms",)) for ms in (3, 4))
    reading = to_reading(SPEEDUP, counted(SPEEDUP, one, two), load(), QUICK)
    assert (reading.value, reading.evidence) == (11, ["counted", "took 3 ms"])


def test_evidence_may_not() -> None:
    outcome = counted(SPEEDUP, model(66, 6, evidence=("one",)), model(66, 6, evidence=("two",)))
    assert outcome.undefined is not None
    assert outcome.undefined[0] == "not-repeatable"
    assert "(evidence)" in outcome.undefined[1]


def test_such_sentences_are_held_to_the_rules_of_evidence() -> None:
    plain = model(1, clocked=("x" * 1000,) * 50)
    assert [len(plain["clocked"]), len(plain["clocked"][0])] == [SENTENCES, LONGEST]
    assert tally_fault(plain) is None
    for wrong in ("took 3 ms", (3,), (None,), 7):
        assert "no text" in (tally_fault(model(1, clocked=wrong)) or "") or "no tuple" in (
            tally_fault(model(1, clocked=wrong)) or ""
        )
    without = {name: value for name, value in model(1).items() if name != "clocked"}
    assert answer_fault("tally", timed=False, answer={"tally": without, "seconds": 0.1}) == "tally"


def test_the_time_of_a_model_is_no_time_of_a_clock() -> None:
    assert not JOIN.kpi.timed
    assert JOIN.kpi.estimand.timed
    assert load().get("fold_results_ns").timed
    assert not load().get("parallel_speedup").timed


@pytest.mark.parametrize("evidence", [(), ("1 turns",)])
def test_it_makes_a_reading_of_a_model(evidence: tuple[str, ...]) -> None:
    told = model(1_500_000_000, evidence=evidence)
    reading = to_reading(JOIN, counted(JOIN, told, told), load(), QUICK)
    assert (reading.value, reading.kind, reading.basis) == (1_500_000_000, ReadingKind.MODELED, Basis.MODEL)
    assert (reading.distribution, reading.knobs) == (None, {"agents": 16})
    assert label_fault(reading, JOIN.kpi, None) is None
