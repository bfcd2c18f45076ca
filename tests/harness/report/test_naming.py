"""The name by which a user started us, and how wide a text may be."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import termios
from pathlib import Path

import pytest

from harness.report import naming
from harness.report.naming import command, name_of, said, typed
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


@pytest.mark.parametrize(
    "word", ["a b", "it's", "a\nb", "\x1b[31m'x'\\1", "caf\xe9\x07\u202e9", "\udcff1", "-n", "$(x)\t`y`"]
)
def test_what_is_typed_comes_back_and_is_visible(word: str) -> None:
    shown = typed(word)
    assert shown.isprintable()
    back = subprocess.run(["bash", "-c", f"printf %s {shown}"], capture_output=True, check=True).stdout
    assert back == os.fsencode(word)
    assert command(["run", word]) == f"python -m harness run {shown}"


def test_a_folder_that_is_gone_leaves_the_bare_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    assert name_of("/somewhere/loopladder", {"PATH": "/nowhere"}) == "loopladder"
    assert name_of("-c", {"PATH": "/nowhere"}) == "python -m harness"


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
