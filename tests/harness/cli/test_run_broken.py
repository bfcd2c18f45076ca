"""A run that finds an invariant broken: it has measured, says so with the row's name, and who fails on it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.harness.cli.own import SEAM, Command, row

PROBE = """
from harness.measure.clock import Tally

class Check:
    kpis = frozenset({"x"})

    def open(self, kpi, runtime, workload, params):
        return Tally(int(kpi == "kept"), evidence=("said by the probe",))
"""


@pytest.fixture
def checks(project: Path) -> Path:
    rows = {"kept": "invariant", "broken": "invariant", "told": "report"}
    (project / "bench" / "check.py").write_text(PROBE)
    (project / "bench" / "own.toml").write_text(
        SEAM
        + "".join(
            row(name, "bench.check:Check", estimand="invariant", unit="bool")
            .replace('"exact"', f'"{gate}"')
            .replace('"lower"', '"higher"')
            + ("critical = true\n\n" if name == "broken" else "")
            for name, gate in rows.items()
        )
    )
    return project


def told(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("to", [(), ("--json", "-")])
def test_each_invariant_that_reads_no_is_named_with_who_fails_on_it(
    to: tuple[str, ...], loopladder: Command, checks: Path
) -> None:
    done = loopladder("run", "--kpi", "kept", "broken", "told", "--quick", *to)
    assert done.returncode == 0, done.stderr
    said = told(done)
    assert said.count("reads no") == 2
    assert (
        "warning: broken, which is critical, reads no: a run only measures; `python -m harness gate` fails on it, and "
        "where it is on record `python -m harness ratchet check` does. What it states: python -m harness explain broken"
    ) in said
    assert "warning: told reads no: it never gates" in said


def test_what_holds_is_not_warned_of(loopladder: Command, checks: Path) -> None:
    done = loopladder("run", "--kpi", "kept", "--quick")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
