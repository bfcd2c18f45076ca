"""The journal: one JSON object a line, appended and never rewritten, without a time of day and without a duration.

A line that was torn by a kill, or is garbage, costs itself alone, and so does one with a number that is none. A row
that says it was kept is believed only if its own signals say so. Refuses a second loop on the same journal, and a pipe
or a device in its place, which would be waited at, or hold nothing.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import shlex
import stat
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

from seams.contract.rsi_breaker import Decision, Profile, Signals
from seams.contract.rsi_loop import Row
from seams.rsi.breaker import improved, required
from seams.rsi.changes import encodes
from seams.rsi.errors import LoopError

__all__ = ["Journal", "Read", "line_of", "read", "sound"]

_NAMES = tuple(field.name for field in fields(Row))
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("cycle", "breaker_nonkeeps"), (int,)),
    **dict.fromkeys(("measured", "lower_better", "improved", "suite_green", "truth_clean"), (bool,)),
    **dict.fromkeys(("mode", "candidate", "metric_name", "profile", "baseline_ref", "ref_name", "tip"), (str,)),
    **dict.fromkeys(("decision", "commit", "note"), (str, type(None))),
    **dict.fromkeys(("baseline", "candidate_metric"), (int, float, type(None))),
    "kept": (bool, type(None)),
}


class Read(NamedTuple):
    """The rows of a journal in order, how many lines held none, and the rows that contradict themselves."""

    rows: tuple[Row, ...]
    torn: int
    forged: tuple[Row, ...]


class Journal:
    """An append-only file, locked while it is open.

    Raises:
        LoopError: it cannot be opened, it is no regular file, or another loop writes to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None
        quoted = shlex.quote(str(path.parent))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise LoopError(f"The journal {path} cannot be opened: {error.strerror}. Look: ls -ld {quoted}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise LoopError(
                f"Another loop writes to {path}. Wait for it, or name another journal: ls {quoted}"
            ) from error
        self._handle = handle

    def append(self, row: Row) -> None:
        """Write one row and have it on the disk before anything follows from it.

        Raises:
            LoopError: it cannot be written.
        """
        if self._handle is None:
            raise LoopError(f"The journal {self.path} was closed. Begin a new loop to write to it: ls {self.path}")
        try:
            size = os.fstat(self._handle).st_size
            whole = not size or os.pread(self._handle, 1, size - 1) == b"\n"
            blob = line_of(row) if whole else b"\n" + line_of(row)
            while blob:
                blob = blob[os.write(self._handle, blob) :]
            os.fsync(self._handle)
        except OSError as error:
            raise LoopError(
                f"The journal {self.path} cannot be written: {error.strerror}. "
                f"Look: df -h {shlex.quote(str(self.path.parent))}"
            ) from error

    def close(self) -> None:
        """Let others write; safe to call twice."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _opened(path: Path, flags: int) -> int:
    """A descriptor of the regular file ``path``.

    Raises:
        OSError: it cannot be opened.
        LoopError: it is something else, or no path.
    """
    if "\0" in str(path) or not encodes(str(path)):
        raise LoopError(f"The journal {str(path)!r} has a name that no file can have. Name another: mktemp -d")
    # Looked at before it is opened, as to open a device may do something already, and after, as it may be another then.
    if not path.exists() or path.is_file():
        handle = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
    raise LoopError(
        f"The journal {path} is no regular file, so its rows would not be there to be read. Name another, that is not "
        f"among: ls -l {shlex.quote(str(path.parent))}"
    )


def line_of(row: Row) -> bytes:
    """The row as one line, its keys sorted."""
    return json.dumps(asdict(row), sort_keys=True, allow_nan=False, ensure_ascii=True).encode() + b"\n"


def read(path: Path) -> Read:
    """What the journal holds; a file that is not there holds nothing.

    Raises:
        LoopError: it cannot be read, or is no regular file.
    """
    rows: list[Row] = []
    torn = 0
    try:
        with os.fdopen(_opened(path, os.O_RDONLY), "rb") as file:
            blob = file.read()
    except FileNotFoundError:
        return Read((), 0, ())
    except OSError as error:
        raise LoopError(
            f"The journal {path} cannot be read: {error.strerror}. Look: ls -l {shlex.quote(str(path.parent))}"
        ) from error
    for line in blob.split(b"\n"):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            torn += 1
        else:
            rows.append(row)
    return Read(tuple(rows), torn, tuple(row for row in rows if not sound(row)))


def _row(line: bytes) -> Row | None:
    try:
        held: Any = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(held, dict) or set(held) != set(_NAMES):
        return None
    for name, value in held.items():
        # A truth value is an int to Python, and no number here.
        if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and bool not in _TYPES[name]):
            return None
        if isinstance(value, int | float) and not _finite(value):
            return None
    return Row(**held)


def _finite(value: float) -> bool:
    """Whether a decision could be made of it: 1e999 is infinite to Python, and what has 400 digits is no float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def sound(row: Row) -> bool:
    """Whether what the row says was decided follows from the signals that it holds."""
    if row.mode != "improve":
        return row.mode == "track" and row.decision is None and row.kept is None
    profiles = [profile for profile in Profile if profile.value == row.profile]
    if row.baseline is None or not profiles or row.measured != (row.candidate_metric is not None):
        return False
    signals = Signals(
        row.baseline, row.candidate_metric, row.suite_green, row.truth_clean, row.lower_better, profiles[0]
    )
    kept = required(signals)
    if row.improved != improved(signals) or row.kept != kept or (row.decision == Decision.KEEP.value) != kept:
        return False
    return row.decision in {each.value for each in Decision} and (row.breaker_nonkeeps == 0) == kept
