"""Whether what must survive survived: anchors, current values, provenance, hard constraints.

A filter and never a term: nothing here is traded against cost. A rate without a denominator has no value, and a gate on
it stays open. Catastrophes are counted one by one, beside whatever the averages say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kpis.formulas.context.canonical import canonical
from kpis.formulas.context.values import Ratio, ratio

__all__ = [
    "Catastrophe",
    "ConstraintRuns",
    "ShownState",
    "Staleness",
    "authority_loss",
    "catastrophes",
    "constraint_violations",
    "provenance_coverage",
    "stale_state",
    "state_ambiguity",
]


def authority_loss(expected: Collection[str], present: Collection[str]) -> Ratio:
    """ALR: active authoritative anchors that are missing, of those expected. What is there besides does not count."""
    wanted = set(expected)
    return ratio(len(wanted - set(present)), len(wanted), "no active anchor was expected")


@dataclass(frozen=True, slots=True)
class ShownState:
    """One value that was presented as current, with the values that its key has and had."""

    key: str
    presented: Any
    current: Any
    superseded: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class Staleness:
    """SSR as ``rate``; ``wrong`` values are neither current nor ever were, and count in the denominator alone."""

    rate: Ratio
    wrong: int


def stale_state(shown: Iterable[ShownState]) -> Staleness:
    """SSR: superseded values that are shown as current, of all values shown as current. Compared as canonical JSON.

    A value that was superseded and is current again is not stale.
    """
    stale = wrong = total = 0
    for each in shown:
        total += 1
        value = canonical(each.presented)
        if value == canonical(each.current):
            continue
        if value in {canonical(old) for old in each.superseded}:
            stale += 1
        else:
            wrong += 1
    return Staleness(ratio(stale, total, "no value was shown as current"), wrong)


def provenance_coverage(objects: int, with_valid_provenance: int) -> Ratio:
    """PC: authoritative state objects whose provenance is valid, of all of them."""
    return ratio(with_valid_provenance, objects, "there is no authoritative state object")


def state_ambiguity(active: Mapping[str, Sequence[Any]]) -> Ratio:
    """SAR: values too many over the keys of a state, where a key has one different active value at most."""
    extra = sum(max(0, len({canonical(value) for value in values}) - 1) for values in active.values())
    return ratio(extra, len(active), "the state has no key")


@dataclass(frozen=True, slots=True)
class ConstraintRuns:
    """CCVR as ``rate`` over runs, with the absolute number of violations beside it."""

    rate: Ratio
    violations: int


def constraint_violations(runs: Sequence[Sequence[str]]) -> ConstraintRuns:
    """CCVR: runs that violate at least one hard active constraint. ``runs`` names the violations of each."""
    return ConstraintRuns(
        ratio(sum(bool(violations) for violations in runs), len(runs), "there is no run"), sum(map(len, runs))
    )


class Catastrophe(Enum):
    """What no mean gain makes up for."""

    HARD_CONSTRAINT_VIOLATION = "hard_constraint_violations"
    WRONG_DESTRUCTIVE_EDIT = "wrong_destructive_edits"
    CROSS_SESSION_RECALL = "cross_session_recalls"
    LOST_OBLIGATION = "lost_obligations"
    UNRECOVERABLE_PROVENANCE = "unrecoverable_provenance"


def catastrophes(found: Iterable[Catastrophe]) -> dict[Catastrophe, int]:
    """How often each kind happened; every kind is named, also where it did not."""
    counts = dict.fromkeys(Catastrophe, 0)
    for each in found:
        counts[each] += 1
    return counts
