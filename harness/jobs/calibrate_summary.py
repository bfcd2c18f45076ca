"""What the recorded trials of a machine say, as its ``calibration.json``: a pure function of them.

Each rate stands beside its count and an exact one-sided 95 % bound. A trial is judged once, on its own, at the margin
that the judge had when it asked for the pairs, so that no stream ends before it was decided. Refuses to mix what a
machine recorded before its kernel, processor or interpreter became another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from harness.judge.in_order import at_margins
from harness.judge.power import chain_power, smallest_visible, spread_of
from harness.judge.rates import at_least, at_most
from harness.judge.rule import (
    CONFIRM_PAIRS,
    DELTA,
    EXTEND_PAIRS,
    FAMILY_ALPHA,
    SCREEN_ALPHA,
    SCREEN_PAIRS,
    delta_for,
)
from harness.record.edit_floors import counting, floors, on_machine, ratios
from harness.record.floors import calibration
from harness.record.trials import VALUES_OF, Kind, LoadState, Trial, whole_suites
from kpis.terms.comparison import State

__all__ = ["AS_IT_WAS", "VISIBLE_AT", "calibration_of", "counted", "state_of"]

AS_IT_WAS = "as it was"
"""The load state of trials that were recorded under whatever load there was."""

VISIBLE_AT = (SCREEN_PAIRS, SCREEN_PAIRS + EXTEND_PAIRS, SCREEN_PAIRS + EXTEND_PAIRS + CONFIRM_PAIRS)
"""Pairs of a point after its screen, after the extension, and after the confirmation."""

_CHANGES = (1.03, 1.05, 1.10)
_STAGES = ((SCREEN_PAIRS, SCREEN_ALPHA), (CONFIRM_PAIRS, FAMILY_ALPHA))
_STATES = (*(state.value for state in LoadState), AS_IT_WAS)


def state_of(trial: Trial) -> str:
    """The load state in words."""
    return AS_IT_WAS if trial.state is None else trial.state.value


def counted(trials: Iterable[Trial]) -> dict[str, dict[str, int]]:
    """Trials by load state and kind, those that broke off with them; every state and kind is there."""
    found = {state: {kind.value: 0 for kind in Kind} for state in _STATES}
    for trial in trials:
        found[state_of(trial)][trial.kind.value] += 1
    return found


def calibration_of(slug: str, trials: Sequence[Trial]) -> bytes:
    """The file of a machine from all that is on record of it.

    The machine is the one of the last edit that counts for a floor, else that of the last trial.
    """
    _, facts = on_machine(counting(trials) or trials)
    mine = [trial for trial in trials if trial.fingerprint == facts]
    known = floors(mine)
    sound = [trial for trial in mine if trial.void is None]
    names = dict.fromkeys(trial.kpi for trial in sound)
    deltas = {name: delta_for(known[name].size if name in known else None) for name in names}
    more = {
        "points": {name: _point([t for t in sound if t.kpi == name], deltas[name]) for name in names},
        "suites": _suites(sound),
        "trials": counted(mine) | {"broke off": len(mine) - len(sound)},
    }
    return calibration(slug, known, facts, more)


def _point(trials: Sequence[Trial], delta: float) -> dict[str, Any]:
    edits = [trial for trial in trials if trial.kind is Kind.NEUTRAL]
    return {
        "delta": round(delta, 5),
        "load": {state: _spread(of, delta) for state in _STATES if (of := _nulls(trials, state))},
        "neutral": {"edits": len({trial.edit for trial in edits}), "trials": len(edits)},
        "injected": _injected(trials),
        "null": _red(trials),
    }


def _nulls(trials: Iterable[Trial], state: str) -> list[float]:
    """Log ratios of the planned pairs of unchanged windows: those that nobody asked for because of what he saw."""
    return [
        ratio
        for trial in trials
        if trial.kind is Kind.NULL and state_of(trial) == state
        for ratio in ratios(trial)[: trial.planned or VALUES_OF]
    ]


def _spread(found: Sequence[float], delta: float) -> dict[str, Any]:
    """The spread of pairs, and what it lets a gate of one changed point see: the derived power curve."""
    spread, margin = spread_of(found), math.log1p(delta)
    if spread is None:
        return {"pairs": len(found), "spread": None}
    visible = {n: smallest_visible(spread, ((n, FAMILY_ALPHA),), margin) for n in VISIBLE_AT}
    power = {change: _power(math.log(change) - margin, spread) for change in _CHANGES}
    return {
        "pairs": len(found),
        "spread": round(spread, 5),
        "visible": {str(n): None if seen is None else round(seen, 4) for n, seen in visible.items()},
        "power": {f"{change:.2f}": round(found, 4) for change, found in power.items()},
    }


def _power(excess: float, spread: float) -> float:
    if spread > 0:
        return chain_power(excess, spread, _STAGES)
    return 1.0 if excess > 0 else 0.0


def _says(trial: Trial) -> State:
    return at_margins([trial.pairs], [trial.delta or DELTA])[0].state


def _injected(trials: Iterable[Trial]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for factor in _CHANGES:
        of = [trial for trial in trials if trial.kind is Kind.INJECTED and trial.asked == factor]
        if of:
            hits = sum(_says(trial) is State.REGRESSED for trial in of)
            bounds = {"at_least": round(at_least(hits, len(of)), 4), "at_most": round(at_most(hits, len(of)), 4)}
            found[f"{factor:.2f}"] = {"found": hits, "of": len(of), **bounds}
    return found


def _red(trials: Iterable[Trial]) -> dict[str, Any]:
    said = [_says(trial) for trial in trials if trial.kind is Kind.NULL]
    red, undecided = (said.count(state) for state in (State.REGRESSED, State.INCONCLUSIVE))
    return {"red": red, "undecided": undecided, "of": len(said), "at_most": round(at_most(red, len(said)), 4)}


def _suites(trials: Sequence[Trial]) -> dict[str, Any]:
    """How many suites, each one Holm family, were red: over all, and by load state."""
    found: dict[str, list[bool]] = {}
    for members in whole_suites(trials):
        said = at_margins([trial.pairs for trial in members], [trial.delta or DELTA for trial in members])
        found.setdefault(state_of(members[0]), []).append(any(each.state is State.REGRESSED for each in said))
    by_state = {state: _count(found[state]) for state in _STATES if state in found}
    return {**_count([red for of in found.values() for red in of]), "load": by_state}


def _count(red: Sequence[bool]) -> dict[str, Any]:
    return {"red": sum(red), "of": len(red), "at_most": round(at_most(sum(red), len(red)), 4)}
