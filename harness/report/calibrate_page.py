"""What is on record of a machine, as text: trials of each kind before and after, what they say, what is still thin.

Refuses to show a rate without its count, and without its bound where there are trials enough for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.jobs.calibrate import Calibrated
from harness.jobs.calibrate_summary import AS_IT_WAS
from harness.judge.floor import LEAST_EDITS
from harness.record.observed import per_cent_at_least, per_cent_at_most
from harness.record.trials import Kind, LoadState

__all__ = ["FEW_SUITES", "page", "thin"]

FEW_SUITES = 20
"""Independent suites that an observed rate should rest on: none red of fewer leaves room for 15 % and more."""

_FEW_FOUND = 10
"""Injections of a size over all points: all of fewer found leaves a bound under 75 %."""

_FACTORS = ("1.03", "1.05", "1.10")


def page(found: Calibrated) -> Iterator[str]:
    """The lines; each may be wrapped."""
    were = "trial" if found.made == 1 else "trials"
    yield f"Calibration of {found.slug}: {found.made} {were} added, of {len(found.points)} timed gate points."
    yield ""
    yield f"  {'trials':<16}" + "".join(f"{kind.value:>20}" for kind in Kind)
    for state, now in found.after.items():
        if any(now.values()):
            before = found.before[state]
            cells = (f"{before[kind.value]} -> {now[kind.value]}" for kind in Kind)
            yield f"  {state:<16}" + "".join(f"{cell:>20}" for cell in cells)
    if any(found.after.get(AS_IT_WAS, {}).values()):
        yield f"  '{AS_IT_WAS}': nobody stated the load that the machine had"
    yield ""
    yield from _says(found.document)
    yield from _floors(found)
    for sentence in found.left_out:
        yield f"left out: {sentence}"
    for sentence in thin(found):
        yield f"thin: {sentence}"
    for sentence in found.notes:
        yield f"note: {sentence}"


def _says(document: Mapping[str, Any]) -> Iterator[str]:
    suites = document.get("suites", {"of": 0})
    if suites["of"]:
        bound = per_cent_at_most(suites["at_most"])
        yield f"  gates of unchanged code that were red: {suites['red']} of {suites['of']} (at most {bound})"
    for factor in _FACTORS:
        rows = [row["injected"][factor] for row in document.get("points", {}).values() if factor in row["injected"]]
        if rows:
            hits, of = sum(row["found"] for row in rows), sum(row["of"] for row in rows)
            bound = f" (at least {per_cent_at_least(hits, of)})" if of >= _FEW_FOUND else ""
            yield f"  injections of {factor} found: {hits} of {of}{bound}, at {len(rows)} points"


def _floors(found: Calibrated) -> Iterator[str]:
    """How many of the points have a floor, and which floors this call has moved."""
    floors = {name: float(row["floor"]) for name, row in found.document.get("floors", {}).items()}
    others = [name for name in floors if name not in found.points]
    of_points = f"{len(floors) - len(others)} of the {len(found.points)} timed gate points have a floor"
    yield f"  {of_points}" + (f"; so {_have(others)}" if others else "")
    for name in sorted({*floors, *found.floors_before}):
        was, now = found.floors_before.get(name), floors.get(name)
        if was != now:
            yield f"  the floor of {name} moved: {_per_cent(was)} -> {_per_cent(now)}"


def _have(points: list[str]) -> str:
    return f"has {points[0]}, which is none" if len(points) == 1 else f"have {len(points)} more points, which are none"


def _per_cent(floor: float | None) -> str:
    return "none" if floor is None else f"{100 * floor:.3f} %"


def thin(found: Calibrated) -> Iterator[str]:
    """A sentence for each question that the record cannot answer yet."""
    document = found.document
    rows = document.get("points", {})
    suites = document.get("suites", {"of": 0})["of"]
    if suites < FEW_SUITES:
        yield f"{suites} independent gates of unchanged code; how often one is red should rest on {FEW_SUITES}"
    bare = [name for name in found.points if name not in document.get("floors", {})]
    if bare:
        yield f"{_some(bare)} without a floor, which takes {LEAST_EDITS} different edits"
    for factor in _FACTORS:
        tried = sum(row["injected"].get(factor, {"of": 0})["of"] for row in rows.values())
        if tried < _FEW_FOUND:
            are = "injection is" if tried == 1 else "injections are"
            yield f"{tried} {are} on record of {factor}, and a bound takes {_FEW_FOUND}, so none is given"
    for state in (state.value for state in LoadState):
        unseen = [name for name in found.points if state not in rows.get(name, {}).get("load", {})]
        if unseen and any(found.after.get(state, {}).values()):
            yield f"{_some(unseen)} without a spread under the load '{state}'"
        elif unseen:
            yield f"nothing is recorded under the load '{state}'"


def _some(points: list[str]) -> str:
    if len(points) == 1:
        return f"{points[0]} is"
    return f"{points[0]} and {len(points) - 1} more points are"
