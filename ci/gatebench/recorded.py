"""The part of "How often it errs" that rests on recorded streams: rates, where the judge stayed undecided, floors.

Pure: trials in, lines of Markdown out. A rate stands beside its count and its bound, and the load is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ci.gatebench.cells import NONE, at_worst, rule_rows, table
from ci.gatebench.counting import OURS, injected, neutral, nulls, one_after_other, suites
from ci.gatebench.this_judge import at_own_margins, by_load
from harness.judge.floor import Floor
from harness.judge.power import spread_of
from harness.judge.rule import DELTA, delta_for
from harness.record.edit_floors import PLANNED, floors, ratios
from harness.record.trials import Kind, Trial

__all__ = ["recorded"]

MISS = 0.025
SCREENED = 20
"""Pairs of each recorded trial that its spread is read off: those that every trial has."""

FEW = 20
"""Suites that an observed rate should rest on: with fewer, 0 red ones leave room for 15 % and more."""


def recorded(trials: Sequence[Trial]) -> Iterator[str]:
    """The lines."""
    yield "### Recorded streams"
    yield ""
    if not trials:
        yield "None is recorded yet. Type: `python ci/gatebench/record.py --kind null --seconds 600 --out DIR`"
        return
    by_suite, by_kpi, edits, slower = suites(trials), nulls(trials), neutral(trials), injected(trials)
    broken = sum(trial.void is not None for trial in trials)
    machines = ", ".join(sorted({trial.machine for trial in trials}))
    pairs = sum(len(trial.pairs) for trial in trials)
    yield (
        f"Real pairs of {len({trial.kpi for trial in trials})} slices of this repository: {len(trials)} trials, "
        f"{pairs:,} pairs, on {machines}, one-minute load {_loads(trials)}, with the recorder's own. Every trial on "
        f"record is counted; {broken} of them broke off. A *suite* is one window of every slice, from two checkouts "
        "of one commit that no other suite uses; no two windows share a pair."
    )
    yield ""
    yield from table(
        [
            "rule",
            "red suites, nothing changed",
            "false alarms, slice by slice",
            "one after the other",
            "neutral edits called slower",
        ],
        rule_rows([(by_suite, False), (by_kpi, False), (one_after_other(trials), False), (edits, False)]),
    )
    yield ""
    head = ["rule", *(f"found, {100 * ratio - 100:+.0f} % more calls" for ratio in slower)]
    yield from table(head, rule_rows([(tallies, True) for tallies in slower.values()]))
    if by_suite[OURS].of < FEW:
        yield ""
        yield (
            f"{by_suite[OURS].of} suites are fewer than the {FEW} that an observed rate should rest on: read the "
            "bound, not the zero. Recordings add up; a quiet night of `record.py --kind null` brings hundreds."
        )
    ours = by_kpi[OURS]
    distinct = len({trial.edit for trial in trials if trial.edit is not None})
    yield ""
    yield (
        f"This judge left {ours.open} of {ours.of} unchanged windows and {edits[OURS].open} of {edits[OURS].of} "
        f"neutral ones undecided (`inconclusive`, never red); the neutral ones are {distinct} different edits. "
        "Injected calls are whole: the truth of each trial stands in its line, and is 35, 36 or 37 calls for 34 where "
        "calls are stamped one by one."
    )
    yield ""
    yield from _undecided(trials)
    yield ""
    yield from _floors(trials, floors(trials))


def _loads(trials: Iterable[Trial]) -> str:
    """The range of the load averages that the trials name, and the cores."""
    said = [trial.load for trial in trials]
    numbers = [float(number) for load in said for number in re.findall(r"\d+\.\d+", load)]
    cores = sorted({match for load in said for match in re.findall(r"on \d+ cores?", load)})
    return f"{min(numbers):.1f} to {max(numbers):.1f} {', '.join(cores)}" if numbers else "not known"


def _undecided(trials: Sequence[Trial]) -> Iterator[str]:
    """Where this judge stayed undecided: by how busy the machine was when the trial began."""
    yield "What it left undecided, by the one-minute load before the trial:"
    yield ""
    rows = [
        [name, at_worst(unchanged.open, unchanged.of), at_worst(edited.open, edited.of)]
        for name, (unchanged, edited) in by_load(trials).items()
    ]
    yield from table(["load before", "unchanged windows undecided", "neutral edits undecided"], rows)


def _floors(trials: Sequence[Trial], known: dict[str, Floor]) -> Iterator[str]:
    """How far each slice wanders by itself, how far neutral edits moved it, and what its own margin makes of it."""
    yield (
        "What moves a slice without a cause: the spread of its unchanged pairs, and the middle estimate of each "
        f"different neutral edit, from the trials that were planned with {PLANNED} pairs or more; an edit that was "
        "recorded again adds its pairs to its own estimate. The largest of these is noise for the greater part; the "
        "*floor* is the 95 % upper bound of the spread of the edits' true effects, and the margin is three of it, at "
        "least 1 %. `python ci/gatebench/score.py --floors` writes the floors into `baselines/`; once they are "
        "committed, the gate reads those of the base."
    )
    yield ""
    rows = [_floor_row(kpi, trials, known.get(kpi)) for kpi in dict.fromkeys(trial.kpi for trial in trials)]
    head = ["slice", "unchanged pairs", "spread", "neutral edits", "their pairs", "largest", "floor", "margin"]
    yield from table(head, rows)
    if not known:
        return
    of_suites, of_edits = at_own_margins(trials, {kpi: floor.size for kpi, floor in known.items()})
    yield ""
    yield (
        f"With each slice judged at its margin in place of {100 * DELTA:g} %: red suites, nothing changed, "
        f"{at_worst(of_suites.red, of_suites.of)}; neutral edits called slower, {at_worst(of_edits.red, of_edits.of)}. "
        "The floors come from these same edits, so that the second count is no test of them."
    )


def _floor_row(kpi: str, trials: Iterable[Trial], floor: Floor | None) -> list[str]:
    quiet = [
        ratio
        for trial in trials
        if trial.kpi == kpi and trial.kind is Kind.NULL and trial.void is None
        for ratio in ratios(trial)[:SCREENED]
    ]
    spread = spread_of(quiet, MISS)
    row = [f"`{kpi}`", f"{len(quiet)}", NONE if spread is None else f"{100 * spread:.1f} %"]
    if floor is None:
        return [*row, NONE, NONE, NONE, NONE, f"{100 * delta_for(None):.1f} %"]
    return [
        *row,
        f"{floor.edits}",
        f"{floor.pairs:,}",
        f"{100 * floor.largest:.2f} %",
        f"{100 * floor.size:.2f} %",
        f"{100 * delta_for(floor.size):.1f} %",
    ]
