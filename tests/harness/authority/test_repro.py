"""Measuring a committed number again: what may be compared, and what comes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.jobs.authority_repro import Outcome, chosen, compared, elsewhere, predicted, repeat
from harness.report.authority_numbers import Artifact
from harness.report.authority_rows import Row
from kpis.terms.reading import Distribution, Notice, Reason, Undefined, Warn
from tests.harness.authority.project import EVERY, FOLD, NOTHING, RATE, SEND, lay_out, run_of

HERE = {"cores": 2, "cpu_model": "Test"}


@pytest.fixture
def run(tmp_path):
    lay_out(tmp_path)
    return run_of(tmp_path)


def row(run, reading, marks=(), name="0123456789abcdef"):
    held = replace(run, readings=[reading])
    return Row(reading.kpi, reading, 0, Artifact(f"baselines/m/runs/{name}.json", {}, held), marks)


def timed(value, n=12, **changes):
    return replace(
        FOLD, value=value, distribution=Distribution("process values", n, value, None, None, None), **changes
    )


def test_the_prediction_of_as_many_processes_is_root_two_as_wide():
    low, high = predicted(90.0, 100.0, 120.0, 12, 12)
    assert low == pytest.approx(100 - 10 * 2**0.5)
    assert high == pytest.approx(100 + 20 * 2**0.5)


@given(st.integers(1, 50), st.integers(1, 50), st.floats(0, 10), st.floats(0, 10))
def test_a_prediction_holds_the_interval_and_narrows_with_more_processes(then, now, below, above):
    low, high = predicted(100 - below, 100, 100 + above, then, now)
    assert low <= 100 - below
    assert high >= 100 + above
    assert predicted(100 - below, 100, 100 + above, then, now + 1)[1] <= high


@pytest.mark.parametrize("given_", [(2.0, 1.0, 3.0, 1, 1), (1.0, 2.0, 3.0, 0, 1), (1.0, 2.0, 3.0, 1, 0)])
def test_a_prediction_from_nothing_is_refused(given_):
    with pytest.raises(ValueError, match="prediction"):
        predicted(*given_)


def test_an_exact_number_is_compared_to_the_digit(run):
    assert compared(row(run, RATE), RATE).outcome is Outcome.SAME
    for change in ({"value": 0.36842105263157898}, {"numerator": 92}, {"histogram": {"c": 31}}, {"excluded": 1}):
        found = compared(row(run, RATE), replace(RATE, **change))
        assert found.outcome is Outcome.DIFFERS
        assert f"{next(iter(change))} is " in found.sentence


def test_a_timed_number_is_held_against_the_stretched_interval(run):
    assert compared(row(run, FOLD), timed(1743.0)).outcome is Outcome.INSIDE
    inside = compared(row(run, FOLD), timed(1769.0))
    assert inside.outcome is Outcome.INSIDE, "outside of the interval, inside of the prediction"
    assert "allowed [1.715, 1.770] µs" in inside.sentence
    assert compared(row(run, FOLD), timed(1771.0)).outcome is Outcome.DIFFERS
    assert compared(row(run, FOLD), timed(1700.0)).outcome is Outcome.DIFFERS
    assert compared(row(run, FOLD), timed(1771.0, n=3)).outcome is Outcome.INSIDE, "fewer processes wander more"


def test_on_a_busy_machine_what_lies_outside_is_unknown(run):
    busy = [Notice(Warn.LOADED, "Others were at work.")]
    found = compared(row(run, FOLD), timed(3000.0, warnings=busy))
    assert found.outcome is Outcome.UNKNOWN
    assert "others were at work" in found.sentence


def test_without_an_interval_or_a_number_nothing_is_decided(run):
    thin = replace(FOLD, distribution=Distribution("process values", 3, 1743.0, None, None, None))
    assert compared(row(run, thin), timed(1743.0)).outcome is Outcome.UNKNOWN
    gone = replace(FOLD, **NOTHING, undefined=Undefined(Reason.ERROR, "It broke."))
    assert "error: It broke" in compared(row(run, FOLD), gone).sentence
    assert compared(row(run, FOLD), None).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("reading", "change", "field"),
    [
        (FOLD, {"cores": 4}, "cores differs: 2 on record, 4 in this run"),
        (FOLD, {"kernel": "6.1"}, "kernel differs: not stated on record, 6.1 in this run"),
        (RATE, {"cores": 4}, None),
        (RATE, {"python": "3.12.1"}, "python differs: not stated on record, 3.12.1 in this run"),
        (
            RATE,
            {"dependencies_sha256": "ab" * 32},
            "dependencies_sha256 differs: not stated on record, abababababab in this run",
        ),
    ],
)
def test_the_field_in_which_a_machine_differs_is_named(run, reading, change, field):
    assert elsewhere(row(run, reading), {**HERE, **change}, ()) == field


def test_a_recording_that_is_not_at_hand_is_named(run):
    assert elsewhere(row(run, SEND), HERE, ()) == "the workload mine is not at hand: give it with --workload FILE"


def test_a_shipped_workload_that_differs_is_named(run):
    works = {"desk.calls": replace(run.workloads["mine"], source="synthetic")}
    there = row(replace(run, workloads=works), replace(RATE, workload="desk.calls"))
    assert elsewhere(there, HERE, ()).startswith("the workload desk.calls differs: sha256 abababababab on record, ")


def test_words_narrow_the_rows(run):
    rows = [row(run, each) for each in EVERY]
    pick = {"params": {}, "runtimes": [], "workloads": []}
    assert len(chosen(rows, "fold_ns", **pick)) == 2
    assert [each.reading.params for each in chosen(rows, "fold_ns", **{**pick, "params": {"n": ["9"]}})] == [{"n": "9"}]
    assert chosen(rows, "fold_ns", **{**pick, "runtimes": ["reference"]}) == []
    absent = row(run, replace(FOLD, **NOTHING, undefined=Undefined(Reason.ERROR, "")))
    assert chosen([absent], "fold_ns", **pick) == []


def test_nothing_is_measured_where_nothing_may_be_compared(run):
    def measure(_rows):
        raise AssertionError("it was measured")

    (found,) = repeat([row(run, FOLD)], {**HERE, "cores": 4}, (), measure)
    assert found.outcome is Outcome.ELSEWHERE


def test_a_number_of_this_machine_goes_before_those_of_others(run):
    other = replace(run, machine=replace(run.machine, fingerprint={"cores": 64}))
    away = [row(other, FOLD, name="a" * 16), row(other, replace(FOLD, params={"n": "10"}), name="b" * 16)]
    rows = [row(run, FOLD), *away]
    found = repeat(rows, HERE, (), lambda near: replace(run, readings=[timed(1743.0)]))
    assert [each.outcome for each in found] == [Outcome.ELSEWHERE, Outcome.INSIDE]
    assert "n=10" in found[0].sentence


def test_what_has_changed_since_is_said(run):
    found = compared(row(run, RATE, marks=("stale: app/folding.py changed",)), RATE)
    assert "0123456789abcdef#/readings/0; stale: app/folding.py changed" in found.sentence
