"""What must be shown beside a clock reading: few processes, the harness's own share, waiting, scatter, cold starts.

Facts as values; none of them changes a number or decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.jobs.measure_point import Outcome
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.judge.bounds import median, smallest_sample
from harness.record.run import Mode
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Notice, Warn

__all__ = ["CLOCK_SHARE", "FIRST_SLOW", "LOADED", "OFF_CPU", "SPREAD", "loaded", "printed", "timed", "too_few"]

CLOCK_SHARE = 0.01
"""Above this share the harness's own cost shows in the third digit, which is where people begin to read changes."""

OFF_CPU = 0.10
"""Waiting above a tenth of the wall time: displacement on a quiet machine stays under a few percent."""

SPREAD = 0.10
"""Twice the change that a comparison wants to see: beyond it one run says little about another."""

FIRST_SLOW = 1.2
"""A first value a fifth above the median, in the median process: past the scatter of values, so it is a cold start."""

LOADED = 0.5
"""Runnable processes a core before the run began: half a core is somebody else's, beside a worker that wants one."""


_LONGER = {Mode.QUICK: "; leave out --quick to get one", Mode.BUDGET: "; a longer --budget gives one"}


def too_few(n: int, effort: Effort) -> list[Notice]:
    """There is no interval below the smallest sample; what would give one depends on what was asked for."""
    least = smallest_sample()
    if n >= least:
        return []
    advice = _LONGER.get(effort.mode, "")
    return [Notice(Warn.TOO_FEW, f"{n} process{'es' * (n != 1)}: no interval below {least}{advice}.")]


def printed(outcome: Outcome) -> list[Notice]:
    """The probe wrote to its standard streams."""
    if not outcome.printed:
        return []
    return [Notice(Warn.PRINTED, f"The probe printed {outcome.printed} bytes; they were kept out of the result.")]


def _spread(values: list[float]) -> float:
    """How far apart processes lie, over their median: the middle half of them, or all where they are fewer than six.

    A single displaced process says nothing of the others and does not move the interval, so it is no spread.
    """
    ordered = sorted(values)
    cut = len(ordered) // 4 if len(ordered) >= smallest_sample() else 0
    middle = median(ordered)
    return (ordered[len(ordered) - 1 - cut] - ordered[cut]) / middle if middle else 0.0


def timed(point: PlannedPoint, outcome: Outcome, effort: Effort, values: list[float]) -> list[Notice]:
    """Everything that must stand beside the value of a timed point; ``values`` are those of its processes, in ns."""
    warnings = too_few(len(values), effort)
    share = median([process["overhead_share"] for process in outcome.processes])
    if share > CLOCK_SHARE:
        stamped = point.kpi.estimand is not Estimand.CALL_MEAN
        sentence = (
            f"A stamp of the clock is {share:.1%} of a call; it was measured and taken off."
            if stamped
            else f"The harness itself is {share:.1%} of the slice: read differences, not the last digit."
        )
        warnings.append(Notice(Warn.CLOCK_SHARE, sentence))
    if point.kpi.estimand is Estimand.CALL_MEAN:
        wall = median(values)
        cpu = median([median(process["cpu_ns"]) for process in outcome.processes])
        if wall - cpu > OFF_CPU * wall:
            sentence = f"{(wall - cpu) / wall:.0%} of the time it is off the CPU: it waits, sleeps or was displaced."
            warnings.append(Notice(Warn.OFF_CPU, sentence))
    spread = _spread(values)
    if spread > SPREAD:
        sentence = f"Processes differ by {spread:.0%} of the median: see python -m harness doctor."
        warnings.append(Notice(Warn.SPREAD, sentence))
    firsts = [process["values_ns"][0] / median(process["values_ns"]) for process in outcome.processes]
    if len(firsts) > 2 and median(firsts) > FIRST_SLOW:
        sentence = f"The first value of a process is {median(firsts):.2f} times its median: one warm-up is not enough."
        warnings.append(Notice(Warn.FIRST_SLOW, sentence))
    if not outcome.checked:
        sentence = "Nothing checks that its work was done: give the probe a check, @probe(check=...)."
        warnings.append(Notice(Warn.UNCHECKED, sentence))
    if outcome.stopped_early:
        done = f"{len(values)} of {effort.processes} processes"
        sentence = f"It reached its limit of {effort.limit_s:.0f} s after {done}."
        warnings.append(Notice(Warn.SHORT, sentence))
    return warnings


def loaded(noise: Mapping[str, Any], cores: int) -> Notice | None:
    """The machine was busy before the run began; None where it was not, or does not say."""
    averages = noise.get("load_average")
    if not averages or averages[0] / cores <= LOADED:
        return None
    sentence = f"Before the run {averages[0]:g} processes wanted {cores} cores: others were at work on this machine."
    return Notice(Warn.LOADED, sentence)
