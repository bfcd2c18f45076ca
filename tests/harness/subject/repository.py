"""A real git repository for a test, and a fingerprint of everything that lies in its .git."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from harness.project import Project
from harness.subject.revisions import Base, resolve

IDENTITY = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Repo:
    """A working tree with a few words to fill it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | IDENTITY
        command = ["git", "-c", "protocol.file.allow=always", *words]
        done = subprocess.run(command, cwd=self.top, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: dict[str, str | bytes] | None = None) -> str:
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "m")
        return self.git("rev-parse", "HEAD")

    def project(self, within: str = ".") -> Project:
        return Project((self.top / within).resolve())

    def base(self, rev: str = "HEAD") -> Base:
        return resolve(self.top, rev)


def fingerprint(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Path -> (mode, time of writing, digest) of all that lies in ``folder``, folders with it."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        facts = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (facts.st_mode, facts.st_mtime_ns, digest)
    return found


def listing(root: Path) -> dict[str, bytes | str]:
    """Path -> content, or ``-> target`` of a link, of all files under ``root``."""
    return {
        str(path.relative_to(root)): f"-> {path.readlink()}" if path.is_symlink() else path.read_bytes()
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }
