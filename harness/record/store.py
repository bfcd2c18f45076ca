"""Where run files live and how they are found again: the project's root, its state folder, ids and their order.

Refuses to know what is inside a file beyond :mod:`harness.record.run`, and to remove one. How a file is written is
the business of :mod:`harness.record.atomic`, whose names are at hand here too.
"""

from __future__ import annotations

import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from harness.record.atomic import StoreError, explained, require_inside, sync_folder, write_all, write_atomic

if TYPE_CHECKING:
    from harness.record.run import Run

__all__ = [
    "StoreError",
    "committed_runs",
    "explained",
    "find_root",
    "new_id",
    "require_inside",
    "runs",
    "runs_dir",
    "save",
    "state_dir",
    "sync_folder",
    "write_all",
    "write_atomic",
]

_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4,32}")


def state_dir(root: Path) -> Path:
    """The folder ``.harness`` of a project, made if missing; it ignores itself in git.

    Raises:
        StoreError: it cannot be made, or is a link that leads out of the project, where nothing is ours to write.
    """
    folder = root / ".harness"
    ignore = folder / ".gitignore"
    require_inside(folder, root)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise explained(folder, error) from error
    if _is_missing_or_empty(ignore):
        # Otherwise a run would make the tree dirty, and the gate would copy old runs along as part of the head.
        write_atomic(ignore, b"*\n", within=root)
    return folder


def _is_missing_or_empty(path: Path) -> bool:
    """Whether ``path`` is to be written: an empty file was left by a full disk. A pipe or a folder is left alone."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise explained(path, error) from error
    return stat.S_ISREG(facts.st_mode) and facts.st_size == 0


def runs_dir(root: Path) -> Path:
    """The folder of run files and journals, made if missing.

    Raises:
        StoreError: as :func:`state_dir`.
    """
    folder = state_dir(root) / "runs"
    require_inside(folder, root)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise explained(folder, error) from error
    return folder


def _age(path: Path) -> tuple[str, int, str] | None:
    """What sorts run files by age; None for a pipe, a device or a folder, which nobody may open as one."""
    # Two runs may begin in one second: then the time of writing decides, and the name where even that is equal.
    try:
        facts = path.stat()
    except OSError:
        return (path.name[:16], 0, path.name)
    return (path.name[:16], facts.st_mtime_ns, path.name) if stat.S_ISREG(facts.st_mode) else None


def runs(root: Path) -> list[Path]:
    """The run files of a project, newest first; other files in the folder (raw samples, journals) are not listed."""
    named = (path for path in (root / ".harness" / "runs").glob("*.json") if _ID.fullmatch(path.stem))
    aged = ((age, path) for path in named if (age := _age(path)) is not None)
    return [path for _, path in sorted(aged, reverse=True)]


def committed_runs(root: Path) -> list[Path]:
    """The run files that baselines point into, ``baselines/<slug>/runs/*.json``, in order of their path."""
    return sorted(path for path in (root / "baselines").glob("*/runs/*.json") if _age(path) is not None)


def new_id(now: datetime) -> str:
    """An id like ``20261130T052031Z-3f9a1c``: the second it began in UTC, and three random bytes.

    Raises:
        ValueError: ``now`` has no time zone.
    """
    if now.tzinfo is None:
        raise ValueError("A run id needs a time with its zone.")
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{os.urandom(3).hex()}"


def checked_id(identity: object) -> str:
    """``identity`` itself, if it is one that :func:`new_id` could have made.

    Raises:
        StoreError: it is not, and might name a file elsewhere.
    """
    if not isinstance(identity, str) or not _ID.fullmatch(identity):
        raise StoreError(f"{identity!r} is not the id of a run; list the runs with `ls .harness/runs`.")
    return identity


def save(root: Path, run: Run) -> Path:
    """Write ``run`` to ``.harness/runs/<id>.json`` and return the path.

    Raises:
        StoreError: it cannot be written.
        RunFileError: it holds a number that is not finite, or something that is not plain data.
    """
    from harness.record.run import encode  # here, so that finding a root stays cheap

    path = runs_dir(root) / f"{checked_id(run.id)}.json"
    write_atomic(path, encode(run), within=root)
    return path


def _has_table(pyproject: Path) -> bool:
    try:
        blob = pyproject.read_bytes() if pyproject.is_file() else b""  # a pipe of that name would never end
    except OSError:
        return False
    if b"harness" not in blob:  # spares most callers the parser
        return False
    import tomllib  # a few milliseconds that most folders never need

    try:
        tool = tomllib.loads(blob.decode("utf-8")).get("tool")
    except (ValueError, RecursionError) as error:
        why = str(error).rstrip(".")
        if blob.startswith(b"\xef\xbb\xbf"):
            why = "it begins with a byte order mark"
        elif isinstance(error, RecursionError):
            why = "it is nested too deeply"
        raise StoreError(
            f"{pyproject} is not valid TOML: {why}; correct it, then look with `python -m harness list`."
        ) from None
    return isinstance(tool, dict) and "harness" in tool


def find_root(start: Path) -> Path:
    """Where the project begins.

    It is the closest folder upwards with a ``[tool.harness]`` table; without one, that of the repository; outside of
    git, ``start``.

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
