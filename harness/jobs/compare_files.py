"""Compare two files of another benchmark tool: read both, match by name, judge. Callable from Python; prints nothing.

A bench that is in one file only is ``new`` or ``removed``, whatever the other benches do: nothing is matched by its
place in the file, and nothing drops out in silence.
"""

from __future__ import annotations

import io
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from harness.formats.bench_detect import read
from harness.formats.bench_json import plain_bytes
from harness.formats.limits import FormatError, Limits, printable
from harness.judge.comparable import differing
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.independent import compare_all
from harness.judge.rule import DELTA
from harness.record.gate_from import GateFromFile, GateFromRow
from kpis.terms.bench import Bench, BenchFile
from kpis.terms.claim import Coverage
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate

__all__ = ["Compared", "Row", "compare", "compare_benches", "judged", "read_file"]


class Row(NamedTuple):
    """One bench, by its full name; ``direction`` turns the comparison into a claim."""

    name: str
    comparison: Comparison
    direction: Direction


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows in the order of the base file, then the new ones; what was covered; what must be said of the files."""

    base: BenchFile
    head: BenchFile
    rows: tuple[Row, ...]
    coverage: Coverage
    notices: tuple[str, ...]


def read_file(path: Path, limits: Limits | None = None) -> BenchFile:
    """The benches in the file at ``path``.

    Raises:
        FormatError: it cannot be opened or read; the sentence names it.
    """
    return _read(path, limits or Limits())[0]


def _read(path: Path, limits: Limits) -> tuple[BenchFile, bytes]:
    """The benches in a file, and its bytes, unpacked: a pipe can be read but once."""
    try:
        with path.open("rb") as blob:
            data = blob.read(limits.max_bytes + 1)
        return read(io.BytesIO(data), limits, path.name), plain_bytes(io.BytesIO(data), limits)
    except OSError as error:
        why = error.strerror or str(error)
        raise FormatError(
            f"{printable(str(path))} cannot be read: {why}; see `ls -ld {printable(shlex.quote(str(path)))}`."
        ) from None


def compare(a: Path, b: Path) -> Compared:
    """Judge file ``b`` (head) against file ``a`` (base).

    Two names of one file, and two copies of it, packed or indented anew, are one measurement: nothing is compared,
    and no row says otherwise.

    Raises:
        FormatError: a file cannot be read.
    """
    (base, old), (head, new) = _read(a, Limits()), _read(b, Limits())
    if old == new or (base.created is not None and base == head):
        return Compared(base, head, (), coverage_of({}), (_ITSELF,))
    return compare_benches(base, head)


_ITSELF = "Both files hold the same measurement: a file against itself shows nothing, and nothing was compared."


def compare_benches(base: BenchFile, head: BenchFile) -> Compared:
    """As :func:`compare`, of files that were read."""
    old = {bench.fullname: bench for bench in base.benches}
    new = {bench.fullname: bench for bench in head.benches}
    common = [name for name in old if name in new]
    if base.tool is head.tool:
        judged = compare_all([(old[name], new[name]) for name in common])
    else:
        judged = [differing("tool", base.tool.value, head.tool.value)] * len(common)
    found = dict(zip(common, judged, strict=True))
    rows = [Row(name, found.get(name) or _removed(name, bench), bench.direction) for name, bench in old.items()]
    rows += [Row(name, _new(name, bench), bench.direction) for name, bench in new.items() if name not in old]
    coverage = coverage_of({row.name: row.comparison for row in rows})
    return Compared(base, head, tuple(rows), coverage, _notices(base, head, len(common)))


def judged(compared: Compared) -> GateFromFile:
    """The rows with the verdict over them, as they are written."""
    claims = [claim_of(row.name, row.comparison, Gate.TIMED, row.direction) for row in compared.rows]
    rows = [GateFromRow(name=row.name, **_facts(row.comparison)) for row in compared.rows]
    return GateFromFile(delta=DELTA, verdict=compose(claims, compared.coverage), claims=claims, rows=rows)


def _facts(found: Comparison) -> dict[str, Any]:
    return {each.name: getattr(found, each.name) for each in fields(found)}


def _removed(name: str, bench: Bench) -> Comparison:
    told = f"{printable(name)} is in the base file only; it was renamed or removed, or it raised in the head"
    return Comparison(State.REMOVED, pairs=bench.independent, evidence=(told,))


def _new(name: str, bench: Bench) -> Comparison:
    told = f"{printable(name)} is in the head file only; there is nothing to compare it with"
    return Comparison(State.NEW, pairs=bench.independent, evidence=(told,))


def _notices(base: BenchFile, head: BenchFile, common: int) -> tuple[str, ...]:
    notices = []
    if not common:
        notices.append("The files have no benchmark in common: nothing was compared.")
    if base.benches and base.benches == head.benches:
        notices.append("Both files hold the same numbers, to the last digit: they may be one measurement.")
    elif common:
        notices.append(
            "The files were measured one after the other, and a difference between two sessions of the machine is in "
            "every ratio; `python -m harness gate --against REV` measures both sides in turn."
        )
    if base.tool is head.tool and base.tool_version != head.tool_version:
        versions = f"{base.tool_version or 'unknown'} and {head.tool_version or 'unknown'}"
        notices.append(f"The files come from different versions of {base.tool.value}: {printable(versions)}.")
    if base.tool is head.tool and base.created and head.created and base.created > head.created:
        notices.append("The base file is the later one: if they were swapped, name the older one first.")
    return tuple(notices)
