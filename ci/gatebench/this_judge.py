"""What is asked of this judge alone: where it stays undecided, and what it says at each slice's own margin.

Pure; counts over recorded trials, each judged once as a gate takes its pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ci.gatebench.counting import Tally, whole, whole_suites, worst
from ci.gatebench.rules import judge_in_order, of_state
from harness.record.trials import Kind, Trial

__all__ = ["UNSTATED", "at_own_margins", "by_load", "load_class"]

LOADS = (1.6, 3.0, 4.6)
"""Where the classes of load part. The recorder alone makes a load of 1.1 to 1.5, and each step to the next class is
one or two processes of others."""

NAMES = ("under 1.6", "1.6 to 3", "3 to 4.6", "4.6 and above")

UNSTATED = "not stated"


def load_class(trial: Trial) -> str:
    """The class of the one-minute load before the trial; what begins no load with a number is not stated."""
    found = re.match(r"\d+(\.\d+)?", trial.load)
    if found is None:
        return UNSTATED
    return NAMES[sum(float(found[0]) >= limit for limit in LOADS)]


def by_load(trials: Iterable[Trial]) -> dict[str, tuple[Tally, Tally]]:
    """(unchanged windows, neutral edits) by class of load, in order; ``not stated`` only where there is one."""
    found = {name: (Tally(), Tally()) for name in NAMES}
    places = {Kind.NULL: 0, Kind.NEUTRAL: 1}
    for trial in whole(trials):
        if trial.kind in places:
            tallies = found.setdefault(load_class(trial), (Tally(), Tally()))
            tallies[places[trial.kind]].said[of_state(judge_in_order([trial.pairs])[0])] += 1
    return found


def at_own_margins(trials: Sequence[Trial], floors: Mapping[str, float]) -> tuple[Tally, Tally]:
    """(suites in which nothing changed, neutral edits), each slice judged at the margin of its floor.

    ``floors`` are fractions by slice; one that is not there is judged at the margin of an unknown floor.
    """
    suites, neutral = Tally(), Tally()
    for members in whole_suites(trials):
        found = judge_in_order([trial.pairs for trial in members], [floors.get(trial.kpi) for trial in members])
        suites.said[worst([of_state(each) for each in found])] += 1
    for trial in whole(trials):
        if trial.kind is Kind.NEUTRAL:
            (only,) = judge_in_order([trial.pairs], [floors.get(trial.kpi)])
            neutral.said[of_state(only)] += 1
    return suites, neutral
