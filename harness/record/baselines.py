"""Where the record of a machine lies, ``baselines/<slug>/``: one file a layer, one for the last release, the run files.

One writer at a time, and every file is replaced as a whole, so that a reader sees the old one or the new one. Refuses
to remove a run file: an older commit may point to it.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.formats.limits import regular_bytes
from harness.record.atomic import require_inside, write_atomic
from harness.record.baseline import BaselineFile, Row, encode
from harness.record.baseline_read import BaselineError, decode
from harness.record.lock import Busy, RunLock
from harness.record.run import Run
from harness.record.run import encode as encode_run
from kpis.terms.kpi import Layer

__all__ = ["RELEASE", "Record", "encoded", "folder", "load", "parse", "run_name", "save", "save_run", "writing"]

RELEASE = "release"

_FILES = (*(layer.value for layer in Layer), RELEASE)


@dataclass(frozen=True, slots=True)
class Record:
    """What is on record for one machine: a file a layer, and the last release's where there is one."""

    slug: str
    layers: dict[Layer, BaselineFile] = field(default_factory=dict)
    release: BaselineFile | None = None

    @property
    def rows(self) -> Iterator[tuple[Layer, str, Row]]:
        """Every row of every layer, in the order of the ladder and then of names."""
        for layer in Layer:
            if layer in self.layers:
                yield from ((layer, name, row) for name, row in sorted(self.layers[layer].rows.items()))


def folder(root: Path, slug: str) -> Path:
    """Where the record of the machine ``slug`` lies."""
    return root / "baselines" / slug


def parse(slug: str, blobs: Mapping[str, bytes]) -> Record | None:
    """The record whose files (``turn``, ``release``, ...) hold ``blobs``; None where no layer has one.

    Raises:
        BaselineError: a file cannot be used, or two layers hold a row of one name.
    """
    read = {
        stem: decode(blobs[stem], f"baselines/{slug}/{stem}.toml", release=stem == RELEASE)
        for stem in _FILES
        if stem in blobs
    }
    release = read.pop(RELEASE, None)
    record = Record(slug, {Layer(stem): file for stem, file in read.items()}, release)
    at: dict[str, Layer] = {}
    for layer, name, _ in record.rows:
        other = at.setdefault(name, layer)
        if other is not layer:
            path = f"baselines/{slug}/{layer.value}.toml"
            raise BaselineError(
                f"{path}: [kpi.{name}] stands in {other.value}.toml as well; take one of them out, then run "
                "`python -m harness ratchet check`."
            )
    return record if record.layers else None


def load(root: Path, slug: str) -> Record | None:
    """The record of a machine in the project at ``root``; None where there is none.

    Raises:
        BaselineError: a file cannot be read or used.
    """
    blobs = {}
    for stem in _FILES:
        path = folder(root, slug) / f"{stem}.toml"
        if os.path.lexists(path):  # a folder, a pipe, or a link to nothing, is no record that is missing
            try:
                blobs[stem] = regular_bytes(path)
            except OSError as error:
                look = shlex.quote(str(path))
                raise BaselineError(f"{path} cannot be read: {error.strerror}; see `ls -ld {look}`.") from None
    return parse(slug, blobs)


def encoded(record: Record) -> dict[str, bytes]:
    """The files of ``record`` by their stems, each of which reads back as what it was made from.

    Raises:
        BaselineError: one would not, so that whoever comes next could not use the record.
    """
    files = {layer.value: file for layer, file in record.layers.items()}
    if record.release is not None:
        files[RELEASE] = record.release
    return {stem: _readable(record.slug, stem, file) for stem, file in files.items()}


def _readable(slug: str, stem: str, file: BaselineFile) -> bytes:
    name, why = f"baselines/{slug}/{stem}.toml", "it would read back as something else"
    try:
        blob = encode(file)
        if decode(blob, name, release=stem == RELEASE) == file:
            return blob
    except BaselineError as error:
        why = str(error).removeprefix(f"{name}: ").partition("; ")[0]
    except (ValueError, TypeError) as error:  # a text that is no UTF-8, a number that TOML does not hold
        why = str(error).rstrip(".")
    raise BaselineError(
        f"{name} is not written, for nobody could read it: {why}; look at what was to be put there: "
        "`python -m harness ratchet check`."
    )


def save(root: Path, record: Record, run: tuple[str, bytes] | None = None) -> list[Path]:
    """Write the files of ``record`` that differ from what is there; their paths. What none could read is not written.

    ``run`` is the name and the content of a run file that rows point to, which is put there first.

    Raises:
        BaselineError: as :func:`encoded`; nothing is written.
        StoreError: one cannot be written, or a link leads out of the project; those before it are.
    """
    blobs = {folder(root, record.slug) / f"{stem}.toml": blob for stem, blob in encoded(record).items()}
    for path in (*blobs, folder(root, record.slug) / "runs"):
        require_inside(path, root)
    if run is not None:
        save_run(root, record.slug, *run)
    written = []
    for path, blob in blobs.items():
        if not path.is_file() or path.read_bytes() != blob:
            write_atomic(path, blob, within=root)
            written.append(path)
    return written


def run_name(run: Run) -> tuple[str, bytes]:
    """What a run file is called on record, the first 16 digits of its content's SHA-256, and that content."""
    blob = encode_run(run)
    return hashlib.sha256(blob).hexdigest()[:16], blob


def save_run(root: Path, slug: str, name: str, blob: bytes) -> Path:
    """Put a run file on record, unless it is there; its path.

    Raises:
        StoreError: it cannot be written.
    """
    path = folder(root, slug) / "runs" / f"{name}.json"
    if not path.is_file() or path.read_bytes() != blob:
        write_atomic(path, blob, within=root)
    return path


class _RecordLock(RunLock):
    """The same lock on a file of its own: whoever measures does not keep others from writing the record."""

    __slots__ = ()

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.path = root / ".harness" / "record.lock"


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Hold the record of the project at ``root`` for one writer.

    Raises:
        BaselineError: somebody else is writing.
        StoreError: the lock file cannot be opened.
    """
    lock = _RecordLock(root)
    try:
        lock.__enter__()
    except Busy as busy:
        who = "" if busy.pid is None else f" (process {busy.pid}, since {busy.since})"
        raise BaselineError(
            f"Somebody else is writing the record of this project{who}; look with `git status baselines`, then give "
            "the same command again."
        ) from None
    try:
        yield
    finally:
        lock.__exit__(None, None, None)
