"""The committed floors in a gate: the margin that a row was held to, and the table that its claim names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from harness.judge.floor import Floor
from harness.measure import machine
from harness.record.floors import facts_of, write_floors
from tests.harness.cli.own import Command
from tests.harness.gating.test_gate_command import SOURCE, git
from tests.harness.gating.test_gate_command import repository as repository

FLOOR = {"work_ns": Floor(0.004, 10, 640, 0.016, 0.006)}


@pytest.mark.parametrize("kernel", [None, "another"])
def test_a_row_holds_its_margin_and_its_claim_the_table_if_the_floor_is_this_machines(
    kernel: str | None, loopladder: Command, repository: Path
) -> None:
    fingerprint = machine.fingerprint()
    facts = facts_of(fingerprint) if kernel is None else {**facts_of(fingerprint), "kernel": kernel}
    file = write_floors(repository, machine.slug(fingerprint), FLOOR, facts)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "floors")
    (repository / "mine.py").write_text(SOURCE + "\n# touched\n")
    words = ("gate", "--against", "HEAD", "--kpi", "work_ns", "work_count")
    done = loopladder(*words, "--json", "found.json", cwd=repository)
    assert "Traceback" not in done.stderr, done.stderr
    found = json.loads((repository / "found.json").read_bytes())
    rows = {row["kpi"]: row for row in found["rows"]}
    claims = {claim["rule"]: claim["uncertainty"] for claim in found["claims"]}
    assert rows["work_count"]["delta"] is None
    assert (claims["work_count"]["basis"], claims["work_count"]["table"]) == ("definition", None)
    if kernel is None:
        assert rows["work_ns"]["delta"] == pytest.approx(0.012)
        told = ("published_accuracy", hashlib.sha256(file.read_bytes()).hexdigest())
        assert "No floor is taken" not in done.stderr
    else:
        assert rows["work_ns"]["delta"] == 0.02
        told = ("unmeasured", None)
        assert "kernel differs" in " ".join(done.stderr.split())
    assert (claims["work_ns"]["basis"], claims["work_ns"]["table"]) == told
