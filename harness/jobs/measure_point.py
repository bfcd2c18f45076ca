"""Measures one planned point: discover, then either count twice or calibrate and time.

Everything that a worker answers passes through ``ask``, which keeps it in the journal; so a resumed run asks again
only for what is missing and ends with the same outcome. This module starts nothing itself and computes no number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.jobs.modes import MIN_TIME_S, Effort
from harness.jobs.plan import PlannedPoint

__all__ = ["FEWEST", "Ask", "Late", "Outcome", "measure"]

FEWEST = 3
"""Processes below which a point that ran out of time is void instead of thin: the number that --quick takes."""

_RECALIBRATED = 3
_SHORT = 0.8
"""A value this much under the minimum means that the calibration ran on a stalled core."""


class Late(Exception):  # noqa: N818 - the budget ran out: a state, not a fault
    """There is no time left for another worker."""


Ask = Callable[[str, int, Mapping[str, Any]], dict[str, Any]]
"""(task, index, extra job fields) -> a worker's answer, from the journal or from a fresh worker; may raise Late."""


@dataclass(slots=True)
class Outcome:
    """What came of a point: a reason why there is nothing, a tally, the ratio of each process, or processes."""

    undefined: tuple[str, str] | None = None
    tally: dict[str, Any] | None = None
    ratios: list[dict[str, Any]] = field(default_factory=list)
    processes: list[dict[str, Any]] = field(default_factory=list)
    calibration: dict[str, Any] | None = None
    engine: str | None = None
    source: str | None = None
    checked: bool = True
    work: dict[str, int] = field(default_factory=dict)
    touched: dict[str, str | None] = field(default_factory=dict)
    printed: int = 0
    notices: list[str] = field(default_factory=list)
    stopped_early: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing came of it yet."""
        return self.undefined is None and self.tally is None and not self.taken

    @property
    def taken(self) -> int:
        """How many processes were timed for it."""
        return len(self.processes) + len(self.ratios)

    def note(self, answer: Mapping[str, Any]) -> bool:
        """Take over what every answer carries; False where it is undefined."""
        self.printed += answer.get("printed", 0)
        self.notices += [notice for notice in answer.get("notices", ()) if notice not in self.notices]
        if answer.get("undefined") is not None:
            self.undefined = (answer["undefined"]["reason"], answer["undefined"]["detail"])
            return False
        return True


def measure(point: PlannedPoint, effort: Effort, ask: Ask) -> Iterator[Outcome]:
    """Measure ``point``, one step a worker: yields the growing outcome after each, the last one being final.

    A generator, so that the caller may take turns between points, or stop when its budget is spent.
    """
    outcome = Outcome()
    if point.undefined is not None:
        outcome.undefined = (point.undefined.reason.value, point.undefined.detail)
        yield outcome
        return
    found = ask("discover", 0, {})
    outcome.touched = found.get("touched", {})
    if not outcome.note(found):
        yield outcome
    elif "tally" in found:
        yield from _count(found, outcome, ask)
    else:
        outcome.engine, outcome.source = found["engine"], found["source"]
        outcome.checked = found.get("checked", True)
        outcome.work = found.get("work", {})
        yield from (_time if point.kpi.estimand.timed else _rate)(outcome, effort, ask)


def _count(found: Mapping[str, Any], outcome: Outcome, ask: Ask) -> Iterator[Outcome]:
    """Count again in a second process with another hash seed: what differs is no count."""
    again = ask("tally", 1, {})
    if outcome.note(again):
        first, second = found["tally"], again["tally"]
        differing = ", ".join(key for key in first if key != "clocked" and first[key] != second[key])
        if not differing:
            outcome.tally = first
        else:
            outcome.undefined = (
                "not-repeatable",
                f"Two processes counted differently ({differing}): {first['numerator']} and {second['numerator']}.",
            )
    yield outcome


def _rate(outcome: Outcome, effort: Effort, ask: Ask) -> Iterator[Outcome]:
    """Each process times both sides of the ratio in turn, and contributes one ratio."""
    while len(outcome.ratios) < effort.processes:
        answer = ask("ratio", len(outcome.ratios) + 1, {"values": effort.values})
        undefined = answer.get("undefined")
        if undefined is not None and undefined["reason"] == "timeout" and len(outcome.ratios) >= FEWEST:
            outcome.stopped_early = True
            return
        if not outcome.note(answer):
            outcome.ratios.clear()
            yield outcome
            return
        outcome.ratios.append({**answer["ratio"], "rounds": answer["rounds"]})
        yield outcome


def _time(outcome: Outcome, effort: Effort, ask: Ask) -> Iterator[Outcome]:
    calibrated = ask("calibrate", 0, {"values": 1, "warmups": 1})
    if not outcome.note(calibrated):
        yield outcome
        return
    outcome.calibration = calibrated
    yield outcome
    loops, tries = calibrated["loops"], 0
    while len(outcome.processes) < effort.processes:
        index = len(outcome.processes)
        answer = ask("measure", index + 1, {"loops": loops, "values": effort.values, "warmups": 1})
        undefined = answer.get("undefined")
        if undefined is not None and undefined["reason"] == "timeout" and index >= FEWEST:
            outcome.stopped_early = True
            return
        if not outcome.note(answer):
            outcome.processes.clear()
            yield outcome
            return
        shortest = min(answer["values_ns"]) * loops * 1e-9
        if shortest < _SHORT * MIN_TIME_S:
            if tries == _RECALIBRATED:
                outcome.processes.clear()
                outcome.undefined = ("too-short", f"A value lasts {shortest * 1e3:.1f} ms, less than 5 ms, every time.")
                yield outcome
                return
            loops, tries = 2 * loops, tries + 1
            continue
        outcome.processes.append({**answer, "loops": loops})  # as it was told: what it says of itself is not checked
        yield outcome
