"""The run file ``harness.run/1``: everything that one run measured, as bytes that never depend on who writes them.

The same run gives the same bytes: keys are sorted and none is left out (what does not apply is null), and no NaN or
infinity can be written or read. This module refuses to open a file, to read a clock and to judge; a folder is the
business of :mod:`harness.record.store`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness.record.plain import RunFileError, plain
from harness.record.run_sense import nonsense
from kpis.terms.reading import Reading

__all__ = [
    "SCHEMA",
    "Machine",
    "Mode",
    "Run",
    "RunFileError",
    "Selection",
    "SourceTree",
    "WorkloadRecord",
    "decode",
    "encode",
    "schema",
]

SCHEMA = "harness.run/1"
_AGAIN = "make a new one with `python -m harness run --all --json FILE`."


class Mode(Enum):
    """How long the run was told to take."""

    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was asked for, so that a later reader knows whether a missing KPI was left out or lost.

    ``params`` maps a parameter to the values that ``--param`` kept; empty means all of them.
    """

    all: bool
    layers: list[str]
    kpis: list[str]
    params: dict[str, list[str]]
    runtimes: list[str]
    workloads: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where it ran: the folder name of its baselines, and the facts behind it. No host name, no path."""

    slug: str
    fingerprint: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTree:
    """Which code was under test: its commit (None outside git) and the digest of every file that a slice touched.

    ``sets`` are the different sets of files that slices touched, each as ascending positions in the sorted names of
    ``touched``; a reading names its own by its number. None in files of before.
    """

    commit: str | None
    dirty: bool | None
    touched: dict[str, str]
    sets: list[list[int]] | None = None

    def files(self, number: int | None) -> frozenset[str] | None:
        """The names of the files in set ``number``; None where that was not noted."""
        if number is None or self.sets is None:
            return None
        names = sorted(self.touched)
        return frozenset(names[at] for at in self.sets[number])


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRecord:
    """One named input: ``sha256`` of its bytes, ``hash`` of the trace it decodes to, ``source`` synthetic or replay.

    ``facts`` are counts about it (calls, turns, tools), never its text.
    """

    sha256: str
    kind: str
    source: str
    hash: str | None
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the harness. ``created`` is UTC, ISO 8601 with ``Z``; ``complete`` is False after an interruption."""

    schema: str = SCHEMA
    id: str
    created: str
    argv: list[str]
    complete: bool
    mode: Mode
    selection: Selection
    machine: Machine
    environment: dict[str, Any]
    noise: dict[str, Any]
    source: SourceTree
    workloads: dict[str, WorkloadRecord]
    readings: list[Reading]


def encode(run: Run) -> bytes:
    """The bytes of ``run``: UTF-8 JSON, keys sorted, indented by one space, ending in a newline.

    Raises:
        RunFileError: a number is not finite, or a value is not plain data; the sentence names its JSON path.
    """
    text = json.dumps(plain(run, "$"), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def _sentence(name: str, error: Exception) -> RunFileError:
    if isinstance(error, RecursionError):
        return RunFileError(f"{name} is not a run file: at $: it is nested too deeply; {_AGAIN}")
    message, _, where = str(error).rpartition(" - at `")
    path = where.rstrip("`") if message else "$"
    what = (message or str(error)).rstrip(".")
    return RunFileError(f"{name} is not a run file: at {path}: {what}; {_AGAIN}")


def decode(blob: bytes, name: str) -> Run:
    """Read a run file strictly: no text for a number, no number for a text, no NaN, no infinity, and no nonsense.

    ``name`` is how errors call the file. Keys that this version does not know are passed over, so that a later
    addition within the version stays readable.

    Raises:
        RunFileError: one sentence that names the file and the JSON path, or the version that was found.
    """
    import msgspec  # here, so that `list` and `explain` do not pay for it

    try:
        head: Any = msgspec.json.decode(blob)
        version = head.get("schema") if isinstance(head, dict) else None
        if version != SCHEMA:
            if isinstance(version, str) and version.startswith("harness.run/"):
                raise RunFileError(
                    f"{name} is of {version[:40]} and this version reads {SCHEMA}; "
                    "upgrade with `python -m pip install --upgrade loopladder`."
                )
            raise RunFileError(f"{name} is not a run file: $.schema is {str(version)[:40]!r}, not {SCHEMA!r}; {_AGAIN}")
        run = msgspec.json.decode(blob, type=Run)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _sentence(name, error) from None
    if (found := nonsense(run)) is not None:
        where, why = found
        raise RunFileError(f"{name} is not a run file: at {where}: {why}; {_AGAIN}")
    return run


def schema() -> dict[str, Any]:
    """The JSON Schema of a run file as we write it: every key of ours is required, null where it does not apply."""
    import msgspec  # as above

    document = msgspec.json.schema(Run)
    for definition in document["$defs"].values():
        if "properties" in definition:
            definition["required"] = sorted(definition["properties"])
    document["$defs"]["Run"]["properties"]["schema"] = {"const": SCHEMA}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **document}
