"""The journal of a run: what was measured so far, one JSON line each, on disk before the next point begins.

A run that is interrupted, killed or loses its power is resumed from here. Each line stands for itself, so a line that
was torn by a kill is passed over and its point measured again; nothing else is lost. Anybody may have edited such a
file: one whose name, id and header do not agree is passed over, and nothing but a regular file is opened. Refuses to
interpret an entry and to remove a journal whose run was not finished.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.record.store import StoreError, checked_id, explained, runs_dir, sync_folder, write_all

__all__ = ["SCHEMA", "Journal"]

SCHEMA = "harness.journal/1"


def _line(entry: dict[str, Any]) -> bytes:
    return (json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def _objects(blob: bytes) -> Iterator[dict[str, Any]]:
    # A line without its newline was being written when the writer died.
    for line in blob.split(b"\n")[:-1]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry


_LONGEST_HEADER = 2**20
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


_PARTS: dict[str, Callable[[Any], bool]] = {
    "argv": lambda value: isinstance(value, list) and all(isinstance(word, str) for word in value),
    "seed": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64,
}
"""What a header may hold besides; whoever resumes by one of them says that it must be there."""


def _is_time(created: str) -> bool:
    try:
        return datetime.fromisoformat(created).year > 0
    except ValueError:  # the thirteenth month
        return False


def _opened(path: Path, flags: int) -> int:
    """A handle of a regular file; a link, a pipe or a device raises OSError, and is not waited for."""
    handle = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file")
    return handle


def _header(path: Path) -> dict[str, Any] | None:
    """The header of a journal that can be resumed; None for whatever else lies there."""
    try:
        if path.is_symlink() or not path.is_file():  # a device may act on being opened alone
            return None
        with os.fdopen(_opened(path, os.O_RDONLY), "rb") as file:
            first = file.readline(_LONGEST_HEADER)
        header = next(_objects(first), None)
        if header is None or header.get("schema") != SCHEMA or checked_id(header.get("id")) != path.stem:
            return None
    except OSError:  # StoreError, of an id that is none, among them
        return None
    created = header.get("created")
    sound = isinstance(created, str) and _CREATED.fullmatch(created) is not None and _is_time(created)
    fits = all(holds(header[name]) for name, holds in _PARTS.items() if name in header)
    return header if sound and fits and isinstance(header.get("plan"), str) else None


class Journal:
    """An open journal: ``.harness/runs/<id>.journal``. Use :meth:`create` or :meth:`resumable`, not the constructor.

    ``header`` holds at least ``schema``, ``id``, ``created`` and ``plan`` (the digest of what was to be measured).
    """

    __slots__ = ("_handle", "header", "path")

    def __init__(self, path: Path, header: dict[str, Any], handle: int) -> None:
        self.path = path
        self.header = header
        self._handle: int | None = handle

    @classmethod
    def create(cls, root: Path, header: dict[str, Any]) -> Journal:
        """Begin a journal whose first line is ``header`` with its schema.

        Raises:
            StoreError: it cannot be written, or ``header["id"]`` is not the id of a run.
            KeyError: ``header`` lacks ``id`` or ``plan``.
        """
        header = {**header, "schema": SCHEMA, "plan": header["plan"]}
        path = runs_dir(root) / f"{checked_id(header['id'])}.journal"
        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise explained(path, error) from error
        journal = cls(path, header, handle)
        try:
            journal.append(header)
            sync_folder(path.parent)
        except BaseException as error:
            journal.close()
            path.unlink(missing_ok=True)  # a journal without a header could never be resumed
            if isinstance(error, OSError) and not isinstance(error, StoreError):
                raise explained(path, error) from error
            raise
        return journal

    @classmethod
    def resumable(cls, root: Path, plan_sha: str, *, needs: Collection[str] = ()) -> Journal | None:
        """The newest unfinished journal of this plan, opened at its end; None where there is none.

        A header needs ``id`` (the file's name), ``plan`` and ``created`` (UTC, ISO 8601 with ``Z``), and ``needs``.

        Raises:
            StoreError: it is there and cannot be opened for writing.
        """
        for path in sorted((root / ".harness" / "runs").glob("*.journal"), reverse=True):
            header = _header(path)
            if header is not None and header.get("plan") == plan_sha and header.keys() >= set(needs):
                return cls._reopened(path, header)
        return None

    @classmethod
    def _reopened(cls, path: Path, header: dict[str, Any]) -> Journal:
        try:
            handle = _opened(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise explained(path, error) from error
        try:
            # Without this, the next entry would be glued to the torn line and be lost with it.
            os.ftruncate(handle, path.read_bytes().rfind(b"\n") + 1)
        except OSError as error:
            os.close(handle)
            raise explained(path, error) from error
        return cls(path, header, handle)

    def append(self, entry: dict[str, Any]) -> None:
        """Put one entry on disk: one write, then flushed.

        Raises:
            StoreError: it cannot be written; the journal is then as it was before.
            ValueError: the entry holds NaN or infinity.
            TypeError: the entry holds something that JSON cannot.
        """
        if self._handle is None:
            raise StoreError(f"{self.path} is closed; continue it with `python -m harness run --resume`.")
        line = _line(entry)
        size = os.fstat(self._handle).st_size
        try:
            write_all(self._handle, line)
            os.fsync(self._handle)
        except BaseException as error:
            # Half an entry would spoil the one after it; a whole one stays, though a signal came while it was flushed.
            if isinstance(error, OSError) or os.fstat(self._handle).st_size < size + len(line):
                os.ftruncate(self._handle, size)
            if isinstance(error, OSError):
                raise explained(self.path, error) from error
            raise

    def entries(self) -> list[dict[str, Any]]:
        """What was appended, in order, without the header and without lines that a kill has torn.

        Raises:
            StoreError: the journal cannot be read.
        """
        try:
            return list(_objects(self.path.read_bytes()))[1:]
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read: {error.strerror}; see `ls -l {shlex.quote(str(self.path))}`."
            ) from error

    def close(self) -> None:
        """Let go of the file; the journal stays, to be resumed."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def finish(self) -> None:
        """Remove the journal; call it once the run file is safely written.

        Raises:
            StoreError: it cannot be removed.
        """
        self.close()
        try:
            self.path.unlink(missing_ok=True)
            with suppress(FileNotFoundError):  # somebody removed the folder with it
                sync_folder(self.path.parent)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be removed: {error.strerror}; remove it with `rm {shlex.quote(str(self.path))}`."
            ) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
