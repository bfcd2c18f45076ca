"""Samples without spread, with one spike or two modes, or too few of them: neither hidden nor made more certain."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import pytest

from ci.gatebench.generate import stream
from harness.cli.exits import Exit
from harness.judge.rule import SCREEN_PAIRS
from harness.judge.sequence import judge_stream
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import noise, pyperf

MOVED = {State.REGRESSED, State.IMPROVED}


def only(found: dict[str, Any]) -> dict[str, Any]:
    (row,) = found["rows"]
    return dict(row)


# https://github.com/golang/go/issues/19634: 115 to 78.8, all samples equal, "no difference".
@pytest.mark.parametrize(
    ("old", "new", "state", "code"),
    [
        (115.0, 78.8, "improved", Exit.OK),
        (78.8, 115.0, "regressed", Exit.FAILED),
        (115.0, 115.0, "ok", Exit.OK),
    ],
)
def test_samples_without_spread_are_read_as_they_stand(
    old: float, new: float, state: str, code: Exit, gate_from: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    head = {**pyperf({"allocs": [new] * 20}), "note": "another file, whatever its numbers"}
    done, found = gate_from(pyperf({"allocs": [old] * 20}), head)
    assert (done, only(found)["state"]) == (code, state)
    assert only(found)["ratio"] == pytest.approx(new / old)
    assert [notice["code"] for notice in only(found)["warnings"]] == ["resolution"]
    assert "warning, resolution: " in capsys.readouterr().out, "said to people as well"


def test_one_sample_is_no_verdict_however_far_it_lies(gate_from: Judged) -> None:
    code, found = gate_from(pyperf({"parse": [0.01]}), pyperf({"parse": [0.09]}))
    assert (code, only(found)["state"], only(found)["low"]) == (Exit.UNKNOWN, "inconclusive", None)


def test_sixty_against_fifty_seven_values_of_one_distribution_are_no_change(gate_from: Judged) -> None:
    """Unequal numbers must not fall through a test that wants equal ones."""
    code, found = gate_from(pyperf({"parse": noise(60, seed=1)}), pyperf({"parse": noise(57, seed=2)}))
    assert (code, only(found)["state"], only(found)["pairs"]) == (Exit.OK, "ok", 57)


def test_processes_of_two_modes_are_never_accused(gate_from: Judged) -> None:
    """Which of two layouts a process gets is no change of the code: 6 % apart, and as often on either side."""

    def side(seed: int) -> list[float]:
        return [value * (1.06 if step % 5 < 2 else 1.0) for step, value in enumerate(noise(40, seed=seed))]

    states = {only(gate_from(pyperf({"p": side(s)}), pyperf({"p": side(s + 99)}))[1])["state"] for s in range(20)}
    assert not {state.value for state in MOVED} & states


# https://github.com/apache/otava/pull/150: a change point at each spike.
@pytest.mark.parametrize("by", [1.6, 50.0])
def test_one_slow_pair_never_alarms_wherever_it_stands(by: float) -> None:
    quiet = stream("iid", 1.0, seed=3)
    for at in range(SCREEN_PAIRS + 4):
        pairs = [(base, head * by if place == at else head) for place, (base, head) in enumerate(quiet.pairs)]
        assert judge_stream(pairs, Direction.LOWER).state not in MOVED, at


def test_spikes_in_three_of_a_hundred_processes_never_alarm_and_hide_no_change() -> None:
    states = [judge_stream(stream("spikes", 1.0, seed=seed).pairs, Direction.LOWER).state for seed in range(60)]
    assert not MOVED & set(states)
    slower = [judge_stream(stream("spikes", 1.10, seed=seed).pairs, Direction.LOWER).state for seed in range(20)]
    assert slower.count(State.REGRESSED) >= 19


# https://github.com/mapequation/infomap/issues/943: +17.3 % and then +1.9 % on one commit.
def test_a_machine_that_slows_down_under_the_gate_is_in_both_sides() -> None:
    """Each side in a block of its own sees the drift as a change; in turn, neither side has more of it."""
    trial = stream("drift", 1.0, seed=4)
    base, head = zip(*trial.pairs, strict=True)
    half = len(base) // 2
    blocks = statistics.median(head[half:]) / statistics.median(base[:half])
    assert blocks > 1.15, "the drift is large enough to fool blocks"
    assert judge_stream(trial.pairs, Direction.LOWER).state is State.OK


# https://github.com/faster-cpython/ideas/issues/60: 188 to 208 ms, the same source.
def test_a_bias_of_the_build_within_three_floors_is_nobodys_regression() -> None:
    from harness.judge.rule import Rule, delta_for

    wide = Rule(delta=delta_for(0.02))
    biased = stream("iid", 1.05, seed=5)
    assert judge_stream(biased.pairs, Direction.LOWER, wide).state not in MOVED
    assert judge_stream(biased.pairs, Direction.LOWER, replace(wide, delta=delta_for(0.003))).state is State.REGRESSED
