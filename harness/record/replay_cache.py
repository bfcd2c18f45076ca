"""What recorded runs came to the last time, so that only what changed since is read again.

Sessions are appended to, and a tree of them grows at its newest files alone. An entry holds for the very same files (by
name, size, time, inode), the very same prices and the very same version of the readers. It holds numbers and names, no
text. A cache that cannot be read or written costs time and nothing else: it refuses to be an error.
"""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

import harness
from harness.formats.limits import regular_bytes
from harness.record.atomic import StoreError, write_atomic
from harness.record.replay import RunResult

__all__ = ["Answer", "FileFacts", "ReplayCache", "cache_folder"]

_LARGEST = 256 << 20
_READERS = ("formats", "jobs")
_FORMULAS = [Path(harness.__file__).parents[1] / "kpis" / "formulas" / name for name in ("recorded", "context")]

Answer = tuple[RunResult, "array[int]"]
"""One run, and the keys of its requests."""

FileFacts = tuple[str, str | None, int, int, int]
"""Name, member of an archive, bytes, time of change in ns, inode."""


class _Entry(msgspec.Struct, frozen=True):
    result: RunResult
    keys: list[int]


class _File(msgspec.Struct, frozen=True):
    made_by: str
    entries: dict[str, _Entry]


def cache_folder() -> Path | None:
    """Where caches lie: ``loopladder`` in the user's cache folder; None where there is no home."""
    told = os.environ.get("XDG_CACHE_HOME")
    if told and Path(told).is_absolute():
        return Path(told) / "loopladder"
    with contextlib.suppress(RuntimeError):
        return Path.home() / ".cache" / "loopladder"
    return None


class ReplayCache:
    """The entries for one set of paths; ``asked`` is whatever else a result depends on."""

    def __init__(self, folder: Path, paths: Sequence[str], asked: str) -> None:
        real = "\0".join(sorted(os.path.realpath(path) for path in paths))
        self._path = folder / f"replay-{_digest(real)}.bin"
        self._made_by = _digest(f"{_version()}\0{asked}")
        self._old = self._read()
        self._new: dict[str, _Entry] = {}

    def _read(self) -> dict[str, _Entry]:
        try:
            file = msgspec.msgpack.decode(regular_bytes(self._path, _LARGEST), type=_File)
        except (OSError, ValueError, msgspec.MsgspecError):
            return {}
        return file.entries if file.made_by == self._made_by else {}

    def get(self, files: Sequence[FileFacts]) -> Answer | None:
        """What these files came to, if they are the ones that were read."""
        entry = self._old.get(_key(files))
        if entry is None:
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
        with contextlib.suppress(StoreError, OSError, TypeError, ValueError, OverflowError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            blob = msgspec.msgpack.encode(_File(self._made_by, self._new))
            if len(blob) <= _LARGEST:
                write_atomic(self._path, blob)
                self._path.chmod(0o600)


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
