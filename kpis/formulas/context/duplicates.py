"""Which actions repeat an earlier one although nothing that they depend on changed.

Each action is compared with the last one of the same signature. Strictly, a repeat is avoidable only where both
versions of its environment are known and equal; a repeat of unknown version is neither, and is counted apart. What
changes things (edits, builds) and what changes by itself (time-sensitive searches) is never avoidable. The reference
takes two unknown versions for equal, and a repeated edit for waste.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from kpis.terms.context_words import Family

__all__ = ["Repeat", "Repeatable", "reference_duplicates", "repeats"]


@dataclass(frozen=True, slots=True)
class Repeatable:
    """One action: ``before`` and ``after`` are versions of what it depends on, None where not recorded."""

    index: int
    family: Family
    signature: str
    before: str | None = None
    after: str | None = None
    time_sensitive: bool | None = None


class Repeat(Enum):
    """What an action is to the actions before it."""

    FIRST = "first"
    CHANGED = "changed"  # repeats one, after a change
    NEEDED = "needed"  # repeats one, and does or may do something again by its nature
    AVOIDABLE = "avoidable"
    UNKNOWN = "unknown"


def repeats(actions: Sequence[Repeatable]) -> list[Repeat]:
    """What each of ``actions``, in order, is by the strict rule.

    What was seen last is the version after the earlier action, or before it where only that is recorded; what is there
    now is the version before the later one, or after it.
    """
    last: dict[str, Repeatable] = {}
    found = []
    for action in actions:
        found.append(_repeat(last.get(action.signature), action))
        last[action.signature] = action
    return found


def _repeat(earlier: Repeatable | None, action: Repeatable) -> Repeat:
    if earlier is None:
        return Repeat.FIRST
    if action.family.mutates or action.time_sensitive:
        return Repeat.NEEDED
    seen = earlier.before if earlier.after is None else earlier.after
    now = action.after if action.before is None else action.before
    if seen is None or now is None:
        return Repeat.UNKNOWN
    return Repeat.AVOIDABLE if seen == now else Repeat.CHANGED


def reference_duplicates(actions: Sequence[Repeatable]) -> list[int | None]:
    """By the reference's rule: the index of the action that each one duplicates, or None.

    Only the version *after* the earlier action counts, two unknown ones are equal, and no family is spared.
    """
    last: dict[str, Repeatable] = {}
    found: list[int | None] = []
    for action in actions:
        earlier = last.get(action.signature)
        now = action.after if action.before is None else action.before
        found.append(earlier.index if earlier is not None and earlier.after == now else None)
        last[action.signature] = action
    return found
