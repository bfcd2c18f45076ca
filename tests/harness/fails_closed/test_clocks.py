"""A clock that stands still, or moves in wide steps, ends in no number: in bounded time, and with its reason."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from harness.measure import clock
from harness.measure.clock import TICKS, clock_fault, tick_ns
from harness.measure.instrument import INSTRUMENT
from harness.measure.pairs import Load, SideJob, Unmeasured, calibrate, run_pair
from harness.measure.schedule import draw
from tests.harness.measure.jobs import hostile_job


def spec(repo: Path, probe: str) -> SideJob:
    job = {**hostile_job("Base", repo), "probe": f"tests.harness.fails_closed.probes:{probe}", "min_time": 0.002}
    return SideJob(job, INSTRUMENT, repo)


# https://github.com/ionelmc/pytest-benchmark/issues/282: a calibration without end on a frozen clock.
# https://github.com/airspeed-velocity/asv/pull/780: nine equal samples of a clock of 15.6 ms.
@pytest.mark.parametrize(
    ("probe", "reason", "words"),
    [
        ("FrozenClock", "too-short", "stands still"),
        ("CoarseClock", "too-short", "under 1,000 ticks of 15600000 ns"),
        ("FrozenAndAsleep", "too-short", "stands still"),
        ("RunsBackwards", "too-short", "has put another in its place"),
        ("SaysNoNumber", "too-short", "has put another in its place"),
        ("SaysForever", "too-short", "has put another in its place"),
    ],
)
def test_loops_are_not_looked_for_on_a_clock_that_cannot_tell(
    probe: str, reason: str, words: str, repo: Path, tmp_path: Path
) -> None:
    with pytest.raises(Unmeasured, match=words) as caught:
        calibrate("head", spec(repo, probe), draw(Random(1)), limit=60, folder=tmp_path)
    assert (caught.value.side, caught.value.reason) == ("head", reason)


def test_a_value_without_any_time_voids_its_pair(repo: Path, tmp_path: Path) -> None:
    """The ratio to zero is none; as a number it would be infinitely fast."""
    sides = {"base": spec(repo, "FreezesLater"), "head": spec(repo, "FreezesLater")}
    with pytest.raises(Unmeasured, match="no time at all") as caught:
        run_pair(sides, draw(Random(1)), load=Load(10, means=True), limit=60, folder=tmp_path)  # type: ignore[arg-type]
    assert caught.value.reason == "too-short"


def moving(by: int, every: int) -> object:
    """A clock that moves by ``by`` ns at each ``every``-th reading."""
    count = 0

    def read() -> int:
        nonlocal count
        count += 1
        return count // every * by

    return read


@pytest.mark.parametrize(("by", "every"), [(1, 1), (41, 3), (15_600_000, 90_000), (15_600_000, 1_500_000)])
def test_the_tick_is_the_step_of_the_clock_however_rarely_it_moves(
    by: int, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock.time, "perf_counter_ns", moving(by, every))
    assert tick_ns() == by


def test_a_tick_is_waited_for_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock.time, "perf_counter_ns", lambda: 7)
    assert tick_ns() is None
    assert "stands still" in str(clock_fault(1e9))


def test_a_value_needs_a_thousand_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock.time, "perf_counter_ns", moving(40, 1))
    assert clock_fault(40 * TICKS) is None
    assert "39999 ns is under 1,000 ticks of 40 ns" in str(clock_fault(40 * TICKS - 1))
