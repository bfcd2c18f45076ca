"""A real repository for a loop, whose metric is the number in a file, and what lies in its store."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seams.contract.rsi_loop import Candidate, Charge

IDENTITY = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}

PYTHON = [sys.executable, "-S", "-s", "-B"]


class Repo:
    """A working tree with a metric, a program that runs when it is measured, and a page."""

    def __init__(self, folder: Path, metric: str = "1.0", files: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.top = folder / "work"
        self.journal = folder / "journal.jsonl"
        self.top.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit({"metric": metric, "run.py": "", "README.md": "a page\n", **(files or {})})

    def git(self, *words: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | IDENTITY
        command = ["git", "-c", "core.hooksPath=/dev/null", *words]
        done = subprocess.run(command, cwd=self.top, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            place = self.top / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "m")
        return self.git("rev-parse", "HEAD")

    def charge(self, **more: Any) -> Charge:
        """Runs ``run.py``, then prints what is in ``metric``; the suite is green where there is no file ``red``."""
        told: dict[str, Any] = {
            "repository": self.top,
            "journal": self.journal,
            "measure": ["sh", "-c", '"$0" -S -s -B run.py && echo KPI=$(cat metric)', sys.executable],
            "suite": [["sh", "-c", "test ! -e red"]],
            "limit_s": 20.0,
        }
        return Charge(**{**told, **more})

    def trees(self) -> int:
        return len(self.git("worktree", "list", "--porcelain").split("\n\n"))

    def branches(self) -> set[str]:
        return set(self.git("for-each-ref", "--format=%(refname:short)").split())


def metric(value: object, name: str | None = None, **edits: bytes | None) -> Candidate:
    """A candidate that writes ``value`` into the metric, and other files where they are named."""
    return Candidate(name or str(value), "metric", {"metric": str(value).encode(), **edits})


def running(code: str, name: str = "runs") -> Candidate:
    """A candidate whose code runs while it is measured."""
    return Candidate(name, "run.py", {"run.py": code.encode()})


def contents(folder: Path) -> dict[str, str]:
    """Path -> digest of every file in ``folder``."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def alive(pid: int) -> bool:
    """Whether that process runs; one that only waits to be waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")
