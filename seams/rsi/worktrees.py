"""Fresh detached worktrees, and the end of those that a killed loop left behind.

All of a loop's trees lie in one temporary folder, which bears a mark and is locked while the loop lives: the kernel
gives the lock back however the loop ends. Each tree's entry in the repository bears the mark too. Refuses to remove a
tree or a folder without the mark, of another user, of another repository, or of a loop that is alive.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from seams.engines.removal import removed
from seams.rsi.errors import LoopError
from seams.rsi.plain import read_plain
from seams.rsi.store import Store

__all__ = ["LOCK", "MARK", "PREFIX", "Scratch", "clean"]

PREFIX = "loopladder-rsi-"
LOCK = "lock"
_NEW = f".{LOCK}"  # until it is taken
MARK = b"loopladder made this for the candidates of one loop and removes it\n"
_TREE = "loopladder-rsi-"
_LONGEST = 64 * 1024
"""Bytes of the path in a worktree's entry."""


class Scratch:
    """A new folder of mode 0700 for the trees of one loop over ``repository``.

    Raises:
        LoopError: it cannot be made.
    """

    def __init__(self, repository: Store) -> None:
        self._repository = repository
        self._made = 0
        self._handle: int | None = None
        self.stays: Path | None = None
        """The last tree that could not be removed when it was done with."""
        try:
            self.folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
            new = self.folder / _NEW
            self._handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            # Locked under another name first: a lock that is there and not held means that its owner is dead.
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(self._handle, MARK + os.fsencode(repository.common))
            new.rename(self.lock)
        except OSError as error:
            raise LoopError(
                f"No folder can be made for the candidates' trees: {error}. Name another: export TMPDIR=/path/with/room"
            ) from error

    @property
    def lock(self) -> Path:
        """The file in the folder that bears the mark, and is locked."""
        return self.folder / LOCK

    @contextmanager
    def tree(self, commit: str) -> Iterator[Path]:
        """A fresh worktree with ``commit`` checked out and no branch; it is removed in the end, whatever is in it.

        One that cannot be removed is in ``stays`` then.
        """
        self._made += 1
        place = self.folder / f"{_TREE}{os.getpid()}-{self._made}"
        try:
            self._repository.ask("worktree", "add", "--quiet", "--detach", "--lock", str(place), commit)
            _mark(place)
            yield place
        finally:
            if not _forget(self._repository, place):
                self.stays = place

    def home(self) -> Path:
        """A fresh folder for what a candidate's commands write besides.

        Raises:
            LoopError: it cannot be made.
        """
        try:
            return Path(tempfile.mkdtemp(prefix="home-", dir=self.folder))
        except OSError as error:
            raise LoopError(
                f"No folder can be made in {self.folder}, where the candidates' trees are: {error.strerror}. "
                f"Look with: df -h {shlex.quote(str(self.folder.parent))}"
            ) from error

    def close(self) -> None:
        """Remove the folder; safe to call twice."""
        if self._handle is not None:
            removed(self.folder, LOCK)
            os.close(self._handle)
            self._handle = None


def _mark(tree: Path) -> None:
    """Leave the mark in the entry of ``tree``, where git does not mind it: it stays if the folder is swept away."""
    entry = (tree / ".git").read_text(encoding="utf-8").removeprefix("gitdir: ").strip()
    Path(entry, "loopladder-rsi").write_bytes(MARK)


def _forget(repository: Store, place: Path) -> bool:
    """Remove the tree and its entry, and whether the tree is gone.

    The files go first: git minds what a candidate did to the tree's ``.git``. A store that was closed keeps the entry,
    until a later loop can look into it.
    """
    gone = removed(place)
    for entry in _entries(repository):
        there = _place_of(entry)
        if there == place or (there is None and entry.name == place.name):
            with suppress(LoopError):
                repository.run("worktree", "remove", "--force", "--force", str(place))
            removed(entry)
    with suppress(OSError):  # git removes it with the last entry, and we may have been the ones to remove that
        (repository.common / "worktrees").rmdir()
    return gone


def _entries(repository: Store) -> list[Path]:
    with suppress(OSError):
        return sorted((repository.common / "worktrees").iterdir())
    return []


def _place_of(entry: Path) -> Path | None:
    said = read_plain(entry / "gitdir", _LONGEST)
    return None if said is None or b"\0" in said else Path(os.fsdecode(said).strip()).parent


def clean(repository: Store) -> list[Path]:
    """Remove the trees of this repository's loops that are dead, and of those whose repository is gone.

    Returns where those were that are gone now; what cannot be removed is passed over, and is no reason not to begin.
    """
    gone = []
    for entry in _entries(repository):
        place = _place_of(entry)
        if place is None or not place.name.startswith(_TREE) or not place.parent.name.startswith(PREFIX):
            continue
        marked = (entry / "loopladder-rsi").is_file() or _owner(place.parent) == repository.common
        if marked and _abandoned(place.parent) and _forget(repository, place):
            gone.append(place)
    for folder in sorted(Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*")):
        store = _owner(folder)
        if store is not None and (store == repository.common or not store.exists()) and _abandoned(folder):
            gone += [folder] if removed(folder, LOCK) else []
    return gone


def _owner(folder: Path) -> Path | None:
    """The store of the repository whose loop made ``folder``; None where it does not bear our mark, or is not ours."""
    with suppress(OSError):
        facts = folder.lstat()
        if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid():
            with os.fdopen(_lock(folder, os.O_RDONLY), "rb") as file:
                mark, _, store = file.read(4096).partition(b"\n")
            if mark + b"\n" == MARK:
                return Path(os.fsdecode(store))
    return None


def _lock(folder: Path, flags: int) -> int:
    """A descriptor of the lock of ``folder``, or of the one that its loop was about to put in place.

    Raises:
        OSError: it cannot be opened.
    """
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        # This one first: where it is not there any more, a loop that lives has put the other in place already.
        return os.open(folder / _NEW, flags)
    except FileNotFoundError:
        return os.open(folder / LOCK, flags)


def _abandoned(folder: Path) -> bool:
    """Whether no loop that lives holds the lock of ``folder``; one that was swept away holds none."""
    try:
        handle = _lock(folder, os.O_RDWR)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
