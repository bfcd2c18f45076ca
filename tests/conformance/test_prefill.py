"""The runner of the prompt tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.prefill import main


def test_as_a_command(repo: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.prefill", "2048", "50", "5", "32", "64"]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["a"], found["b"], found["c"]) == (1_100_000, 25_920, 17_728)
    ratios = (found["a_over_c"], found["b_over_c"], found["a_over_b"])
    assert ratios == pytest.approx((62.0487, 1.4621, 42.4383), abs=5e-5)


def test_a_ratio_over_nothing_is_null(capsys) -> None:
    assert main(["0", "1", "2", "3", "4"]) == 0
    assert json.loads(capsys.readouterr().out) == dict.fromkeys(("a", "b", "c"), 0) | dict.fromkeys(
        ("a_over_c", "b_over_c", "a_over_b")
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("2048 50 5 32", "4 were given"),
        ("2048 50 0 32 64", "agents = 0"),
        ("2048 0 5 32 64", "turns = 0"),
        ("-1 5 5 32 64", "prefix = -1"),
        ("2048 50 five 32 64", "'five' is no whole number"),
        ("2048 50 1.5 32 64", "'1.5' is no whole number"),
        ("--5 50 5 32 64", "'--5' is no whole number"),
        ("2048 50 5 32 \u0665", "'\u0665' is no whole number"),
        (f"0 2 1 1{'0' * 400} 1", f"'1{'0' * 39}' is no whole number of at most 18 digits"),
        (f"1{'0' * 4290} 1{'0' * 200} 2 2 2", "is no whole number of at most 18 digits"),
    ],
)
def test_what_is_no_session_is_a_sentence(words: str, said: str, capsys) -> None:
    assert main(words.split()) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.endswith("Run: python -m tests.conformance.prefill P T C D R\n")


def test_the_largest_sizes_are_counted_to_the_last_digit(capsys) -> None:
    most = 10**18 - 1
    assert main([str(most)] * 5) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["a"] == most * (most * most + most * most * (most - 1))
    assert found["c"] == most + most * (most - 1) * most
