"""Asks git, and lets it run nothing of the user's: no hook, no monitor, no filter, no pager, no fetch.

The caller's GIT_* variables are dropped (inside a hook they point at an index of git's own), but for those that say
which configuration files hold and where a search for a repository ends. Refuses to write into a repository: every
command here reads, and an index that is needed is a private file.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.subject import SubjectError

__all__ = ["GitError", "Repository", "find", "git", "names"]

_KEPT = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
# Each setting closes a way in which reading could run something or write into the repository: hooks follow the writing
# of any index, a monitor is a program, a split index keeps its shared half in .git, and a folded case would drop one of
# two names.
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "",
    "core.splitIndex": "false",
    "core.ignoreCase": "false",
    "core.symlinks": "true",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_LIMIT_S = 900.0


class GitError(SubjectError):
    """A git command failed in a way that nobody foresaw; ``said`` is what it wrote."""

    def __init__(self, words: Iterable[str], said: str) -> None:
        self.said = said
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing")
        command = shlex.join(["git", *words])[:200]
        super().__init__(f"The command {command!r} failed and said: {last.strip()[:300]}. Look with: git fsck")


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree and the folder of its repository, both absolute; ``options`` are further settings."""

    top: Path
    git_dir: Path
    options: tuple[str, ...] = ()

    def ask(self, *words: str, tree: Path | None = None, index: Path | None = None, feed: bytes = b"") -> bytes:
        """The output of a git command; ``tree`` stands in for the working tree and ``index`` for the index.

        Raises:
            GitError: it did not end with 0.
        """
        place = tree or self.top
        # A private index is never folded: a folded one would thin out its tree.
        whole = [] if index is None else ["-c", "index.sparse=false"]
        where = [*self.options, *whole, f"--git-dir={self.git_dir}", f"--work-tree={place}"]
        extra = {} if index is None else {"GIT_INDEX_FILE": str(index)}
        code, out, said = git([*where, *words], cwd=place, feed=feed, extra=extra)
        if code != 0:
            raise GitError(words, said)
        return out

    def listed(self, *words: str) -> bytes:
        """What ``ls-files -z`` says of the user's own index.

        A folder that a sparse index folds is one row that ends with a slash: to unfold it, git would renew the dates
        of objects in the store.
        """
        folds = self.config(r"^index\.sparse$")
        if folds and folds[-1][1].lower() in ("true", "yes", "on", "1", ""):
            with contextlib.suppress(GitError):  # git 2.32 to 2.34 folds and has no such option
                return self.ask("ls-files", "-z", "--sparse", *words)
        return self.ask("ls-files", "-z", *words)

    def store(self, *words: str) -> tuple[int, bytes, str]:
        """(exit code, output, what it said) of a git command that has to do with the repository's store alone."""
        # The folder stands in for the working tree, because that of a submodule that was removed is not there.
        return git([f"--git-dir={self.git_dir}", f"--work-tree={self.git_dir}", *words], cwd=self.git_dir)

    def config(self, pattern: str, blob: str | None = None) -> list[tuple[str, str]]:
        """The settings whose names match ``pattern``, in the order of their precedence, least first.

        With ``blob``, those of a file as it was committed, like ``abc123:.gitmodules``.
        """
        source = [] if blob is None else [f"--blob={blob}"]
        # Any failure is an absence: no such setting, no such file. What then is missing is named by the caller.
        _, out, _ = self.store("config", *source, "--null", "--get-regexp", pattern)
        rows = (os.fsdecode(row).partition("\n") for row in out.split(b"\0") if row)
        return [(key, value) for key, _, value in rows]


def git(
    words: Iterable[str], *, cwd: Path, feed: bytes = b"", extra: Mapping[str, str] | None = None
) -> tuple[int, bytes, str]:
    """(exit code, output, what it said) of ``git words`` in ``cwd``.

    Raises:
        SubjectError: there is no git command, ``cwd`` cannot be entered, or it did not end within 15 minutes.
    """
    settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
    command = ["git", "--no-optional-locks", "--no-pager", *settings, *words]
    try:
        # The mask makes git write the modes that the copies of the working tree get as well.
        done = subprocess.run(
            command,
            cwd=cwd,
            input=feed,
            capture_output=True,
            env={**_environment(), **(extra or {})},
            timeout=_LIMIT_S,
            check=False,
            umask=0o022,
        )
    except FileNotFoundError:
        if not cwd.is_dir():
            raise SubjectError(f"There is no folder {cwd}. Look with: ls -d {shlex.quote(str(cwd.parent))}") from None
        raise SubjectError(
            "The gate needs git 2.30 or newer, and no git is on the path. Look with: git --version"
        ) from None
    except OSError as error:
        raise SubjectError(f"git cannot be started in {cwd}: {error.strerror}. Look with: git --version") from error
    except subprocess.TimeoutExpired:
        raise SubjectError(f"git did not answer within {_LIMIT_S / 60:.0f} minutes in {cwd}. Try: git status") from None
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key.startswith(_KEPT)}
    # A partial clone must not fetch what it lacks behind the user's back: older gits than 2.45 are asked first.
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}


def find(folder: Path) -> Repository:
    """The repository whose working tree holds ``folder``.

    Raises:
        SubjectError: there is none, it is bare, or git refuses to trust it.
    """
    code, out, said = git(["rev-parse", "--show-toplevel"], cwd=folder)
    if code != 0:
        place = shlex.quote(str(folder))
        if "dubious ownership" in said:
            raise SubjectError(
                f"git refuses the repository at {folder}, because another user owns it. "
                f"If you trust it, type: git config --global --add safe.directory {place}"
            )
        if "must be run in a work tree" in said:
            raise SubjectError(
                f"{folder} is in a repository without a working tree, so there is no head to measure. "
                "Make one: git worktree add ../tree HEAD"
            )
        if "not a git repository" in said:
            raise SubjectError(
                f"{folder} is not in a git repository, so there is nothing to gate against. "
                f"Make one: git -C {place} init"
            )
        raise GitError(["rev-parse", "--show-toplevel"], said)
    top = Path(os.fsdecode(out.removesuffix(b"\n")))
    _, out, _ = git(["rev-parse", "--absolute-git-dir"], cwd=top)
    return Repository(top, Path(os.fsdecode(out.removesuffix(b"\n"))))


def names(listing: bytes) -> list[str]:
    """The paths of a NUL-separated listing, decoded as the file system's names are."""
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]
