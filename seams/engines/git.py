"""Asks git of a repository that may be anybody's, and lets it run nothing of theirs: no hook, monitor, filter or fetch.

Neither the user's configuration nor the machine's is read, and the caller's GIT_* variables are dropped; what the
repository's own configuration could start is switched off. Objects are read as they are: neither a replacement nor a
graft or a commit graph says who the parents of a commit are. No answer is waited for without end or kept without bound,
and whatever git started ends with it. What a command writes is the caller's to say.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from seams.engines.child import Answer, ChildError, ask

__all__ = ["GitError", "Repository", "disarmed", "find", "names", "run"]

_SETTINGS: Final = MappingProxyType(
    {
        "core.hooksPath": "/dev/null",
        "core.fsmonitor": "",
        "core.untrackedCache": "false",
        "core.splitIndex": "false",
        "core.quotePath": "true",
        "core.commitGraph": "false",
        "advice.graftFileDeprecated": "false",
        "gc.auto": "0",
        "maintenance.auto": "false",
        "log.showSignature": "false",
        "submodule.recurse": "false",
    }
)
_SECONDS = 600.0
_MOST = 256 * 1024 * 1024
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class GitError(Exception):
    """git has no answer: one sentence, with what to type next."""


def run(
    words: list[str],
    cwd: Path,
    feed: bytes = b"",
    settings: Mapping[str, str] = _NOTHING,
    variables: Mapping[str, str] = _NOTHING,
    *,
    inside: bool = False,
    seconds: float | None = None,
) -> Answer:
    """How ``git words`` ended in ``cwd``; ``settings`` come before those of the repository.

    ``variables`` are added to git's environment. ``inside``: ``cwd`` may lie deeper in the repository that is meant;
    otherwise it is its top. Without ``seconds`` it has ten minutes.

    Raises:
        GitError: there is no git, ``cwd`` cannot be entered, or the answer was too long in coming, or too long.
    """
    try:
        return ask(
            ["git", "--no-pager", "--no-optional-locks", *words],
            seconds=_SECONDS if seconds is None else seconds,
            most=_MOST,
            cwd=cwd,
            feed=feed,
            environment={**_environment(cwd, {**_SETTINGS, **settings}, inside=inside), **variables},
        )
    except ChildError as error:
        if not cwd.is_dir():
            place = shlex.quote(str(cwd.parent))
            raise GitError(f"There is no folder {cwd} that can be entered. Look with: ls -d {place}") from None
        raise GitError(f"{error}. Look with: git --version") from error


def _environment(cwd: Path, settings: Mapping[str, str], *, inside: bool) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # A folder that is no repository must not be read as part of one that lies around it; where one may lie around it,
    # the caller's own word on where the search ends holds.
    ceiling = os.environ.get("GIT_CEILING_DIRECTORIES", "") if inside else str(cwd.parent)
    # Settings go by the environment, where a name may hold any sign, and not by the command line.
    keys = {f"GIT_CONFIG_KEY_{at}": key for at, key in enumerate(settings)}
    given = keys | {f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())}
    return {
        **kept,
        **given,
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": ceiling,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_GRAFT_FILE": os.devnull,
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
    settings: Mapping[str, str] = field(default_factory=dict)

    def ask(
        self, *words: str, feed: bytes = b"", variables: Mapping[str, str] = _NOTHING, seconds: float | None = None
    ) -> bytes:
        """The output of a git command.

        Raises:
            GitError: it did not end with 0, or as :func:`run`.
        """
        answer = self.run(*words, feed=feed, variables=variables, seconds=seconds)
        if answer.code != 0:
            last = next((line for line in reversed(answer.said.splitlines()) if line.strip()), "nothing")
            raise GitError(
                f"The command {shlex.join(['git', *words])[:200]!r} failed in {self.folder} and said: "
                f"{last.strip()[:300]}. Look with: git -C {shlex.quote(str(self.folder))} fsck"
            )
        return answer.out

    def run(
        self, *words: str, feed: bytes = b"", variables: Mapping[str, str] = _NOTHING, seconds: float | None = None
    ) -> Answer:
        """How it ended, whatever its code."""
        return run(list(words), self.folder, feed, self.settings, variables, seconds=seconds)


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
    if answer.code != 0 or words[:2] == ["false", "false"] or not _is_top(place, bare=words[0] == "true"):
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
    return Repository(place, bare == "true", shallow, disarmed(place))


def _is_top(place: Path, *, bare: bool) -> bool:
    """Whether what git found from ``place`` is there.

    It looks further up than it was told to where the path holds a colon, which parts the folders at which its search
    ends; and the repository may name a working tree that lies elsewhere.
    """
    found = run(["rev-parse", "--absolute-git-dir" if bare else "--show-toplevel"], place).out.removesuffix(b"\n")
    tops = {place, (place / ".git").resolve()} if bare else {place}
    # A file .git leads to a store elsewhere, and git reads no other where there is one.
    return Path(os.fsdecode(found)) in tops or (bare and (place / ".git").is_file())


def disarmed(place: Path) -> dict[str, str]:
    """Settings that switch every content filter off that the configuration of the repository at ``place`` has.

    Raises:
        GitError: as :func:`run`.
    """
    answer = run(["config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(smudge|clean|process)$"], place)
    drivers = {key[len("filter.") :].rpartition(".")[0] for key in names(answer.out)}
    off = (("smudge", ""), ("clean", ""), ("process", ""), ("required", "false"))
    return {f"filter.{name}.{kind}": value for name in sorted(drivers) for kind, value in off}


def names(listing: bytes) -> list[str]:
    """The names of a NUL-separated listing, decoded as the file system's are."""
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]
