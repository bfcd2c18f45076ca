"""What recorded runs came to the last time, so that only what changed since is read again.

A tree of sessions grows at its newest files alone. An entry is a whole run: it holds for the very same files (by name,
size, times, place on disk), the very same prices and the very same version of the readers, so a run one of whose files
grew is read anew. It holds numbers and names, no text. A cache that cannot be read or written costs time and nothing
else: it refuses to be an error, and to follow a link, so that nothing but a cache is ever read as one or replaced by
one.
"""

from __future__ import annotations

import contextlib
import os
import stat
from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

import harness
from harness.record.atomic import write_all
from harness.record.replay import RunResult

__all__ = ["Answer", "FileFacts", "ReplayCache", "cache_folder"]

_LARGEST = 256 << 20
_READERS = ("formats", "jobs")
_FORMULAS = [Path(harness.__file__).parents[1] / "kpis" / "formulas" / name for name in ("recorded", "context")]

Answer = tuple[RunResult, "array[int]"]
"""One run, and the keys of its requests."""

FileFacts = tuple[str, str | None, int, int, int, int, int]
"""Name, member of an archive, bytes, times of its content's and of its own last change in ns, inode, device.

Both times, because the first can be put back after a change that keeps the size, and the second cannot.
"""


class _Entry(msgspec.Struct, frozen=True):
    result: RunResult
    keys: list[int]


class _File(msgspec.Struct, frozen=True):
    made_by: str
    entries: dict[str, _Entry]


def cache_folder() -> Path | None:
    """Where caches lie: ``loopladder`` in the user's cache folder; None where there is no home with a full path."""
    told = os.environ.get("XDG_CACHE_HOME")
    if told and Path(told).is_absolute():
        return Path(told) / "loopladder"
    with contextlib.suppress(RuntimeError):
        home = Path.home()
        return home / ".cache" / "loopladder" if home.is_absolute() else None
    return None


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """A handle of ``folder``, which is a folder of our own and no link to one.

    Raises:
        OSError: it is something else.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise OSError(0, "it is not ours")
        yield handle
    finally:
        os.close(handle)


def _load(folder: int, name: str) -> bytes:
    """The bytes of ``name``, a regular file and no link; nothing waits for a pipe.

    Raises:
        OSError: it is something else, or larger than a cache may be.
    """
    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST:
            raise OSError(0, "it is no cache")
        return file.read(_LARGEST + 1)


def _keep(folder: int, name: str, blob: bytes) -> None:
    """Put ``blob`` at ``name``, for its user alone. A link there is replaced and what it leads to left alone.

    Raises:
        OSError: it cannot be written, or something of that name is neither a file nor a link.
    """
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise OSError(0, "it is no cache")
    temporary = f".{os.getpid()}-{os.urandom(4).hex()}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        try:
            write_all(handle, blob)
        finally:
            os.close(handle)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # Ctrl-C included: nothing of ours stays behind
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


class ReplayCache:
    """The entries for one set of paths; ``asked`` is whatever else a result depends on."""

    def __init__(self, folder: Path, paths: Sequence[str], asked: str) -> None:
        real = "\0".join(sorted(os.path.realpath(path) for path in paths))
        self._folder = folder
        self._name = f"replay-{_digest(real)}.bin"
        self._made_by = _digest(f"{_version()}\0{asked}")
        self._old = self._read()
        self._new: dict[str, _Entry] = {}

    def _read(self) -> dict[str, _Entry]:
        try:
            with _opened(self._folder) as folder:
                file = msgspec.msgpack.decode(_load(folder, self._name), type=_File)
        except (OSError, ValueError, msgspec.MsgspecError):
            return {}
        return file.entries if file.made_by == self._made_by else {}

    def get(self, files: Sequence[FileFacts]) -> Answer | None:
        """What these files came to, if they are the ones that were read."""
        entry = self._old.get(_key(files))
        if entry is None:
            return None
        if entry.result.contexts:
            from harness.record.replay_context import ContextResult

            try:
                entry.result.contexts = msgspec.convert(entry.result.contexts, tuple[ContextResult, ...])
            except msgspec.ValidationError:
                return None
        self._new[_key(files)] = entry
        return entry.result, array("Q", entry.keys)

    def put(self, files: Sequence[FileFacts], answer: Answer) -> None:
        """Keep ``answer``, unless it depends on what other runs hold."""
        if not answer[0].copied:
            self._new[_key(files)] = _Entry(answer[0], list(answer[1]))

    def save(self) -> None:
        """Write what was asked for this time, where it is more or other than what is there."""
        if self._new.keys() == self._old.keys():
            return
        with contextlib.suppress(OSError, TypeError, ValueError, OverflowError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            blob = msgspec.msgpack.encode(_File(self._made_by, self._new))
            if len(blob) <= _LARGEST:
                with _opened(self._folder) as folder:
                    _keep(folder, self._name, blob)


def _key(files: Sequence[FileFacts]) -> str:
    return _digest(repr(sorted(files, key=repr)))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _version() -> str:
    """Changes with every change of a reader or a formula: their files' sizes and times."""
    folders = [Path(harness.__file__).parent / name for name in _READERS]
    found = []
    for folder in (*folders, *_FORMULAS):
        for file in sorted(folder.glob("*.py")):
            facts = file.stat()
            found.append((file.name, facts.st_size, facts.st_mtime_ns))
    return repr((harness.__version__, found))
