"""What a run was made for: its attempts, each a case and a replicate with what was said of how it ended.

A run is nearly always one attempt, and then all that its files say is about that. A file of simulations, of samples or
of epochs holds several; each has a verdict of its own, and one says nothing of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kpis.terms.trace import RunFacts

__all__ = ["Attempt", "Unit", "attempts_of", "unit_of", "units_of"]


@dataclass(frozen=True, slots=True)
class Unit:
    """What tells attempts of one run apart; None is not said."""

    case: str
    replicate: int | None
    arm: str | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt. ``success`` is None where nobody judged it."""

    unit: Unit
    success: bool | None


def unit_of(facts: RunFacts) -> Unit | None:
    """The attempt that ``facts`` are about; None where they name no case."""
    return None if facts.case_id is None else Unit(facts.case_id, facts.replicate, facts.arm)


def units_of(facts: Iterable[RunFacts]) -> tuple[Unit, ...]:
    """The attempts that ``facts`` name, each once, in their order."""
    return tuple(dict.fromkeys(unit for each in facts if (unit := unit_of(each)) is not None))


def attempts_of(facts: Sequence[RunFacts]) -> tuple[Attempt, ...]:
    """The attempts of a run. An attempt passed if all that say so of it say yes; none where no case is named."""
    units = units_of(facts)
    if len(units) == 1:
        return (Attempt(units[0], _all_of(facts)),)
    return tuple(Attempt(unit, _all_of([each for each in facts if unit_of(each) == unit])) for unit in units)


def _all_of(facts: Iterable[RunFacts]) -> bool | None:
    said = [each.success for each in facts if each.success is not None]
    return all(said) if said else None
