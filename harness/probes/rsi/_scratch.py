"""A small repository in a temporary folder for a loop to work on: a cache, what measures it, its suite and a page.

The declared file is the cache. The commits are plumbing with a fixed identity and a fixed date and read no
configuration of the user's, so that their ids are the same everywhere. HEAD is on a branch that never moves; ``main``
is the reference that a loop pins, and that a probe may move under it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.measure.clock import Undefined, WorkNotDoneError
from kpis.formulas.rsi.lru import SLOT_COST, hits, objective, reference_trace
from seams.contract.rsi_loop import Charge

__all__ = ["CAPACITY", "LEASE", "PAGE", "REFERENCE", "Scratch", "cache_source", "value_of", "without_git"]

CAPACITY = 4
"""The size that the cache has at first."""

LEASE, PAGE, REFERENCE = "cache.py", "README.md", "main"

_CACHE = '''"""A cache that evicts what was not used for longest."""

from collections import OrderedDict

CAPACITY = {capacity}


def replay(trace, size=CAPACITY):
    held, found = OrderedDict(), 0
    for key in trace:
        if key in held:
            held.move_to_end(key)
            found += 1
        elif size > 0:
            if len(held) == size:
                held.popitem(last=False)
            held[key] = None
    return found
'''

_MEASURE = """from cache import CAPACITY, replay

trace = [int(word) for word in open("trace").read().split()]
print("KPI=%r" % ((replay(trace) - {cost} * CAPACITY) / len(trace)))
"""

_SUITE = """from cache import CAPACITY, replay

assert 0 < CAPACITY
assert replay([1, 2, 1, 3, 2], 2) == 1
assert replay([1, 1, 2, 2], 0) == 0
"""

_TRACE = reference_trace()

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": said for who in ("AUTHOR", "COMMITTER") for what, said in (
        ("NAME", "probe"), ("EMAIL", "probe@loopladder.invalid"), ("DATE", "2026-01-01T00:00:00+00:00"))},
}  # fmt: skip

# What the user's own configuration might say otherwise while the loop asks git.
_LOCAL = {
    "core.autocrlf": "false",
    "core.excludesFile": os.devnull,
    "core.attributesFile": os.devnull,
    "core.fileMode": "true",
}


def cache_source(capacity: int) -> str:
    """The declared file with that size in it."""
    return _CACHE.format(capacity=capacity)


def value_of(capacity: int) -> float:
    """The metric of a cache of that size, by the formula."""
    return objective(hits(_TRACE, capacity), len(_TRACE), capacity)


def without_git() -> Undefined | None:
    """Why there can be no repository here; None where git is on the path."""
    if shutil.which("git") is None:
        return Undefined("not-installed", "There is no program git, and so no repository for a loop to work on.")
    return None


class Scratch:
    """The repository, in a folder that is removed by :meth:`close`, or at the end of the process."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._held = tempfile.TemporaryDirectory(prefix="loopladder-probe-")
        folder = Path(self._held.name).resolve()
        self.top, self.journal = folder / "work", folder / "journal.jsonl"
        self.top.mkdir()
        self.git("init", "--quiet", "--object-format=sha1", "--template=", "--initial-branch=work")
        for name, value in _LOCAL.items():
            self.git("config", name, value)
        self.base = self.commit(
            {
                LEASE: cache_source(capacity),
                "measure.py": _MEASURE.format(cost=SLOT_COST),
                "suite.py": _SUITE,
                "trace": " ".join(map(str, _TRACE)),
                PAGE: "A cache.\n",
            }
        )
        self.git("update-ref", "refs/heads/work", self.base)
        self.git("update-ref", f"refs/heads/{REFERENCE}", self.base)
        self.git("reset", "--quiet", "--hard")

    def git(self, *words: str, feed: bytes = b"") -> str:
        """The output of a git command there, of which no hook and none of the user's settings is part.

        Raises:
            WorkNotDoneError: it failed.
        """
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *words]
        done = subprocess.run(
            command, cwd=self.top, env=kept | _ENVIRONMENT, input=feed, capture_output=True, check=False
        )
        if done.returncode != 0:
            raise WorkNotDoneError(f"git {words[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()[:200]}")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, files: Mapping[str, str], parent: str | None = None) -> str:
        """A commit of ``files`` over those of ``parent``; no branch moves. Its index is left as the parent's was."""
        rows = [] if parent is None else self.git("ls-tree", parent).splitlines()
        tree = {row.partition("\t")[2]: row for row in rows}
        for name, text in files.items():
            blob = self.git("hash-object", "-w", "--stdin", feed=text.encode())
            tree[name] = f"100644 blob {blob}\t{name}"
        made = self.git("mktree", feed="".join(f"{row}\n" for row in tree.values()).encode())
        words = [] if parent is None else ["-p", parent]
        return self.git("commit-tree", made, *words, "-m", "scratch")

    def charge(self, **more: object) -> Charge:
        """What a loop over it is told; its commands are a bare interpreter's."""
        python = [sys.executable, "-S", "-s", "-B"]
        told: dict[str, object] = {
            "repository": self.top,
            "journal": self.journal,
            "measure": [*python, "measure.py"],
            "suite": [[*python, "suite.py"]],
            "reference": REFERENCE,
            "metric_name": "lru_value",
        }
        return Charge(**{**told, **more})  # type: ignore[arg-type]

    def require_untouched(self, branch: str = "rsi") -> None:
        """Hold what the loop must leave alone against what it was.

        Raises:
            WorkNotDoneError: the working tree, HEAD or a branch other than ``branch`` moved, or a tree is left behind.
        """
        if self.git("status", "--porcelain", "--untracked-files=all"):
            raise WorkNotDoneError("the loop changed the working tree of the repository")
        if self.git("symbolic-ref", "HEAD") != "refs/heads/work" or self.git("rev-parse", "HEAD") != self.base:
            raise WorkNotDoneError("the loop moved HEAD")
        names = self.git("for-each-ref", "--format=%(refname)").splitlines()
        if strange := set(names) - {"refs/heads/work", f"refs/heads/{REFERENCE}", f"refs/heads/{branch}"}:
            raise WorkNotDoneError(f"the loop made {', '.join(sorted(strange))}")
        if len(self.git("worktree", "list", "--porcelain").split("\n\n")) != 1:
            raise WorkNotDoneError("the loop left a worktree behind")

    def close(self) -> None:
        """Remove it; safe to call twice."""
        self._held.cleanup()
