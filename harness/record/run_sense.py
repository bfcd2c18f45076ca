"""What a run file may not say although its shape is right: numbers that contradict each other, names that name nothing.

A file that others made decides what may pass, and where it may be written: so a machine's name is a plain one, a day is
one of the calendar, and a number is that of which it is made. Refuses to say which of two numbers is the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from harness.record.plain import NUMBERS, fits
from kpis.terms.quantity import Unit
from kpis.terms.reading import Distribution, Reading

if TYPE_CHECKING:
    from harness.record.run import Run

__all__ = ["LEAST_NS", "nonsense"]

LEAST_NS = 1.0
"""The least time of a call in ns: one tick of the finest clock that there is; a call in Python takes dozens of them."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def nonsense(run: Run) -> tuple[str, str] | None:
    """(JSON path, what is wrong there) of the first thing in ``run`` that cannot be; None where all of it may."""
    return next(_faults(run), None)


def _faults(run: Run) -> Iterator[tuple[str, str]]:
    if not _SLUG.fullmatch(run.machine.slug):
        yield "$.machine.slug", "it is no plain name of lower-case letters, digits, '_', '.' and '-'"
    if not _is_time(run.created):
        yield "$.created", "it is no time like 2031-01-31T12:00:00Z"
    yield from _dangling(run)
    seen: dict[object, Reading] = {}
    for index, reading in enumerate(run.readings):
        where = f"$.readings[{index}]"
        if seen.setdefault(reading.identity, reading) != reading:
            yield where, f"it is a second reading of {reading.kpi[:80]} at the same point, and says something else"
        yield from ((f"{where}.{part}", said) for part, said in _of_reading(reading))


def _is_time(created: str) -> bool:
    if not _CREATED.fullmatch(created):
        return False
    try:
        return datetime.fromisoformat(created).year > 0
    except ValueError:  # the thirteenth month
        return False


def _dangling(run: Run) -> Iterator[tuple[str, str]]:
    """Positions beyond what they count in, and names of workloads that are not listed."""
    said = "it points to nothing"
    files, sets = len(run.source.touched), run.source.sets or []
    for index, one in enumerate(sets):
        if not all(0 <= at < files for at in one):
            yield f"$.source.sets[{index}]", said
    for index, reading in enumerate(run.readings):
        if reading.touched is not None and not 0 <= reading.touched < len(sets):
            yield f"$.readings[{index}].touched", said
        if reading.workload is not None and reading.workload not in run.workloads:
            yield f"$.readings[{index}].workload", said


def _of_reading(reading: Reading) -> Iterator[tuple[str, str]]:
    for key in NUMBERS:
        if not fits(getattr(reading, key)):
            yield key, "it does not fit into 64 bits"
    if reading.value is None:
        return
    if reading.denominator == 0:
        yield "denominator", "it is 0, and there is a value all the same"
    if reading.distribution is not None:
        if reading.estimand.timed and reading.unit is Unit.NS and reading.value < LEAST_NS:
            yield "value", f"it is {reading.value!r} ns, and no clock sees less than {LEAST_NS:g}"
        yield from _of_distribution(reading.value, reading.distribution)


def _of_distribution(value: int | float, taken: Distribution) -> Iterator[tuple[str, str]]:
    if value != taken.median:
        yield "distribution.median", f"it is {taken.median!r}, and the value is {value!r}"
    if taken.n < 1:
        yield "distribution.n", "it is below 1"
    if taken.ci95 is not None and not taken.ci95[0] <= taken.median <= taken.ci95[1]:
        yield "distribution.ci95", f"{list(taken.ci95)} does not hold the median {taken.median!r}"
