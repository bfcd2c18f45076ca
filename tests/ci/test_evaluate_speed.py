"""The cases of the speed comparison: the same for the same seed, of about a kilobyte, and a few of them bad."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

from ci import evaluate_speed
from ci.evaluate_speed import main, write_cases
from ci.speed_outputs import SIZE, cases
from harness.formats.evaluation_case import case_of
from harness.jobs.evaluate import evaluate
from harness.jobs.evaluate_config import Deployment
from kpis.rules.catalogue import NAMES

SOME = list(islice(cases(7), 400))


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        assert write_cases(tmp_path / name, seed, 50, sys.maxsize) == 50
    once, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert once == again
    assert once != other


def test_a_size_is_kept(tmp_path: Path) -> None:
    count = write_cases(tmp_path / "a", 1, sys.maxsize, 20_000)
    assert 15 <= count <= 25
    assert 20_000 <= (tmp_path / "a").stat().st_size < 22_000


def test_outputs_are_about_a_kilobyte_and_none_is_like_another() -> None:
    outputs = [case["output"] for case in SOME]
    assert len(set(outputs)) == len(outputs)
    assert all(0.8 * SIZE < len(output) < 1.3 * SIZE for output in outputs)
    assert any(not output.isascii() for output in outputs)


def test_a_few_in_a_hundred_do_not_pass() -> None:
    deployment = Deployment()
    held = [evaluate(case_of(case, deployment.settings), deployment).verdict.passed for case in SOME]
    assert 0.005 * len(held) < held.count(False) < 0.1 * len(held)


def test_the_table_names_each_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "20", "--repeat", "1", "--file", str(tmp_path / "cases.jsonl")]) == 0
    head, plain, whole = capsys.readouterr().out.splitlines()
    assert head.startswith("20 cases, ")
    for line, way in ((plain, "plain msgspec"), (whole, "the whole command")):
        assert line.startswith(way)
        assert "cases/s by the clock" in line
        assert "peak" in line


def test_hostile_texts_are_shown_to_every_rule(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluate_speed, "MIB", 1 << 10)
    main(["--hostile"])
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == NAMES
