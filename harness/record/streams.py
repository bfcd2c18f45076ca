"""Appends trials to the streams of a machine: one line, then on disk; what is there is never rewritten.

A last line that a kill has torn is cut off before the next one is written, which would be glued to it otherwise.
Refuses to follow a link: the file is the project's own.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.record.atomic import explained, sync_folder, write_all
from harness.record.trials import Trial, line_of, streams_path, trial_of

__all__ = ["append"]


def append(root: Path, trial: Trial) -> Path:
    """Add ``trial`` to the stream of its machine and kind; returns the file.

    Raises:
        StoreError: it cannot be written; the file is then as it was.
    """
    folder = streams_path(root, trial.machine)
    file = folder / f"{trial.kind.value}.jsonl"
    line = f"{line_of(trial)}\n".encode("ascii")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise explained(file, error) from error
    try:
        line = _mended(handle, file) + line
        size = os.fstat(handle).st_size
        try:
            write_all(handle, line)
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    except OSError as error:
        raise explained(file, error) from error
    finally:
        os.close(handle)
    sync_folder(folder)
    return file


def _mended(handle: int, file: Path) -> bytes:
    """What the next line needs before it: the end of a whole last line; a torn one is cut off."""
    size = os.fstat(handle).st_size
    if size == 0 or os.pread(handle, 1, size - 1) == b"\n":
        return b""
    blob = file.read_bytes()
    start = blob.rfind(b"\n") + 1
    try:
        trial_of(blob[start:].decode())
    except (ValueError, TypeError, RecursionError):
        os.ftruncate(handle, start)
        return b""
    return b"\n"
