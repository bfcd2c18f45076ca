"""Asks git of a repository that may be anybody's, and lets it run nothing of theirs: no hook, monitor, filter or fetch.

Neither the user's configuration nor the machine's is read, and the caller's GIT_* variables are dropped; what the
repository's own configuration could start is switched off. Objects are read as they are, without replacements. Every
command that is asked here reads.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from seams.engines.child import Answer, ChildError, ask

__all__ = ["GitError", "Repository", "find", "run"]

_SETTINGS: Final = MappingProxyType(
    {
        "core.hooksPath": "/dev/null",
        "core.fsmonitor": "",
        "core.untrackedCache": "false",
        "core.splitIndex": "false",
        "core.quotePath": "true",
        "gc.auto": "0",
        "maintenance.auto": "false",
        "log.showSignature": "false",
        "submodule.recurse": "false",
    }
)
_SECONDS = 120.0
_MOST = 256 * 1024 * 1024


class GitError(Exception):
    """git has no answer: one sentence, with what to type next."""


def run(words: list[str], cwd: Path, feed: bytes = b"", settings: dict[str, str] | None = None) -> Answer:
    """How ``git words`` ended in ``cwd``; ``settings`` come before those of the repository.

    Raises:
        GitError: there is no git, ``cwd`` cannot be entered, or the answer was too long in coming, or too long.
    """
    try:
        return ask(
            ["git", "--no-pager", "--no-optional-locks", *words],
            seconds=_SECONDS,
            most=_MOST,
            cwd=cwd,
            feed=feed,
            environment=_environment(cwd, {**_SETTINGS, **(settings or {})}),
        )
    except ChildError as error:
        if not cwd.is_dir():
            place = shlex.quote(str(cwd.parent))
            raise GitError(f"There is no folder {cwd} that can be entered. Look with: ls -d {place}") from None
        raise GitError(f"{error}. Look with: git --version") from error


def _environment(cwd: Path, settings: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # Settings go by the environment, where a name may hold any sign, and not by the command line.
    keys = {f"GIT_CONFIG_KEY_{at}": key for at, key in enumerate(settings)}
    given = keys | {f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())}
    return {
        **kept,
        **given,
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        # A folder that is no repository must not be read as part of one that lies around it.
        "GIT_CEILING_DIRECTORIES": str(cwd.parent),
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on disk. ``shallow`` are the commits at which its history is cut, whose parents it does not have."""

    folder: Path
    bare: bool
    shallow: frozenset[str]
    settings: dict[str, str] = field(default_factory=dict)

    def ask(self, *words: str, feed: bytes = b"") -> bytes:
        """The output of a git command.

        Raises:
            GitError: it did not end with 0, or as :func:`run`.
        """
        answer = self.run(*words, feed=feed)
        if answer.code != 0:
            last = next((line for line in reversed(answer.said.splitlines()) if line.strip()), "nothing")
            raise GitError(
                f"The command {shlex.join(['git', *words])[:200]!r} failed in {self.folder} and said: "
                f"{last.strip()[:300]}. Look with: git -C {shlex.quote(str(self.folder))} fsck"
            )
        return answer.out

    def run(self, *words: str, feed: bytes = b"") -> Answer:
        """How it ended, whatever its code."""
        return run(list(words), self.folder, feed, self.settings)


def find(folder: Path) -> Repository:
    """The repository whose top folder, or whose bare store, is ``folder``.

    Raises:
        GitError: there is none, or git does not trust it.
    """
    try:
        place = folder.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or a NUL
        raise GitError(f"{str(folder)!r} is no folder: {error}. Look with: ls -la") from error
    shown = shlex.quote(str(place))
    asked = ("--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository", "--git-path", "shallow")
    answer = run(["rev-parse", *asked], place)
    if answer.code != 0 and "dubious ownership" in answer.said:
        raise GitError(
            f"git does not trust the repository at {place}, which another user owns. Look with: ls -ld {shown}"
        )
    words = os.fsdecode(answer.out).split("\n", 3)
    if answer.code != 0 or words[:2] == ["false", "false"]:
        raise GitError(
            f"{place} is not the top folder of a git repository. Look with: git -C {shown} rev-parse --show-toplevel"
        )
    bare, _, cut, listed = words
    shallow: frozenset[str] = frozenset()
    if cut == "true":
        try:
            shallow = frozenset((place / listed.removesuffix("\n")).read_text(encoding="ascii").split())
        except (OSError, UnicodeDecodeError) as error:
            raise GitError(
                f"Where the history of {place} is cut off cannot be read: {error}. Type: git fetch --unshallow"
            ) from error
    return Repository(place, bare == "true", shallow, _disarmed(place))


def _disarmed(place: Path) -> dict[str, str]:
    """Settings that switch every content filter of the repository's own configuration off."""
    answer = run(["config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(smudge|clean|process)$"], place)
    names = {os.fsdecode(key)[len("filter.") :].rpartition(".")[0] for key in answer.out.split(b"\0") if key}
    off = (("smudge", ""), ("clean", ""), ("process", ""), ("required", "false"))
    return {f"filter.{name}.{kind}": value for name in sorted(names) for kind, value in off}
