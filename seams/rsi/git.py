"""Asks git on behalf of the loop, and lets it run nothing of the user's: no hook, monitor, filter, pager or fetch.

The caller's GIT_* variables are dropped, but for those that name configuration files. Commits that are made here have
a fixed identity and the date of their parent, so that the same candidates make the same commits wherever they are
tried. Refuses nothing by itself: :mod:`seams.rsi.ground` says which repositories a loop may work in.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seams.rsi.errors import LoopError

__all__ = ["Repository", "ask", "command_environment", "run", "words_of"]

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
_IDENTITY = "loopladder rsi"
_EMAIL = "rsi@loopladder.invalid"
_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree, the folder of the repository that all its trees share, and options against its filters."""

    top: Path
    common: Path
    options: tuple[str, ...] = ()

    def ask(
        self, *words: str, tree: Path | None = None, index: Path | None = None, feed: bytes = b"", date: str = ""
    ) -> bytes:
        """The output of a git command over the store, with ``tree`` as working tree and ``index`` as index.

        Raises:
            LoopError: it failed, with the last line that it said.
        """
        code, out, said = self.run(*words, tree=tree, index=index, feed=feed, date=date)
        if code != 0:
            raise _failed(words, said)
        return out

    def run(
        self, *words: str, tree: Path | None = None, index: Path | None = None, feed: bytes = b"", date: str = ""
    ) -> tuple[int, bytes, str]:
        """(exit code, output, what it said) of the same."""
        place = tree or self.top
        extra = {} if index is None else {"GIT_INDEX_FILE": str(index)}
        if date:
            extra |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        where = [f"--git-dir={self.common}", f"--work-tree={place}"]
        return run([*self.options, *where, *words], cwd=place, feed=feed, extra=extra)


def _failed(words: tuple[str, ...], said: str) -> LoopError:
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing")
    command = shlex.join(["git", *words])[:200]
    return LoopError(f"The command {command!r} failed and said: {last.strip()[:300]}. Look with: git fsck")


def ask(words: list[str], cwd: Path) -> bytes:
    """The output of a git command in ``cwd``.

    Raises:
        LoopError: as :meth:`Repository.ask`.
    """
    code, out, said = run(words, cwd=cwd)
    if code != 0:
        raise _failed(tuple(words), said)
    return out


def run(
    words: list[str], *, cwd: Path, feed: bytes = b"", extra: Mapping[str, str] | None = None
) -> tuple[int, bytes, str]:
    """(exit code, output, what it said) of ``git words`` in ``cwd``.

    Raises:
        LoopError: there is no git, ``cwd`` cannot be entered, or no answer came within ten minutes.
    """
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _KEPT}
    fixed = {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_AUTHOR_NAME": _IDENTITY,
        "GIT_AUTHOR_EMAIL": _EMAIL,
        "GIT_COMMITTER_NAME": _IDENTITY,
        "GIT_COMMITTER_EMAIL": _EMAIL,
    }
    try:
        done = subprocess.run(
            ["git", "--no-pager", *settings, *words],
            cwd=cwd,
            input=feed,
            capture_output=True,
            env={**environment, **fixed, **(extra or {})},
            timeout=_LIMIT_S,
            check=False,
        )
    except OSError as error:
        what = f"{cwd} cannot be entered" if not cwd.is_dir() else "git cannot be started"
        raise LoopError(f"The loop needs git, and {what}: {error.strerror}. Look with: git --version") from error
    except subprocess.TimeoutExpired:
        raise LoopError(f"git did not answer within {_LIMIT_S / 60:.0f} minutes in {cwd}. Try: git status") from None
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def command_environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """What a candidate's commands find in their environment: a home and a folder for scratch files of their own.

    PYTHONPATH goes, because it could lead back to the user's tree and away from the candidate's; the hash seed is
    fixed, because a decision has to come out the same again.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTHON"))}
    own = {"HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    return {**kept, **own, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "GIT_OPTIONAL_LOCKS": "0", **more}


def words_of(listing: bytes) -> list[str]:
    """The paths of a NUL-separated listing."""
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]
