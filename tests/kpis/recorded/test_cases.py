"""Prices against bills: real runs whose recordings say what they cost."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from harness.formats.limits import Limits
from harness.formats.run_build import build_run
from harness.formats.run_format import Source
from harness.formats.run_formats import reader
from kpis.formulas.recorded.evaluate import evaluate, metrics
from kpis.prices import shipped_prices


@pytest.mark.parametrize("name", ["a.traj.json", "b.traj.json"])
def test_the_computed_cost_is_what_the_agent_paid(name: str, cases: Path) -> None:
    """Cached prompts, reasoning and a long conversation, to the tenth of a microdollar."""
    body = (cases / "transcripts" / "mini-swe-agent" / name).read_bytes()
    events = reader("mini-swe-agent").read([Source(name, BytesIO(body), len(body))], Limits())
    found = metrics(evaluate(build_run(name, "mini-swe-agent", events), shipped_prices()))
    assert found["cost_computed_usd"].value == pytest.approx(found["cost_reported_usd"].value, abs=1e-7)
    assert found["cost_gap_usd"].value == pytest.approx(0, abs=1e-7)
