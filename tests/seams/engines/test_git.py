"""One runner of git for every seam: nothing of the repository's or the user's runs, and nothing is left running."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from seams.engines import git
from seams.engines.git import GitError, disarmed, find, names, run


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def program(place: Path, text: str) -> Path:
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_no_setting_of_the_users_or_the_machines_is_read(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = top.parent / "mine"
    mine.write_text("[user]\n\tname = me\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(mine))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(mine))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "me")
    monkeypatch.setenv("GIT_DIR", str(mine))
    assert run(["config", "user.name"], top).code == 1
    assert run(["config", "core.hooksPath"], top).out == b"/dev/null\n"
    assert run(["config", "user.name"], top, settings={"user.name": "told"}).out == b"told\n"


def test_no_pager_no_prompt_and_no_monitor(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = top.parent / "ran"
    trap = str(program(top.parent / "trap", f"echo >> {ran}; cat"))
    for variable in ("GIT_PAGER", "PAGER", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND", "GIT_EDITOR"):
        monkeypatch.setenv(variable, trap)
    for key in ("core.pager", "core.fsmonitor", "core.askPass", "pager.status"):
        subprocess.run(["git", "config", key, trap], cwd=top, check=True)
    (top / "new").write_text("x")
    assert find(top).ask("status", "--porcelain") == b"?? new\n"
    assert run(["ls-remote", "https://localhost:9/none"], top).code != 0
    assert not ran.exists()


def test_a_filter_is_switched_off_whatever_its_name(top: Path) -> None:
    for name in ("plain", "a=b", "c.d"):
        subprocess.run(["git", "config", f"filter.{name}.clean", "cat"], cwd=top, check=True)
    off = disarmed(top)
    assert {key for key in off if key.endswith(".clean")} == {
        f"filter.{name}.clean" for name in ("plain", "a=b", "c.d")
    }
    assert run(["config", "filter.a=b.clean"], top, settings=off).out == b"\n"


def test_a_folder_is_not_read_as_part_of_a_repository_around_it_unless_that_is_meant(top: Path) -> None:
    within = top / "within"
    within.mkdir()
    assert run(["rev-parse", "--show-toplevel"], within).code != 0
    assert run(["rev-parse", "--show-toplevel"], within, inside=True).out == os.fsencode(f"{top}\n")


def test_one_that_does_not_end_is_ended_with_what_it_started(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_ = top.parent / "bin"
    bin_.mkdir()
    left = top.parent / "pid"
    program(bin_ / "git", f"sleep 300 & echo $! > {left}; wait")
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.setattr(git, "_SECONDS", 1.0)
    with pytest.raises(GitError, match=r"had not ended within 1 s.*Look with: git --version"):
        run(["status"], top)
    state = Path(f"/proc/{int(left.read_text())}/stat")
    assert not state.exists() or state.read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")


def test_an_answer_that_is_too_long_is_refused(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_MOST", 10)
    with pytest.raises(GitError, match="wrote more than 10 bytes"):
        run(["help", "--all"], top)


def test_no_git_and_no_folder_are_told_apart(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match=r"There is no folder .*nowhere that can be entered\. Look with: ls -d"):
        run(["status"], top / "nowhere")
    monkeypatch.setenv("PATH", str(top))
    with pytest.raises(GitError, match=r"cannot be started: .*Look with: git --version"):
        run(["status"], top)


def test_names_are_what_the_file_system_holds() -> None:
    assert names(b"a b\0c\nd\0\xff\0") == ["a b", "c\nd", os.fsdecode(b"\xff")]
    assert names(b"") == []
