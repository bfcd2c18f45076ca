"""The section "How often it errs" of docs/gate.md: every number in it is counted here and now.

Pure: trials in, Markdown out. A rate stands beside its count and its bound, the load is said, and nothing is called
good. Refuses to show a rate without its count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from ci.gatebench import runlevel
from ci.gatebench.cells import NONE, at_best, at_worst, merged, rule_rows, table
from ci.gatebench.counting import (
    EFFECTS,
    NULLS,
    OURS,
    injected,
    neutral,
    nulls,
    one_after_other,
    suites,
    synthetic,
)
from ci.gatebench.generate import NOISES, RATIOS, SPREAD
from ci.gatebench.rules import OTHERS
from ci.gatebench.runlevel import CHANGES, SPREADS, run_level
from ci.gatebench.trials import Kind, Trial
from harness.judge.floor import Floor, floor_of
from harness.judge.power import spread_of
from harness.judge.rule import CONFIRM_PAIRS, LEAST_DELTA, Rule, delta_for

__all__ = ["floors", "section"]

MISS = 0.025
SCREENED = 20
"""Pairs of each recorded trial that its spread is read off: those that every trial has."""

MANY = CONFIRM_PAIRS
"""Pairs of a neutral trial that goes into a floor; the shorter ones count as trials of the rules only."""

FEW = 20
"""Suites that an observed rate should rest on: with fewer, 0 red ones leave room for 15 % and more."""


def _synthetic() -> Iterator[str]:
    found, after = synthetic()
    at = {ratio: merged(found[noise, ratio] for noise in NOISES) for ratio in RATIOS}
    yield "### Synthetic streams"
    yield ""
    yield (
        f"{len(NOISES)} kinds of noise, {NULLS} unchanged streams of each and {EFFECTS} at each ratio; pairs spread by "
        f"about {100 * SPREAD:.1f} %. This judge takes pairs as it wants them; the others get 20 processes a side, "
        "three values each, as pyperf makes them. *One after the other* gives them the base's first 20 processes and "
        "the head's next 20, which is how these tools are mostly used; this judge takes pairs only."
    )
    yield ""
    head = ["rule", "false alarms, alternated", "one after the other", "found +3 %", "found +5 %", "found +10 %"]
    columns = [(at[1.0], False), (after, False), *((at[ratio], True) for ratio in RATIOS[1:])]
    yield from table(head, rule_rows(columns))
    ours = at[1.0][OURS]
    yield ""
    yield f"This judge left {ours.open} of {ours.of:,} unchanged streams undecided. False alarms by the kind of noise:"
    yield ""
    rows = [[noise, *(f"{found[noise, 1.0][name].red}" for name in (OURS, *OTHERS))] for noise in NOISES]
    yield from table([f"noise, of {NULLS}", OURS, *OTHERS], rows)


def _loads(trials: Iterable[Trial]) -> str:
    """The range of the load averages that the trials name, and the cores."""
    said = [trial.load for trial in trials]
    numbers = [float(number) for load in said for number in re.findall(r"\d+\.\d+", load)]
    cores = sorted({match for load in said for match in re.findall(r"on \d+ cores?", load)})
    return f"{min(numbers):.1f} to {max(numbers):.1f} {', '.join(cores)}" if numbers else "not known"


def _recorded(trials: Sequence[Trial]) -> Iterator[str]:
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
    yield from _floors(trials)


def floors(trials: Sequence[Trial]) -> dict[str, Floor]:
    """Each slice's floor from its neutral trials; a slice with too few of them has none."""
    found = {}
    for kpi in dict.fromkeys(trial.kpi for trial in trials):
        of_edits = [
            _ratios(trial)
            for trial in trials
            if trial.kpi == kpi and trial.kind is Kind.NEUTRAL and trial.void is None and len(trial.pairs) >= MANY
        ]
        floor = floor_of(of_edits)
        if floor is not None:
            found[kpi] = floor
    return found


def _floors(trials: Sequence[Trial]) -> Iterator[str]:
    """How far each slice wanders by itself, and how far neutral edits moved it."""
    known = floors(trials)
    yield (
        "What moves a slice without a cause: the spread of its unchanged pairs, and the middle estimate of each "
        f"neutral edit that was measured on {MANY} pairs or more. The largest of these is noise for the greater part; "
        "the *floor* is the 95 % upper bound of the spread of the edits' true effects, and the margin is three of it, "
        "at least 1 %. `python ci/gatebench/score.py --floors` commits the floors, and the gate reads those of the "
        "base."
    )
    yield ""
    rows = []
    for kpi in dict.fromkeys(trial.kpi for trial in trials):
        quiet = [
            ratio
            for trial in trials
            if trial.kpi == kpi and trial.kind is Kind.NULL and trial.void is None
            for ratio in _ratios(trial)[:SCREENED]
        ]
        spread = spread_of(quiet, MISS)
        floor = known.get(kpi)
        rows.append(
            [
                f"`{kpi}`",
                f"{len(quiet)}",
                NONE if spread is None else f"{100 * spread:.1f} %",
                *(
                    (NONE, NONE, NONE, NONE, f"{100 * delta_for(None):.1f} %")
                    if floor is None
                    else (
                        f"{floor.edits}",
                        f"{floor.pairs:,}",
                        f"{100 * floor.largest:.2f} %",
                        f"{100 * floor.size:.2f} %",
                        f"{100 * delta_for(floor.size):.1f} %",
                    )
                ),
            ]
        )
    head = ["slice", "unchanged pairs", "spread", "neutral edits", "their pairs", "largest", "floor", "margin"]
    yield from table(head, rows)


def _ratios(trial: Trial) -> list[float]:
    return [math.log(head / base) for base, head in trial.pairs]


def _run_level() -> Iterator[str]:
    usual, least = Rule(), Rule(delta=LEAST_DELTA)
    yield "### A run of forty points, one of them changed"
    yield ""
    yield (
        f"Simulated, {runlevel.SUITES:,} runs a cell, normal pairs, after Holm: how often the changed point is called "
        f"`regressed`. The margin is {100 * usual.delta:.0f} % while a KPI's floor is not known, and "
        f"{100 * least.delta:.0f} % where the committed floor is under a third of that."
    )
    yield ""
    results = [(usual, run_level(usual)), (least, run_level(least, on_margin=0))]
    rows = [
        [
            f"{100 * rule.delta:.0f} %",
            f"{100 * spread:.1f} %",
            *(at_best(found.found[spread, change], runlevel.SUITES) for change in CHANGES),
            at_worst(found.red[spread], runlevel.SUITES),
            f"{found.pairs[spread]:.1f}",
        ]
        for rule, found in results
        for spread in SPREADS
    ]
    head = ["margin", "spread of pairs", *(f"{100 * change:+.0f} %" for change in CHANGES)]
    yield from table([*head, "red runs, nothing changed", "pairs an unchanged point"], rows)
    yield ""
    margin = results[0][1].on_margin
    of = runlevel.ON_MARGIN
    yield (
        f"The worst that the rule still calls unchanged, all forty points slower by exactly the margin: "
        f"{at_worst(margin, of)} runs red; by design at most 1 %."
    )


def section(trials: Sequence[Trial]) -> str:
    """The section between the marks of docs/gate.md, without them."""
    lines = [
        "## How often it errs",
        "",
        "Counted by `python ci/gatebench/score.py --markdown`, never typed. Bounds are exact and one-sided at 95 %. "
        "The other rules are re-stated from their documentation and get the same streams; [gatebench](gatebench.md) "
        "says how to put one's own rule, or one's own streams, in their place.",
        "",
        *_synthetic(),
        "",
        *_run_level(),
        "",
        *_recorded(trials),
    ]
    return "\n".join(lines)
