"""The page of the upper floors: its programs for a repository of one's own run, and print what it says they do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seams.rsi.journal import read
from tests.conftest import REPO
from tests.seams.rsi.repository import IDENTITY
from tests.test_docs import BLOCK, lay_out

NAME = "docs/upper-floors.md"
SHOWN = re.compile(r"\A\$ python (.*)\n")


class Folder:
    """The programs of the page, beside the repository ``app`` and an export of its tracker."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.app = top / "app"
        lay_out(NAME, top)
        self.app.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        measure = "from cache import SIZE\nprint(f'KPI={SIZE}')\n"
        suite = "from cache import SIZE\nassert SIZE > 0\n"
        self.commit("begin", {"cache.py": "SIZE = 3\n", "measure.py": measure, "suite.py": suite})
        self.commit("fixes #1", {"cache.py": "SIZE = 4\n"})
        self.commit("closes #2", {"other.py": "pass\n"})
        rows = [{"number": number, "state": "closed", "stateReason": "COMPLETED"} for number in (1, 2, 3)]
        rows += [{"number": 4, "state": "closed", "stateReason": "NOT_PLANNED"}, {"number": 5, "state": "open"}]
        (top / "issues.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def git(self, *words: str) -> str:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | IDENTITY
        command = ["git", "-c", "core.hooksPath=/dev/null", *words]
        return subprocess.run(command, cwd=self.app, env=kept, check=True, capture_output=True, text=True).stdout

    def commit(self, message: str, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.app / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def python(self, *words: str, code: int = 0, fault: bool = False) -> list[str]:
        """What a program of the page printed, line by line; where it is to end in a ``fault``, what it said of that."""
        own = {"PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=self.top, env=os.environ | own, capture_output=True, text=True, check=False)
        said, empty = (done.stderr, done.stdout) if fault else (done.stdout, done.stderr)
        assert (done.returncode, empty) == (code, ""), done.stdout + done.stderr
        return [line.rstrip() for line in said.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_what_the_page_shows_is_printed(folder: Folder) -> None:
    blocks = BLOCK.findall((REPO / NAME).read_text(encoding="utf-8"))
    shown = [body for language, body in blocks if language == "text"]
    assert [body.split()[2] for body in shown] == ["audit.py", "improve.py"]
    for body in shown:
        typed = SHOWN.match(body)
        assert typed is not None
        assert folder.python(*typed[1].split()) == body[typed.end() :].splitlines()


def test_a_second_loop_on_the_same_branch_says_one_sentence(folder: Folder) -> None:
    folder.python("improve.py")
    said = folder.python("improve.py", code=1, fault=True)
    expected = "There is a branch tried already, and a loop keeps on a branch of its own. Merge it and then type: "
    assert said == [expected + "git branch --delete tried"]


def test_what_a_loop_keeps_is_tracked_once_it_is_merged_and_what_harms_is_red(folder: Folder) -> None:
    folder.python("improve.py")
    assert folder.git("log", "--format=%s", "main..tried").splitlines() == ["12 slots", "8 slots"]
    assert folder.python("tracked.py")[0].startswith("first hits is 4.0 for main at ")
    folder.git("merge", "--quiet", "--ff-only", "tried")
    assert folder.python("tracked.py")[0].startswith("ok hits was 4.0 for main at ")
    folder.commit("worse", {"cache.py": "SIZE = 9\n"})
    assert folder.python("tracked.py", code=1)[0].startswith("regressed hits was 12.0 for main at ")
    found = read(folder.top / "journal.jsonl")
    assert ([row.mode for row in found.rows], found.torn) == (["improve"] * 3 + ["track"] * 3, 0)


def test_the_gate_decides_and_its_log_is_counted(folder: Folder) -> None:
    for times in (1, 2):
        said, rate, split = folder.python("gate.py")
        verdicts = [json.loads(line)["verdict"] for line in (folder.top / "decisions.jsonl").read_text().splitlines()]
        assert (len(verdicts), said.split()[0]) == (times, verdicts[-1])
        assert rate == f"{verdicts.count('SPAWN_OK')} of {times} were admitted; 0 lines cannot be read"
        assert all(f"'{verdict}': {verdicts.count(verdict)}" in split for verdict in verdicts)
