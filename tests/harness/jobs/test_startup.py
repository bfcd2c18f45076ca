"""How a start is timed: to its end, until it says ready, or not at all with the reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.jobs import startup
from harness.jobs.startup import measure_all, site_hooks, time_ready, time_whole


def test_site_hooks_are_the_pth_files_that_run_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs.pth").write_text("import os; os.getcwd()\n")
    (tmp_path / "paths.pth").write_text("/somewhere/else\n# import nothing\n")
    monkeypatch.setattr(startup.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path), "platlib": str(tmp_path)})
    assert site_hooks() == ("runs.pth",)


def test_a_process_is_timed_to_its_end_or_until_it_says_ready(tmp_path: Path) -> None:
    assert time_whole((sys.executable, "-c", "pass"), tmp_path) > 0
    ready = "print(json.dumps({'ready_ns': time.clock_gettime_ns(time.CLOCK_MONOTONIC)}))"
    argv = (sys.executable, "-c", f"import json, time; {ready}; time.sleep(.3)")
    assert 0 < time_ready(argv, tmp_path) < time_whole(argv, tmp_path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit('it broke')", "exit code 1, it broke"),
        ("import sys; sys.exit(3)", "exit code 3, it said nothing"),
        ("print('not json')", "it did not say when it was ready, but 'not json'"),
        ("print('[]')", "it did not say when it was ready"),
    ],
)
def test_a_start_that_fails_is_a_reason_and_not_a_time(tmp_path: Path, code: str, words: str) -> None:
    timed = startup._timed("x", (sys.executable, "-c", code), 40, tmp_path, time_ready)
    assert timed.times_ns == ()
    assert timed.median_ns is None
    assert words in (timed.error or "")


def test_an_interpreter_that_is_not_there_is_a_reason_too(tmp_path: Path) -> None:
    assert all("did not start" in (each.error or "") for each in measure_all(tmp_path, str(tmp_path / "python")))
