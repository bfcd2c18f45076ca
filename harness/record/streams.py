"""The streams of a machine, ``baselines/<slug>/streams/*.jsonl``: read line by line, appended to, never rewritten.

A last line without its end that is no trial was being written when its writer was killed: it is passed over, and cut
off before the next one is written, which would be glued to it otherwise. Whatever else is no trial is refused by file
and line. Refuses to follow a link: the file is the project's own.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.record.atomic import explained, require_inside, sync_folder, write_all
from harness.record.trials import Trial, TrialError, line_of, trial_of

__all__ = ["append", "read", "read_file", "read_machine", "streams_path"]


def read(folder: Path) -> Iterator[Trial]:
    """Every trial of the ``*.jsonl`` files of a folder, file by file in the order of their names.

    Raises:
        TrialError: a line is not a trial.
    """
    for file in sorted(folder.glob("*.jsonl")):
        yield from read_file(file)


def read_file(file: Path) -> Iterator[Trial]:
    """Every trial of one file, in order.

    Raises:
        TrialError: a line is not a trial, or the file cannot be read.
    """
    look = shlex.quote(str(file))
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe would never end
            raise OSError(errno.EINVAL, "it is no regular file")
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise TrialError(f"{file} cannot be read: {error.strerror}. Look: ls -l {look}") from None
    for number, line in enumerate(lines, 1):
        last = number == len(lines)
        if last and not line:
            return
        try:
            yield trial_of(line)
        except (ValueError, RecursionError, TypeError) as error:
            if last:
                return  # torn by a kill
            raise TrialError(f"{file.name}, line {number}: {error}. Look: sed -n {number}p {look}") from error


def streams_path(root: Path, slug: str) -> Path:
    """The folder of a machine's recorded trials."""
    return root / "baselines" / slug / "streams"


def read_machine(root: Path, slug: str) -> list[Trial]:
    """What is on record of a machine; a line that names another one is refused, since it would count for this one.

    Raises:
        TrialError: a line is not a trial, or of another machine.
    """
    folder, found = streams_path(root, slug), []
    for file in sorted(folder.glob("*.jsonl")):
        for number, trial in enumerate(read_file(file), 1):
            if trial.machine != slug:
                raise TrialError(
                    f"{file.relative_to(root)}, line {number}: it was recorded on {trial.machine[:80]!r}, and this "
                    f"folder is that of {slug}. Look: sed -n {number}p {shlex.quote(str(file))}"
                )
            found.append(trial)
    return found


def append(root: Path, trial: Trial) -> Path:
    """Add ``trial`` to the stream of its machine and kind; returns the file.

    Raises:
        StoreError: it cannot be written; the file is then as it was.
    """
    folder = streams_path(root, trial.machine)
    file = folder / f"{trial.kind.value}.jsonl"
    line = f"{line_of(trial)}\n".encode("ascii")
    require_inside(folder, root)
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
