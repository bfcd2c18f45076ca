"""A loop that is killed: what it ran ends at once, and the next loop removes its trees and nobody else's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seams.engines.removal import removed
from seams.rsi import worktrees
from seams.rsi.errors import LoopError
from seams.rsi.ground import find
from seams.rsi.loop import ReferenceLoop
from seams.rsi.worktrees import LOCK, MARK, PREFIX, Scratch, clean
from tests.seams.rsi.repository import Repo, alive, metric

LOOP = ReferenceLoop()

VICTIM = """
import sys, tempfile
from pathlib import Path
tempfile.tempdir = {temporary!r}
from seams.rsi.loop import ReferenceLoop
from tests.seams.rsi.repository import Repo, metric, running
repo = object.__new__(Repo)
repo.top, repo.journal = Path({top!r}), Path({journal!r})
code = "import os, time; open({pid!r}, 'w').write(str(os.getpid())); time.sleep(600)"
ReferenceLoop(confine=False).run(repo.charge(), [metric(2), running(code)])
"""


def wait_for(what, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


@pytest.fixture
def killed(repo_of_one: Repo, temporary: Path, repo: Path) -> Repo:
    """The repository of a loop that was killed while its second candidate ran."""
    pid_file = repo_of_one.folder / "pid"
    told = {"temporary": temporary, "top": repo_of_one.top, "journal": repo_of_one.journal, "pid": pid_file}
    script = VICTIM.format(**{key: str(value) for key, value in told.items()})
    process = subprocess.Popen([sys.executable, "-c", script], cwd=repo)
    wait_for(lambda: pid_file.is_file() and pid_file.read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    pid = int(pid_file.read_text())
    wait_for(lambda: not alive(pid))
    assert repo_of_one.trees() == 2
    return repo_of_one


def test_the_next_loop_removes_what_was_left_and_nothing_is_lost(killed: Repo, temporary: Path) -> None:
    assert [row.name[: len(PREFIX)] for row in temporary.iterdir()] == [PREFIX]
    assert killed.git("show", "rsi:metric") == "2"
    assert LOOP.run(killed.charge(branch="again", reference="rsi"), [metric(3)]).kept == 1
    assert killed.git("show", "again:metric") == "3"


def test_a_loop_that_is_refused_has_removed_what_was_left_too(killed: Repo, temporary: Path) -> None:
    with pytest.raises(LoopError, match="There is a branch rsi already"):
        LOOP.run(killed.charge(), [metric(3)])
    assert list(temporary.iterdir()) == []
    assert killed.trees() == 1


def test_what_cannot_be_removed_is_passed_over(killed: Repo, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (left,) = temporary.iterdir()

    def refusing(folder: Path, last: str | None = None) -> bool:
        return False if folder.is_relative_to(left) else removed(folder, last)

    with monkeypatch.context() as patch:
        patch.setattr(worktrees, "removed", refusing)
        assert clean(find(killed.top)) == []
        assert LOOP.run(killed.charge(branch="again", reference="rsi"), [metric(3)]).kept == 1
        assert list(temporary.iterdir()) == [left]
    assert left in clean(find(killed.top))


@pytest.mark.timeout(60)
def test_an_entry_that_is_a_pipe_is_not_waited_for(killed: Repo) -> None:
    (entry,) = (killed.top / ".git" / "worktrees").iterdir()
    place = (entry / "gitdir").read_bytes()
    (entry / "gitdir").unlink()
    os.mkfifo(entry / "gitdir")
    assert len(clean(find(killed.top))) == 1, "the folder, though not the entry"
    (entry / "gitdir").unlink()
    (entry / "gitdir").write_bytes(place)
    assert len(clean(find(killed.top))) == 1


def test_only_its_own_trees_are_removed(killed: Repo, tmp_path: Path, temporary: Path) -> None:
    mine = tmp_path / "mine"
    killed.git("worktree", "add", "--quiet", "--detach", str(mine))
    named = temporary / f"{PREFIX}mine" / f"{PREFIX}tree"  # like ours by name, and without our mark
    killed.git("worktree", "add", "--quiet", "--detach", str(named))
    folder = temporary / f"{PREFIX}folder"
    folder.mkdir()
    (folder / LOCK).write_bytes(b"not " + MARK)
    removed = clean(find(killed.top))
    assert len(removed) == 2, "the tree and the folder around it"
    assert (mine / "metric").is_file()
    assert (named / "metric").is_file()
    assert folder.is_dir()
    for each in (mine, named):
        killed.git("worktree", "remove", str(each))
    for place in (folder, named.parent):
        shutil.rmtree(place)


def test_a_loop_that_ended_before_its_lock_was_in_place_is_cleaned_up(repo_of_one: Repo) -> None:
    scratch = Scratch(find(repo_of_one.top))
    scratch.lock.rename(scratch.folder / f".{LOCK}")
    assert clean(find(repo_of_one.top)) == [], "its loop lives"
    os.close(scratch._handle or -1)
    assert clean(find(repo_of_one.top)) == [scratch.folder]


def test_the_trees_of_a_loop_that_lives_are_left_alone(killed: Repo) -> None:
    session = LOOP.open(killed.charge(branch="living", journal=killed.folder / "other"))
    before = killed.trees()
    assert clean(find(killed.top)) == []
    assert killed.trees() == before
    assert session.cycle(metric(3)).kept
    session.close()


def test_a_tree_whose_folder_was_swept_away_is_forgotten(killed: Repo, temporary: Path) -> None:
    for folder in temporary.iterdir():
        shutil.rmtree(folder)
    assert len(clean(find(killed.top))) == 1


def test_a_folder_of_a_repository_that_is_gone_is_removed(repo_of_one: Repo, tmp_path: Path, temporary: Path) -> None:
    other = Repo(tmp_path / "other")
    scratch = Scratch(find(other.top))
    shutil.rmtree(other.folder)
    assert clean(find(repo_of_one.top)) == [], "its loop lives"
    os.close(scratch._handle or -1)
    assert clean(find(repo_of_one.top)) == [scratch.folder]


def test_a_folder_of_another_repositorys_dead_loop_is_left_to_that(repo_of_one: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    scratch = Scratch(find(other.top))
    os.close(scratch._handle or -1)
    assert clean(find(repo_of_one.top)) == []
    assert clean(find(other.top)) == [scratch.folder]
