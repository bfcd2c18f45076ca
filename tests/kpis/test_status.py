"""A status is derived from what was emitted."""

from dataclasses import replace

import pytest

from kpis.registry import load
from kpis.status import derive, status_gap
from kpis.terms.kpi import Status
from kpis.terms.quantity import Basis, Source
from kpis.terms.reading import Leg, Reading, ReadingKind, Reason, Undefined

CATALOG = load()


def reading(name, basis=Basis.COUNT, reason=None, knobs=None):
    kpi = CATALOG.get(name)
    return Reading(
        kpi=kpi.id,
        layer=kpi.layer,
        params={},
        runtime="reference",
        workload=None,
        leg=Leg.MAIN,
        kind=ReadingKind.MODELED if basis is Basis.MODEL else ReadingKind.COUNT,
        value=None if reason else 1,
        undefined=Undefined(reason, "") if reason else None,
        unit=kpi.unit,
        direction=kpi.direction,
        status=Status.PROPOSED,
        basis=None if reason else basis,
        source=None if reason else Source.LIVE,
        estimand=kpi.estimand,
        isolation=None,
        gate=kpi.gate,
        critical=kpi.critical,
        knobs=knobs,
    )


def derived(name, *readings):
    kpi = CATALOG.get(name)
    return derive(kpi, CATALOG.seam(kpi), readings)


def gap(name, readings, wired=True):
    kpi = CATALOG.get(name)
    return status_gap(kpi, CATALOG.seam(kpi), readings, wired=wired)


def test_without_a_number_it_is_proposed():
    assert derived("denies") is Status.PROPOSED
    assert derived("denies", reading("denies", reason=Reason.ERROR)) is Status.PROPOSED
    assert derived("denies", reading("transforms")) is Status.PROPOSED


def test_one_defined_point_is_enough():
    readings = [reading("denies", reason=Reason.NOT_OFFERED), reading("denies")]
    assert derived("denies", *readings) is Status.STANDING


def test_a_seam_that_is_off_on_a_live_turn_makes_it_guarded():
    assert derived("candidate_scorings", reading("candidate_scorings")) is Status.GUARDED


def test_a_model_is_modeled_wherever_it_stands():
    model = reading("candidate_scorings", Basis.MODEL, knobs={"price": 1.0})
    assert derived("candidate_scorings", model) is Status.MODELED


def test_a_frozen_seam_is_no_guard():
    assert derived("reap_latency_kernel", reading("reap_latency_kernel", Basis.CLOCK)) is Status.STANDING


def test_the_truth_is_no_gap():
    assert gap("denies", [reading("denies")]) is None
    assert gap("ttft", []) is None


@pytest.mark.parametrize(
    ("readings", "wired"),
    [(None, True), ([], False), ([reading("denies", reason=Reason.NOT_INSTALLED)], True)],
    ids=["no run", "no probe", "an absent extra"],
)
def test_not_emitted_yet_is_no_lie(readings, wired):
    found = gap("denies", readings, wired)
    assert not found.lie
    assert (found.derived, found.target) == (Status.PROPOSED, Status.STANDING)


def test_a_probe_that_emits_nothing_is_a_lie_and_says_why():
    assert gap("denies", []).lie
    failed = gap("denies", [reading("denies", reason=Reason.ERROR)])
    assert failed.lie
    assert "undefined, error" in failed.sentence
    assert failed.sentence.endswith("`python -m harness run --kpi denies`.")


def test_any_other_difference_is_a_lie():
    found = gap("ttft", [reading("ttft", Basis.CLOCK)], wired=False)
    assert found.lie
    assert (found.derived, found.target) == (Status.STANDING, Status.PROPOSED)
    assert "kpis/catalog/stream.toml" in found.sentence


def test_the_row_of_a_user_is_named_by_its_file():
    kpi = replace(CATALOG.get("denies"), target_status=Status.GUARDED, origin="bench/mine.toml")
    found = status_gap(kpi, CATALOG.seam(kpi), [reading("denies")], wired=True)
    assert "target_status in bench/mine.toml" in found.sentence
