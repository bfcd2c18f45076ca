"""The judge's runner: one answer a line, errors on their line, and the exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.judge import main
from tests.harness.judge.streams import stream

KEYS = {"state", "ratio", "low", "high", "pairs", "smallest_visible"}


def line(direction: str = "lower", **given) -> str:
    return json.dumps({"pairs": stream(1, "iid", **given), "direction": direction})


def answered(tmp_path: Path, capsys: pytest.CaptureFixture[str], *lines: str | bytes) -> tuple[int, list[dict]]:
    file = tmp_path / "streams.jsonl"
    file.write_bytes(b"\n".join(each if isinstance(each, bytes) else each.encode() for each in lines))
    code = main([str(file)])
    return code, [json.loads(each) for each in capsys.readouterr().out.splitlines()]


def test_an_answer_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (line(), line(change=0.1), line("higher", change=0.1), line(n=20, spread=0.4), line(n=0), "")
    code, answers = answered(tmp_path, capsys, *lines)
    assert code == 0
    assert [answer["state"] for answer in answers] == ["ok", "regressed", "improved", "inconclusive", "inconclusive"]
    assert [answer["pairs"] for answer in answers] == [16, 80, 80, 20, 0]
    assert all(set(answer) == KEYS for answer in answers)
    assert 1.02 < answers[1]["low"] < answers[1]["ratio"] < answers[1]["high"]
    assert answers[1]["ratio"] == pytest.approx(1.1, abs=0.01)
    assert 0.02 < answers[0]["smallest_visible"] < 0.05
    assert answers[4] == dict.fromkeys(KEYS) | {"state": "inconclusive", "pairs": 0}


BAD = [
    "{",
    "[]",
    "null",
    '{"pairs": [[1, 2]]}',
    '{"pairs": [[1, 2]], "direction": "up"}',
    '{"pairs": [[1, 2]], "direction": ["lower"]}',
    '{"pairs": {}, "direction": "lower"}',
    '{"pairs": [[1]], "direction": "lower"}',
    '{"pairs": [[1, 2, 3]], "direction": "lower"}',
    '{"pairs": [[1, true]], "direction": "lower"}',
    '{"pairs": [[1, "2"]], "direction": "lower"}',
    '{"pairs": [[1, NaN]], "direction": "lower"}',
    '{"pairs": [[1, Infinity]], "direction": "lower"}',
    '{"pairs": [[0, 1]], "direction": "lower"}',
    '{"pairs": [[1, -1]], "direction": "lower"}',
    '{"pairs": [[1, 1' + "0" * 400 + ']], "direction": "lower"}',
    '{"pairs": ' + "[" * 100_000,
    b'{"pairs": [], "direction": "low\xff"}',
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_bad_line_is_an_error_on_its_line(bad: str | bytes, tmp_path: Path, capsys) -> None:
    code, answers = answered(tmp_path, capsys, line(), bad, line())
    assert code == 2
    assert [answer.get("state", "error") for answer in answers] == ["ok", "error", "ok"]
    assert answers[1]["error"].startswith("line 2: ")


def test_as_a_command(tmp_path: Path, repo: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(line(change=0.2))
    command = [sys.executable, "-m", "tests.conformance.judge", str(file)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "regressed"


@pytest.mark.parametrize("argv", [[], ["a", "b"], ["/nowhere/at/all.jsonl"]])
def test_what_cannot_be_read(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "usage: python -m tests.conformance.judge" in capsys.readouterr().err
