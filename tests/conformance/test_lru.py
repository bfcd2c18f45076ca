"""The reference trace against the external one, and the runner's curve."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kpis.formulas.rsi.lru import hits, reference_trace
from tests.conformance.lru import main

CURVE = {0: 0, 1: 0, 2: 6, 4: 36, 6: 83, 8: 150, 10: 247, 12: 373}


def test_the_trace_is_the_external_one(cases: Path) -> None:
    recorded = json.loads((cases / "replay" / "lru-reference-trace.json").read_text())
    assert tuple(recorded) == reference_trace()
    assert {size: hits(recorded, size) for size in CURVE} == CURVE


def test_as_a_command(repo: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.lru", *map(str, CURVE)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["hits"] == {str(size): count for size, count in CURVE.items()}
    assert found["rates"]["4"] == 36 / 528
    assert found["values"]["12"] == (373 - 240) / 528
    assert (found["requests"], found["keys"]) == (528, 24)
    assert found["sha256"] == "bd3700e4433b78ad7f65f48ed55fae039e25cd4efee683dd248621b7eb5523ff"


@pytest.mark.parametrize(
    "words", [[], ["x"], ["4", "1.5"], ["--4"], ["-3"], ["4", "-1"], ["9" * 5_000], ["-"], ["\u00b2"]]
)
def test_what_is_no_size_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("Run: python -m tests.conformance.lru SIZE ...\n")
    assert err.count("\n") == 1
