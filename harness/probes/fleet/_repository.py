"""A scratch repository of authored commits: the same names of commits wherever it is made, and nothing of the user's.

git imports each lot of commits from one stream. Identity and dates are fixed; no configuration of the user or of the
machine, no template and no hook takes part.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.measure.clock import WorkNotDoneError

__all__ = ["Commit", "Scratch"]

_WHO = "A Worker <worker@loopladder.invalid>"
_BEGAN_S, _STEP_S = 1_700_000_000, 3_600
_SECONDS = 60


class Commit(NamedTuple):
    """A commit that others refer to by ``name``; ``files`` are written, and the first of ``parents`` is built on."""

    name: str
    message: str
    files: Mapping[str, str]
    parents: tuple[str, ...] = ()


class Scratch:
    """A repository in a temporary folder, with the export of a tracker beside it. :meth:`close` removes it."""

    def __init__(self) -> None:
        self._held = tempfile.TemporaryDirectory(prefix="loopladder-closure-")
        self.folder = Path(self._held.name).resolve()
        self.top, self.export = self.folder / "work", self.folder / "issues.jsonl"
        self._marks = self.folder / "marks"
        self.top.mkdir()
        self._marks.touch()
        self.ids: dict[str, str] = {}
        self.git("init", "--quiet", "--object-format=sha1", "--template=", "--initial-branch=main")

    def git(self, *words: str, feed: bytes = b"") -> str:
        """The output of a git command there.

        Raises:
            WorkNotDoneError: it failed.
        """
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.autocrlf=false", *words]
        done = subprocess.run(
            command, cwd=self.top, env=kept | own, input=feed, capture_output=True, timeout=_SECONDS, check=False
        )
        if done.returncode != 0:
            raise WorkNotDoneError(f"git {words[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()[:200]}")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def add(self, commits: Sequence[Commit]) -> None:
        """Import ``commits``, parents first; ``ids`` has their names afterwards. No branch is moved."""
        first = len(self.ids) + 1
        marks = {name: at for at, name in enumerate([*self.ids, *(each.name for each in commits)], start=1)}
        stream = b"".join(self._commit(each, at, marks) for at, each in enumerate(commits, start=first))
        # A commit needs some branch to be made on; this one is taken away again.
        marked = (f"--import-marks={self._marks}", f"--export-marks={self._marks}")
        self.git("fast-import", "--quiet", "--force", "--date-format=raw", *marked, feed=stream)
        self.git("update-ref", "-d", _MADE)
        rows = (line.split() for line in self._marks.read_text(encoding="ascii").splitlines())
        by_mark = {int(mark[1:]): commit for mark, commit in rows}
        self.ids = {name: by_mark[at] for name, at in marks.items()}

    def _commit(self, commit: Commit, at: int, marks: Mapping[str, int]) -> bytes:
        when = f"{_WHO} {_BEGAN_S + at * _STEP_S} +0000"
        lines = [f"reset {_MADE}\n", f"commit {_MADE}\nmark :{at}\nauthor {when}\ncommitter {when}\n"]
        parts = [*map(str.encode, lines), _data(commit.message)]
        for word, parent in zip(("from", *["merge"] * len(commit.parents)), commit.parents, strict=False):
            parts.append(f"{word} :{marks[parent]}\n".encode())
        parts += [f"M 100644 inline {path}\n".encode() + _data(text) for path, text in commit.files.items()]
        return b"".join([*parts, b"\n"])

    def point(self, ref: str, name: str) -> None:
        """Have ``ref`` be the commit of that name."""
        self.git("update-ref", ref, self.ids[name])

    def close(self) -> None:
        """Remove it; safe to call twice."""
        self._held.cleanup()


_MADE = "refs/heads/being-made"


def _data(text: str) -> bytes:
    body = text.encode()
    return b"data %d\n" % len(body) + body + b"\n"
