"""Where run files live, and how a file is written so that a reader sees the old one or the new one, never a half.

Refuses to know what is inside a file beyond :mod:`harness.record.run`, and to delete anything but its own temporary
files. A device or a pipe named as target is written through, never replaced.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.record.run import Run

__all__ = [
    "StoreError",
    "committed_runs",
    "explained",
    "find_root",
    "new_id",
    "runs",
    "runs_dir",
    "save",
    "state_dir",
    "sync_folder",
    "write_all",
    "write_atomic",
]

_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4,32}")


class StoreError(OSError):
    """A file or folder of ours cannot be used; a full sentence with the next command to type."""

    def __str__(self) -> str:
        return str(self.args[0])


def explained(path: Path, error: OSError) -> StoreError:
    """The sentence for an operating system error met while writing ``path``."""
    folder = path.parent
    quoted = shlex.quote(str(folder))
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return StoreError(f"{path} cannot be written: {folder} is read-only for you; see `ls -ld {quoted}`.")
        case errno.ENOSPC | errno.EDQUOT:
            return StoreError(f"{path} cannot be written: the disk (or your quota) is full; see `df -h {quoted}`.")
        case errno.EFBIG:
            return StoreError(f"{path} cannot be written: it exceeds the file-size limit; see `ulimit -f`.")
        case errno.ENOENT | errno.ENOTDIR:
            return StoreError(f"{path} cannot be written: {folder} is not a folder; make it with `mkdir -p {quoted}`.")
        case errno.EISDIR:
            return StoreError(f"{path} cannot be written: it is a folder; name a file inside it with `--json FILE`.")
        case errno.ENAMETOOLONG:
            return StoreError(f"{path} cannot be written: the name is too long; choose another with `--json FILE`.")
        case _:
            why = error.strerror or str(error)
            return StoreError(f"{path} cannot be written: {why}; choose another place with `--json FILE`.")


def write_all(handle: int, blob: bytes) -> None:
    """Write every byte: one ``write`` may take a part only, and the next then says why."""
    view = memoryview(blob)
    while view:
        view = view[os.write(handle, view) :]


def sync_folder(folder: Path) -> None:
    """Make a rename or a removal in ``folder`` survive a power failure, where the file system can."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot, and say so
            raise
    finally:
        os.close(handle)


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _write_through(path: Path, blob: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        write_all(handle, blob)
    finally:
        os.close(handle)


def _replace(path: Path, blob: bytes, mode: int | None) -> None:
    temporary = path.with_name(f".{os.getpid()}-{os.urandom(4).hex()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            if mode is not None:
                os.fchmod(handle, stat.S_IMODE(mode))
            write_all(handle, blob)
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.replace(path)
    except BaseException:  # Ctrl-C included: nothing of ours stays behind
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_atomic(path: Path, blob: bytes) -> None:
    """Put ``blob`` at ``path``: a temporary file in the same folder, flushed to disk, then renamed over it.

    Missing folders are made. A link is followed; the mode of an existing file is kept. A device or pipe is written
    through, since renaming over it would destroy it.

    Raises:
        StoreError: the folder is read-only, the disk is full, a size limit was hit, ... ; the old file is untouched.
    """
    try:
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode_of(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is None or stat.S_ISREG(mode):
            _replace(path, blob, mode)
        else:
            _write_through(path, blob)
    except OSError as error:
        raise explained(path, error) from error


def state_dir(root: Path) -> Path:
    """The folder ``.harness`` of a project, made if missing; it ignores itself in git.

    Raises:
        StoreError: it cannot be made.
    """
    folder = root / ".harness"
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            # Otherwise a run would make the tree dirty, and the gate would copy old runs along as part of the head.
            ignore.write_text("*\n", encoding="ascii")
    except OSError as error:
        raise explained(folder, error) from error
    return folder


def runs_dir(root: Path) -> Path:
    """The folder of run files and journals, made if missing."""
    folder = state_dir(root) / "runs"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise explained(folder, error) from error
    return folder


def _age(path: Path) -> tuple[str, int, str]:
    # Two runs may begin in one second: then the time of writing decides, and the name where even that is equal.
    try:
        written = path.stat().st_mtime_ns
    except OSError:
        written = 0
    return (path.name[:16], written, path.name)


def runs(root: Path) -> list[Path]:
    """The run files of a project, newest first; other files in the folder (raw samples, journals) are not listed."""
    found = [path for path in (root / ".harness" / "runs").glob("*.json") if _ID.fullmatch(path.stem)]
    return sorted(found, key=_age, reverse=True)


def committed_runs(root: Path) -> list[Path]:
    """The run files that baselines point into, ``baselines/<slug>/runs/*.json``, in order of their path."""
    return sorted((root / "baselines").glob("*/runs/*.json"))


def new_id(now: datetime) -> str:
    """An id like ``20261130T052031Z-3f9a1c``: the second it began in UTC, and three random bytes.

    Raises:
        ValueError: ``now`` has no time zone.
    """
    if now.tzinfo is None:
        raise ValueError("A run id needs a time with its zone.")
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{os.urandom(3).hex()}"


def checked_id(identity: str) -> str:
    """``identity`` itself, if it is one that :func:`new_id` could have made.

    Raises:
        StoreError: it is not, and might name a file elsewhere.
    """
    if not _ID.fullmatch(identity):
        raise StoreError(f"{identity!r} is not the id of a run; list the runs with `python -m harness report`.")
    return identity


def save(root: Path, run: Run) -> Path:
    """Write ``run`` to ``.harness/runs/<id>.json`` and return the path.

    Raises:
        StoreError: it cannot be written.
        RunFileError: it holds a number that is not finite, or something that is not plain data.
    """
    from harness.record.run import encode  # here, so that finding a root stays cheap

    path = runs_dir(root) / f"{checked_id(run.id)}.json"
    write_atomic(path, encode(run))
    return path


def _has_table(pyproject: Path) -> bool:
    try:
        blob = pyproject.read_bytes()
    except OSError:
        return False
    if b"harness" not in blob:  # spares most callers the parser
        return False
    import tomllib  # a few milliseconds that most folders never need

    try:
        return "harness" in tomllib.loads(blob.decode("utf-8")).get("tool", {})
    except ValueError as error:
        raise StoreError(
            f"{pyproject} is not valid TOML: {error}; correct it, then look with `python -m harness list`."
        ) from None


def find_root(start: Path) -> Path:
    """The project root: the nearest parent with ``[tool.harness]``, else the git root, else ``start``.

    Raises:
        StoreError: a ``pyproject.toml`` on the way that mentions the harness is not valid TOML.
    """
    start = start.resolve()
    here = start if start.is_dir() else start.parent
    for folder in (here, *here.parents):
        if _has_table(folder / "pyproject.toml"):
            return folder
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    return here
