"""What the threads of a file are called, by the run that its header names and the parent of that run.

Runs of one lineage are read together. Each has a main thread of its own; any other name is one thread in all of them,
so that a call in one file can name the sub-agent whose lines are in another. No name depends on a path or on the order
of files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, BinaryIO, NamedTuple

import msgspec

from harness.formats.jsonl import first_objects
from harness.formats.limits import FormatError, Limits, check_depth
from harness.formats.own_schema import MAIN, own_id
from harness.formats.run_format import Source
from harness.formats.whole_json import as_str

__all__ = ["Names", "header_of", "lineage_of", "names_of"]

_HEAD, _LONG_HEAD = 1 << 16, 1 << 22


class Names(NamedTuple):
    """How a part of a file names its threads.

    ``prefix`` goes before every name but ``main``, which, said or left out, is ``main``. ``above`` is what ``main``
    means as the parent of that one, which is no thread's own parent.
    """

    prefix: str = ""
    main: str = MAIN
    above: str = MAIN


def header_of(head: bytes) -> dict[str, Any]:
    """The header among the first bytes of a file; empty where there is none that can be read."""
    for line in first_objects(head, 1):
        if b'"schema"' in line:
            try:
                check_depth(line, Limits(), "it")
                told = msgspec.json.decode(line)
            except (msgspec.DecodeError, FormatError, RecursionError):
                return {}
            return told if isinstance(told, dict) else {}
    return {}


def lineage_of(sources: Sequence[Source]) -> dict[str, str]:
    """The parent of each run that has one; a run may be several files, and not each of them may name it."""
    found: dict[str, str] = {}
    for source in sources:
        head = source.blob.read(_HEAD)
        if b"\n" not in head:
            head += source.blob.read(_LONG_HEAD)
        source.blob.seek(0)
        header = header_of(head)
        run, parent = as_str(header.get("run_id")), as_str(header.get("parent"))
        if run is not None and parent not in (None, run):
            found[run] = min(parent or "", found.get(run, parent or ""))
    return found


def names_of(
    run: str | None, parent: str | None, parents: Mapping[str, str], blob: BinaryIO, *, apart: str | None
) -> Names:
    """The names of the threads of ``run``, whose header in ``blob`` says ``parent``; ``parents`` is the lineage.

    ``apart``: the run, where it stands behind another in the same file, and none of its names is shared.
    """
    prefix = "" if apart is None else f"{own_id(apart)}:"
    if run is not None:
        parent = parents.get(run, parent)
    if parent is None or parent == run:
        return Names(prefix, own_id(prefix + MAIN), own_id(prefix + MAIN))
    above = own_id(f"{own_id(parent)}:{MAIN}") if parent in parents else MAIN
    return Names(prefix, own_id(f"{_content(blob) if run is None else own_id(run)}:{MAIN}"), above)


def _content(blob: BinaryIO) -> str:
    """What a run without an id is called: its content, since paths are no names of anything."""
    at = blob.tell()
    blob.seek(0)
    digest = blake2b(digest_size=12)
    while chunk := blob.read(1 << 20):
        digest.update(chunk)
    blob.seek(at)
    return f"file-{digest.hexdigest()}"
