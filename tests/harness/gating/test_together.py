"""One opening that serves several counts on each side of a gate: asked once a side and seed, and never across sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.gating import ground as module
from harness.gating.ground import SEEDS, Ground
from harness.gating.options import GateOptions
from harness.gating.points import gate_points
from harness.jobs.together import beside
from harness.measure.answer import Answer
from harness.measure.pairs import SideJob
from kpis.registry import load

RATES = ("keep_rate", "suite_green_rate", "truth_clean_rate")
POINTS = gate_points(load(), [("reference", "seams.runtimes.reference:make")], GateOptions(against="HEAD", kpis=RATES))


def tally(numerator: int) -> dict[str, Any]:
    more = {"reasons": {}, "excluded": 0, "knobs": None, "basis": "count", "source": "synthetic"}
    return {"numerator": numerator, "denominator": 9, **more, "evidence": [], "clocked": []}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str, str, int]]:
    """(KPI, side, task, seed) of every worker; what a worker counts is told by its KPI, its side and its seed."""
    found: list[tuple[str, str, str, int]] = []

    def side_job(self: Ground, point: Any, side: str, copy: int = 0) -> SideJob:
        return SideJob({"kpi": point.kpi.id, "side": side}, "", tmp_path, ends=False)

    def launch(job: dict[str, Any], *, seed: int, **more: Any) -> Answer:
        found.append((job["kpi"], job["side"], job["task"], seed))
        counts = {kpi: tally(100 * seed + 10 * (job["side"] == "head") + at) for at, kpi in enumerate(RATES)}
        others = {name: {"tally": counts[name]} for name in job["beside"]}
        others["truth_clean_rate"] = {"tally": "none"}
        return Answer(
            result={"tally": counts[job["kpi"]], "beside": others, "touched": [str(tmp_path / "x")], "spawns": True},
            seconds=0.1,
        )

    monkeypatch.setattr(Ground, "side_job", side_job)
    monkeypatch.setattr(Ground, "root", lambda self, side, copy=0: tmp_path)
    monkeypatch.setattr(module, "launch", launch)
    return found


def test_what_one_opening_hands_over_is_the_answer_of_the_others_on_that_side(asked: list[Any], tmp_path: Path) -> None:
    none: Any = None
    ground = Ground(none, load(), none, (), {}, tmp_path, beside=beside(POINTS.counted))
    for at, point in enumerate(POINTS.counted):
        for side, more in (("base", 0), ("head", 10)):
            seen = ground.discover(point, side, limit=1.0)  # type: ignore[arg-type]
            assert (seen.answer["tally"]["numerator"], seen.spawns) == (100 + more + at, True)
            assert set(seen.touched) == {"x"}
            again = ground.ask(point, side, "tally", seed=SEEDS[1], limit=1.0)  # type: ignore[arg-type]
            assert again.result["tally"]["numerator"] == 200 + more + at
    # The last one's was no tally each time, so that it was asked for by itself.
    assert [each for each in asked if each[0] == "suite_green_rate"] == []
    due = [(side, task, seed) for side in ("base", "head") for task, seed in (("discover", 1), ("tally", 2))]
    assert asked == [(kpi, *each) for kpi in ("keep_rate", "truth_clean_rate") for each in due]


def test_an_answer_that_was_handed_over_is_used_once(asked: list[Any], tmp_path: Path) -> None:
    none: Any = None
    ground = Ground(none, load(), none, (), {}, tmp_path, beside=beside(POINTS.counted))
    first, second = POINTS.counted[:2]
    for _ in range(2):
        ground.ask(first, "base", "tally", limit=1.0)
    for _ in range(2):
        ground.ask(second, "base", "tally", limit=1.0)
    assert [kpi for kpi, *_ in asked] == ["keep_rate", "keep_rate", "suite_green_rate"]
