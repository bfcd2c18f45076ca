"""The replay runner and the adjudication runner, on the recorded files and on altered ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import adjudication, replay

AUTHORED = Path(__file__).parents[1] / "cases" / "syscall"


def reported(capsys: pytest.CaptureFixture[str], *argv: str) -> dict:
    assert replay.main(argv) == 0
    return json.loads(capsys.readouterr().out)


def kernel(arm: dict) -> tuple[int, ...]:
    """Submits, hits, engine calls, denies, transforms, quarantines."""
    names = ("submits", "vdso_hits", "engine_calls", "denies", "transforms", "quarantines")
    return tuple(arm["counters"][name] for name in names)


def test_the_smoke_trace(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = reported(capsys, str(cases / "replay" / "tau2-smoke.json"))
    assert (told["hash"], told["world"]) == ("9f1701415fb4a360", "default")
    counted = {
        name: (*kernel(arm)[1:3], *(arm["tokens"][each] for each in ("input", "output", "total")))
        for name, arm in told["arms"].items()
    }
    assert counted == {
        "on": (6, 6, 355, 140, 495),
        "shared_cache": (7, 5, 298, 119, 417),
        "off": (0, 12, 687, 250, 937),
    }
    ran = {
        name: [at for at, each in enumerate(arm["classes"]["calls"], 1) if each == "pass"]
        for name, arm in told["arms"].items()
    }
    assert (ran["on"], ran["shared_cache"]) == ([1, 2, 4, 7, 10, 11], [1, 4, 7, 10, 11])


def test_the_airline_trace(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = cases / "replay" / "turntax-airline.json"
    told = reported(capsys, str(file))
    assert (told["hash"], told["world"]) == ("71c788f2c57aeb10", "airline")
    on, off = told["arms"]["on"], told["arms"]["off"]
    assert on["classes"]["calls"] == [call["class"] for call in json.loads(file.read_text())["calls"]]
    assert on["classes"]["totals"] == {
        "grammar": 2,
        "pure": 2,
        "dedup": 3,
        "static": 2,
        "quarantine": 1,
        "deny": 1,
        "pass": 3,
    }
    assert (kernel(on), kernel(off)) == ((14, 7, 6, 1, 2, 1), (14, 0, 11, 3, 2, 1))
    assert off["classes"]["totals"]["pass"] == 8
    assert on["net"] == {"turns": 9, "tokens": 11880, "dollars": 0.048600000000000004, "latency_ms": 13500}
    assert off["net"] == {"turns": 2, "tokens": 2640, "dollars": 0.0108, "latency_ms": 3000}
    elsewhere = reported(capsys, str(file), "--world", "default")
    assert elsewhere["world"] == "default"
    assert elsewhere["arms"]["on"]["classes"]["totals"]["grammar"] == 0


def test_as_a_command(repo: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.replay", str(AUTHORED / "desk-airline.json")]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["arms"]["on"]["net"]["turns"] == 4


@pytest.mark.parametrize(
    "argv",
    [(), ("nowhere.json",), ("a", "b"), (str(AUTHORED / "library.json"), "--world"), ("x", "--world", "submarine")],
)
def test_what_cannot_be_replayed(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main(argv) == 2
    assert "usage: python -m tests.conformance.replay" in capsys.readouterr().err


def test_an_unknown_world_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(AUTHORED / "library.json"), "--world", "submarine"]) == 2
    assert "no world 'submarine'" in capsys.readouterr().err


def test_the_recorded_adjudications(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert adjudication.main([str(cases / "replay" / "adjudication-cases.json")]) == 0
    assert capsys.readouterr().out == "12 passed, 0 failed\n"


def test_an_altered_case_fails_by_its_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = {"in": {"tool": "get_x", "args": {}}, "out": {"by": "monitor", "kind": "ALLOW", "reason": "NONE"}}
    wrong = {**right, "out": {**right["out"], "by": "grammar"}}
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([right, wrong]))
    assert adjudication.main([str(file)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("#1 ")
    assert said[-1] == "1 passed, 1 failed"


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[1]", '[{"in": {}, "out": {}}]'])
def test_what_is_no_case_file(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text)
    assert adjudication.main([str(file)]) == 2
    assert "cannot be read as cases" in capsys.readouterr().err


def test_no_file_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert adjudication.main([]) == 2
    assert "No file was named" in capsys.readouterr().err
