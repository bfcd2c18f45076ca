"""The keep-bit and the breaker: their vectors, and what no decision can be made of."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.rsi.keep import gain, keep, rulings
from seams.contract.rsi_breaker import Decision, Profile, Signals
from seams.contract.rsi_clock import Elapsed
from seams.rsi.breaker import CountingBreaker, evaluate, improved, offer, proven

KEEP, REVERT, ESCALATE = Decision.KEEP, Decision.REVERT, Decision.ESCALATE
GAIN = Signals(1.0, 2.0, suite_green=True, truth_clean=True)
EQUAL = dataclasses.replace(GAIN, after=1.0)


def decisions(breaker: CountingBreaker, *signals: Signals) -> list[Decision]:
    return [breaker.record(each).decision for each in signals]


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        (Signals(1000, 800, suite_green=True, truth_clean=True, lower_better=True), KEEP),
        (Signals(1000, 1000, suite_green=True, truth_clean=True, lower_better=True), REVERT),
        (Signals(1000, 800, suite_green=False, truth_clean=True, lower_better=True), REVERT),
        (Signals(1000, 800, suite_green=True, truth_clean=False, lower_better=True), REVERT),
        (Signals(0.50, 0.50, suite_green=True, truth_clean=True), REVERT),
        (Signals(0.50, 0.62, suite_green=True, truth_clean=True), KEEP),
        (Signals(0.50, None, suite_green=True, truth_clean=True), REVERT),
    ],
)
def test_one_change(signals, expected):
    assert evaluate(signals) is expected


def test_the_third_in_a_row_calls_a_person():
    assert decisions(CountingBreaker(3), EQUAL, EQUAL, EQUAL) == [REVERT, REVERT, ESCALATE]


def test_a_keep_sets_the_counter_back():
    breaker = CountingBreaker(2)
    assert decisions(breaker, EQUAL, GAIN) == [REVERT, KEEP]
    assert breaker.nonkeeps == 0


def test_its_own_trip_does_not_set_it_back():
    assert decisions(CountingBreaker(1), EQUAL, EQUAL) == [ESCALATE, ESCALATE]


@pytest.mark.parametrize("k", [0, -1, -100])
def test_no_threshold_is_three(k):
    assert CountingBreaker(k).k == 3


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["docs/a.md", "README.md"], Profile.DOCS_ONLY),
        ([], Profile.FULL),
        (["docs/a.md", "seams/a.py"], Profile.FULL),
        (["docs/a.py"], Profile.FULL),
        (["src/a.md"], Profile.FULL),
        (["docs/../a.md"], Profile.FULL),
    ],
)
def test_documents_only_is_believed_of_documents_only(paths, expected):
    assert proven(Profile.DOCS_ONLY, paths) is expected


def test_another_profile_needs_no_proof():
    assert proven(Profile.PROOF_CARRYING, ["a.py"]) is Profile.PROOF_CARRYING


def test_an_unknown_profile_is_as_strict_as_the_strictest():
    strange = dataclasses.replace(GAIN, profile="hurry", suite_green=False)
    assert evaluate(strange) is REVERT


@pytest.mark.parametrize("value", [Elapsed(5), "2", True, None.__class__])
def test_no_decision_is_made_of_what_is_no_plain_number(value):
    for signals in (dataclasses.replace(GAIN, before=value), dataclasses.replace(GAIN, after=value)):
        with pytest.raises(TypeError, match="plain numbers"):
            evaluate(signals)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_decision_is_made_of_what_is_not_finite(value):
    for signals in (dataclasses.replace(GAIN, before=value), dataclasses.replace(GAIN, after=value)):
        with pytest.raises(ValueError, match="finite"):
            improved(signals)


def test_a_time_cannot_be_a_signal_for_a_type_checker(repo: Path, tmp_path: Path) -> None:
    script = tmp_path / "decides_by_time.py"
    script.write_text(
        "from seams.contract.rsi_breaker import Signals\n"
        "from seams.contract.rsi_clock import Elapsed\n"
        "took = Elapsed(5)\n"
        "Signals(1.0, took, True, True)\n"
        "took < 7\n"
        "took - took\n"
        "float(took)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(script)], cwd=repo, capture_output=True, text=True, check=False)
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["4", "5", "6", "7"]


def test_it_has_no_engine():
    assert offer("mock") is None
    assert offer("none") is not offer("none")


BITS = st.booleans()


@given(st.floats(-9, 9), st.floats(-9, 9), BITS, BITS, BITS, st.sampled_from(Profile))
def test_the_rule_is_that_of_the_formulas(before, after, green, clean, lower, profile):
    signals = Signals(before, after, green, clean, lower, profile)
    kept = keep(profile.value, gain(before, after, lower), green, clean)
    assert (evaluate(signals) is KEEP) == kept


@given(st.lists(BITS, max_size=20), st.integers(-1, 5))
def test_the_count_is_that_of_the_formulas(keeps, k):
    breaker = CountingBreaker(k)
    seen = [breaker.record(GAIN if kept else EQUAL) for kept in keeps]
    assert [(each.decision.value, each.nonkeeps) for each in seen] == rulings(keeps, k)
