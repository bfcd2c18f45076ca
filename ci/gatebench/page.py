"""The section "How often it errs" of docs/gate.md: every number in it is counted here and now.

Pure: trials in, Markdown out. A rate stands beside its count and its bound, the load is said, and nothing is called
good. Refuses to show a rate without its count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ci.gatebench import runlevel
from ci.gatebench.cells import at_best, at_worst, merged, rule_rows, table
from ci.gatebench.counting import EFFECTS, NULLS, OURS, synthetic
from ci.gatebench.generate import NOISES, RATIOS, SPREAD
from ci.gatebench.recorded import recorded
from ci.gatebench.rules import OTHERS
from ci.gatebench.runlevel import CHANGES, SPREADS, run_level
from harness.judge.rule import LEAST_DELTA, Rule, delta_for
from harness.record.edit_floors import floors
from harness.record.trials import Trial

__all__ = ["section"]


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


def _run_level(trials: Sequence[Trial]) -> Iterator[str]:
    usual, least = Rule(), Rule(delta=LEAST_DELTA)
    # The margins that the slices really have: the widest of them says how much the worst floor costs.
    widest = max((delta_for(floor.size) for floor in floors(trials).values()), default=usual.delta)
    between = [Rule(delta=widest)] if least.delta < widest < usual.delta else []
    yield "### A run of forty points, one of them changed"
    yield ""
    yield (
        f"Simulated, {runlevel.SUITES:,} runs a cell, normal pairs, after Holm: how often the changed point is called "
        f"`regressed`. The margin is {100 * usual.delta:.0f} % while a KPI's floor is not known, and "
        f"{100 * least.delta:.0f} % where the committed floor is under a third of that; the widest of the recorded "
        f"slices is {100 * widest:.1f} %."
    )
    yield ""
    results = [(usual, run_level(usual)), *((rule, run_level(rule, on_margin=0)) for rule in (*between, least))]
    rows = [
        [
            f"{100 * rule.delta:.1f} %",
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
        *_run_level(trials),
        "",
        *recorded(trials),
    ]
    return "\n".join(lines)
