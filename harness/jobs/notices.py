"""What must be shown beside a reading: few processes, the clock's share, waiting, scatter, what a probe left behind.

Facts as values; none of them changes a number or decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.jobs.measure_point import Outcome
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.judge.bounds import median, smallest_sample
from harness.measure import machine
from harness.record.run import Mode
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Notice, Warn

__all__ = [
    "CLOCK_LARGE",
    "CLOCK_PLAIN",
    "CLOCK_SHARE",
    "FIRST_SLOW",
    "LOADED",
    "OFF_CPU",
    "SPREAD",
    "beside",
    "loaded",
    "timed",
    "too_few",
]

CLOCK_SHARE = 0.01
"""Above this share the harness's own cost shows in the third digit, which is where people begin to read changes."""

CLOCK_PLAIN, CLOCK_LARGE = 0.05, 0.20
"""Up to a twentieth of what was read is small, since differences are still seen; above a fifth, a change of the clock's
own cost of a quarter moves the value by the 5 % that a comparison looks for, so the value is to be distrusted."""

OFF_CPU = 0.10
"""Waiting above a tenth of the wall time: displacement on a quiet machine stays under a few percent."""

SPREAD = 0.10
"""Twice the change that a comparison wants to see: beyond it one run says little about another."""

FIRST_SLOW = 1.2
"""A first value a fifth above the median, in the median process: past the scatter of values, so it is a cold start."""

LOADED = 0.5
"""Runnable processes a core, of others: half a core is somebody else's, beside a worker that wants one."""

_LONGER = {Mode.QUICK: "; leave out --quick to get one", Mode.BUDGET: "; a longer --budget gives one"}

_NAMED = 3
"""Files that a notice names; the others are counted."""


def too_few(n: int, effort: Effort) -> list[Notice]:
    """There is no interval below the smallest sample; what would give one depends on what was asked for."""
    least = smallest_sample()
    if n >= least:
        return []
    advice = _LONGER.get(effort.mode, "")
    return [Notice(Warn.TOO_FEW, f"{n} process{'es' * (n != 1)}: no interval below {least}{advice}.")]


def beside(outcome: Outcome) -> list[Notice]:
    """What the workers of the point did besides: printed, did not end, left processes, opened what has no digest."""
    found = _printed(outcome)
    found += [Notice(Warn.LEFTOVER, sentence) for sentence in outcome.notices]
    names = sorted({Path(name).name for name, digest in outcome.touched.items() if digest is None})
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        sentence = (
            f"No digest of {', '.join(names[:_NAMED])}{more} (gone, unreadable or over 64 MiB): whether such a file "
            "changed is not checked."
        )
        found.append(Notice(Warn.UNDIGESTED, sentence))
    return found


def _printed(outcome: Outcome) -> list[Notice]:
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


def _clock_share(share: float, *, stamped: bool) -> str:
    """How far the harness's own cost reaches into the value: ``share`` of what was read, taken off of stamped calls."""
    own = "A stamp of the clock" if stamped else "The harness itself"
    of = "a stamped call" if stamped else "the slice"
    told = "it was measured and taken off" if stamped else "it is part of the value"
    if share <= CLOCK_PLAIN:
        rest = told if stamped else "read differences, not the last digit"
        return f"{own} is a small part of {of}, {share:.1%}: {rest}."
    if share <= CLOCK_LARGE:
        return f"{own} is {share:.1%} of {of}; {told}."
    part = "most" if share > 0.5 else "about half" if share > 0.4 else "a third" if share > 0.3 else "a quarter"
    advice = "time it in batches (estimand call-mean)" if stamped else "put more work into one call of the slice"
    return f"Distrust the value: {share:.1%} of {of}, {part} of it, is the clock's ({told}). Rather {advice}."


def timed(point: PlannedPoint, outcome: Outcome, effort: Effort, values: list[float]) -> list[Notice]:
    """Everything that must stand beside the value of a timed point; ``values`` are those of its processes, in ns."""
    warnings = too_few(len(values), effort)
    share = median([process["overhead_share"] for process in outcome.processes])
    if share > CLOCK_SHARE:
        stamped = point.kpi.estimand is not Estimand.CALL_MEAN
        warnings.append(Notice(Warn.CLOCK_SHARE, _clock_share(share, stamped=stamped)))
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


def loaded(before: Mapping[str, Any], cores: int, after: Mapping[str, Any] | None = None) -> Notice | None:
    """The machine was busy before or after the run, whichever was more; None where neither, or where it does not say.

    To be called when the run has ended: ``after`` is what the machine says then, read here where it is not given. One
    process of the load after a run is the run's own.
    """
    first, last = (_load(noise) for noise in (before, machine.noise() if after is None else after))
    theirs = [load for load in (first, None if last is None else last - 1) if load is not None]
    if not theirs or max(theirs) / cores <= LOADED:
        return None
    told = [
        f"{load:g} {when}"
        for load, when in ((first, "before the run"), (last, "after it, with one of the run's own"))
        if load is not None
    ]
    sentence = (
        f"The processes that wanted the {cores} core{'s' * (cores != 1)}: {' and '.join(told)}. "
        "Others were at work on this machine."
    )
    return Notice(Warn.LOADED, sentence)


def _load(noise: Mapping[str, Any]) -> float | None:
    averages = noise.get("load_average")
    return float(averages[0]) if averages else None
