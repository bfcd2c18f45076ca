"""How often each rule is right: counts over trials with known truth, and the exact bounds that counts allow.

Pure. Windows share no pair: each trial is judged once by each rule, on its first pairs. This judge takes pairs as a
gate does, while it wants them; the other rules get the first twenty processes a side, three values each where they are
kept. Refuses to leave out a trial: what broke off is counted as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ci.gatebench.generate import NOISES, RATIOS, stream
from ci.gatebench.rules import OTHERS, Processes, Says, judge_in_order, of_state
from harness.judge.rates import at_least, at_most
from harness.record.trials import Kind, Trial, whole_suites

__all__ = [
    "OURS",
    "Tally",
    "at_least",
    "at_most",
    "injected",
    "neutral",
    "nulls",
    "one_after_other",
    "suites",
    "synthetic",
    "whole",
    "whole_suites",
    "worst",
]

OURS = "this judge"
PROCESSES = 20
"""What the other rules get of a trial, a side: pyperf's default number of processes."""

NULLS, EFFECTS = 200, 100
"""Synthetic streams of each noise: unchanged, and at each ratio."""


@dataclass(slots=True)
class Tally:
    """What one rule said over the trials of a cell."""

    said: Counter[Says] = field(default_factory=Counter)

    @property
    def of(self) -> int:
        """How many trials there were."""
        return self.said.total()

    @property
    def red(self) -> int:
        """How often the rule said ``regressed``."""
        return self.said[Says.REGRESSED]

    @property
    def open(self) -> int:
        """How often it could not decide."""
        return self.said[Says.INCONCLUSIVE]


Tallies = dict[str, Tally]
"""By the name of the rule."""


def _empty(*, ours: bool = True) -> Tallies:
    return {name: Tally() for name in ((OURS, *OTHERS) if ours else OTHERS)}


def _side(trial: Trial, side: int, first: int = 0) -> Processes:
    """Single values by process where they are kept, else the processes' medians."""
    rows = trial.values or tuple(((base,), (head,)) for base, head in trial.pairs)
    return [pair[side] for pair in rows[first : first + PROCESSES]]


def _by_others(base: Processes, head: Processes) -> dict[str, Says]:
    return {name: rule(base, head) for name, rule in OTHERS.items()}


def whole(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that did not break off."""
    return [trial for trial in trials if trial.void is None]


def _add(tallies: Tallies, trials: Iterable[Trial]) -> None:
    for trial in trials:
        said = _by_others(_side(trial, 0), _side(trial, 1))
        said[OURS] = of_state(judge_in_order([trial.pairs])[0])
        for name, word in said.items():
            tallies[name].said[word] += 1


def synthetic(nulls: int = NULLS, effects: int = EFFECTS) -> tuple[dict[tuple[str, float], Tallies], Tallies]:
    """By (noise, ratio) what each rule said; and of unchanged streams measured one side after the other."""
    found: dict[tuple[str, float], Tallies] = {}
    after = _empty(ours=False)
    for noise in NOISES:
        for ratio in RATIOS:
            trials = [stream(noise, ratio, seed) for seed in range(nulls if ratio == 1.0 else effects)]
            _add(found.setdefault((noise, ratio), _empty()), trials)
            for trial in trials if ratio == 1.0 else ():
                for name, word in _by_others(_side(trial, 0), _side(trial, 1, PROCESSES)).items():
                    after[name].said[word] += 1
    return found, after


def nulls(trials: Iterable[Trial]) -> Tallies:
    """Recorded trials in which nothing changed, KPI by KPI."""
    tallies = _empty()
    _add(tallies, (trial for trial in whole(trials) if trial.kind is Kind.NULL))
    return tallies


def neutral(trials: Iterable[Trial]) -> Tallies:
    """Recorded trials of edits that must not cost time."""
    tallies = _empty()
    _add(tallies, (trial for trial in whole(trials) if trial.kind is Kind.NEUTRAL))
    return tallies


def injected(trials: Iterable[Trial]) -> dict[float, Tallies]:
    """Recorded trials in which the head made more calls, by the ratio that was asked for."""
    found: dict[float, Tallies] = {ratio: _empty() for ratio in RATIOS[1:]}
    for trial in whole(trials):
        if trial.kind is Kind.INJECTED:
            _add(found.setdefault(trial.asked, _empty()), [trial])
    return found


def suites(trials: Sequence[Trial]) -> Tallies:
    """Recorded nulls, run by run: one window of every KPI, from one pair of checkouts; red if any KPI is."""
    tallies = _empty()
    for members in whole_suites(trials):
        by_kpi: dict[str, list[Says]] = {name: [] for name in tallies}
        by_kpi[OURS] = [of_state(found) for found in judge_in_order([trial.pairs for trial in members])]
        for trial in members:
            for name, word in _by_others(_side(trial, 0), _side(trial, 1)).items():
                by_kpi[name].append(word)
        for name, words in by_kpi.items():
            tallies[name].said[worst(words)] += 1
    return tallies


def worst(words: Sequence[Says]) -> Says:
    """What is said of a run of which this was said KPI by KPI."""
    return next((word for word in (Says.REGRESSED, Says.INCONCLUSIVE) if word in words), Says.OK)


def one_after_other(trials: Iterable[Trial]) -> Tallies:
    """Recorded nulls with the base of one trial and the head of the next of its KPI: sides that were not alternated.

    Each trial is used once, so that a window shares no pair with another.
    """
    tallies = _empty(ours=False)
    waiting: dict[tuple[str, str], Trial] = {}
    for trial in whole(trials):
        if trial.kind is not Kind.NULL:
            continue
        before = waiting.pop((trial.machine, trial.kpi), None)
        if before is None:
            waiting[trial.machine, trial.kpi] = trial
            continue
        for name, word in _by_others(_side(before, 0), _side(trial, 1)).items():
            tallies[name].said[word] += 1
    return tallies
