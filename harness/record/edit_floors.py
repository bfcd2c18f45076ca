"""The floor of each slice from its recorded neutral edits, and the machine that it belongs to.

Pure. Refuses trials whose number of pairs was not fixed beforehand: one of twenty pairs gets more only where the judge
suspects it, so that the long ones among them would be those that moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.judge.floor import Floor, floor_of
from harness.judge.rule import CONFIRM_PAIRS
from harness.record.trials import Kind, Trial

__all__ = ["PLANNED", "by_machine", "counting", "floors", "of_machine", "on_machine", "ratios"]

PLANNED = CONFIRM_PAIRS
"""Pairs that a neutral trial must be planned with to go into a floor; the others are trials of the rules only."""

Facts = Mapping[str, Any]


def ratios(trial: Trial) -> list[float]:
    """Ln(head / base) of each pair."""
    return [math.log(head / base) for base, head in trial.pairs]


def by_machine(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The trials of each machine, by its short name."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.machine, []).append(trial)
    return found


def counting(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that go into floors: neutral edits with a name, planned with enough pairs, and whole."""
    return [
        trial
        for trial in trials
        if trial.kind is Kind.NEUTRAL
        and trial.void is None
        and trial.edit is not None
        and trial.planned is not None
        and trial.planned >= PLANNED
    ]


def floors(trials: Iterable[Trial]) -> dict[str, Floor]:
    """Each slice's floor; a slice with too few different edits has none.

    The pairs of one edit are one pool, however often it was recorded, and of each trial those count that were planned.
    """
    pools: dict[str, dict[str, list[float]]] = {}
    for trial in counting(trials):
        pools.setdefault(trial.kpi, {}).setdefault(str(trial.edit), []).extend(ratios(trial)[: trial.planned])
    found = {kpi: floor_of(edits) for kpi, edits in pools.items()}
    return {kpi: floor for kpi, floor in found.items() if floor is not None}


def of_machine(trials: Sequence[Trial]) -> tuple[dict[str, Floor], Facts | None]:
    """(floors, facts) of one machine as it was when its last neutral edit was recorded; facts may be None."""
    mine, facts = on_machine(counting(trials))
    return floors(mine), facts


def on_machine(trials: Sequence[Trial]) -> tuple[list[Trial], Facts | None]:
    """(trials, facts) of one machine as it was when the last of ``trials`` was recorded.

    A machine that gets another kernel or interpreter is another one to a floor, so that earlier trials drop out. What
    states no machine is of none that is known, and is never counted for one.
    """
    if not trials:
        return [], None
    facts = trials[-1].fingerprint
    return [trial for trial in trials if trial.fingerprint == facts], facts
