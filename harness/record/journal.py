"""The journal of a run: what was measured so far, one JSON line each, on disk before the next point begins.

A run that is interrupted, killed or loses its power is resumed from here. Each line stands for itself, so a line that
was torn by a kill is passed over and its point measured again; nothing else is lost. Refuses to interpret an entry
and to remove a journal whose run was not finished.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
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


def _header(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError:
        return None
    header = next(_objects(first), None)
    return header if header is not None and header.get("schema") == SCHEMA else None


class Journal:
    """An open journal: ``.harness/runs/<id>.journal``. Use :meth:`create` or :meth:`resumable`, not the constructor.

    ``header`` holds at least ``schema``, ``id`` and ``plan`` (the digest of what was to be measured).
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
    def resumable(cls, root: Path, plan_sha: str) -> Journal | None:
        """The newest unfinished journal of this plan, opened at its end; None where there is none.

        Raises:
            StoreError: it is there and cannot be opened for writing.
        """
        for path in sorted((root / ".harness" / "runs").glob("*.journal"), reverse=True):
            header = _header(path)
            if header is not None and header.get("plan") == plan_sha:
                return cls._reopened(path, header)
        return None

    @classmethod
    def _reopened(cls, path: Path, header: dict[str, Any]) -> Journal:
        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
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
