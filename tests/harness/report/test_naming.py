"""The name by which a user started us, and how wide a text may be."""

from __future__ import annotations

import io
import os
import pty
import termios
from pathlib import Path

import pytest

from harness.report import naming
from harness.report.naming import command, name_of, said
from harness.report.width import PIPE, columns


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A project with ``.venv/bin/loopladder``, and another one elsewhere."""
    for folder in (tmp_path / ".venv" / "bin", tmp_path / "else where"):
        folder.mkdir(parents=True)
        (folder / "loopladder").write_text("#!/bin/sh\n")
        (folder / "loopladder").chmod(0o755)
    return tmp_path


def test_the_script_on_the_path_is_called_by_its_bare_name(venv: Path) -> None:
    path = {"PATH": f"/nowhere:{venv}/.venv/bin"}
    assert name_of(f"{venv}/.venv/bin/loopladder", path, str(venv)) == "loopladder"
    assert name_of(".venv/bin/loopladder", path, str(venv)) == "loopladder"


def test_the_script_that_is_not_on_the_path_is_called_as_it_was_reached(venv: Path) -> None:
    for path in ({"PATH": "/nowhere"}, {"PATH": f"{venv}/else where"}):
        assert name_of(f"{venv}/.venv/bin/loopladder", path, str(venv)) == ".venv/bin/loopladder"
        assert name_of(".venv/bin/loopladder", path, str(venv)) == ".venv/bin/loopladder"
    outside = name_of(f"{venv}/else where/loopladder", {"PATH": "/nowhere"}, f"{venv}/.venv")
    assert outside == f"'{venv}/else where/loopladder'"


@pytest.mark.parametrize("argv0", ["/site/harness/__main__.py", "-c", "", "/usr/bin/pytest", "loopladder.py"])
def test_everything_else_is_the_module(argv0: str) -> None:
    assert name_of(argv0, {"PATH": "/nowhere"}, "/") == "python -m harness"


def test_sentences_and_commands_take_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said("try `python -m harness list`.") == "try `python -m harness list`."
    monkeypatch.setattr(naming, "_program", "loopladder")
    assert said("`python -m harness list`, `python -P -m harness x`") == "`loopladder list`, `python -P -m harness x`"
    assert command(["run", "--kpi", "a b"]) == "loopladder run --kpi 'a b'"


def test_a_pipe_has_a_width_of_its_own_and_columns_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert columns(io.StringIO()) == PIPE
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 57))
    with os.fdopen(theirs, "w") as terminal:
        assert columns(terminal) == 57
        monkeypatch.setenv("COLUMNS", "64")
        assert columns(terminal) == 64
        monkeypatch.setenv("COLUMNS", "0")
        assert columns(terminal) == 57
    os.close(ours)
