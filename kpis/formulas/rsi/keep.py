"""What the rows of a loop come to, and the rule by which each row can be checked: decisions over plain values.

The rule stands here a second time, apart from whatever runtime decided, so that a keep is believed only where the row's
own signals say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["gain", "keep", "rate", "run_lengths", "rulings"]


def gain(before: float, after: float | None, lower_better: bool) -> bool:
    """Whether the metric moved the right way; equal is no gain, and neither is None, which was not measured."""
    if after is None:
        return False
    return after < before if lower_better else after > before


def keep(profile: str, gained: bool, suite_green: bool, truth_clean: bool) -> bool:
    """Whether all signals of the profile are there.

    ``proof-carrying`` needs no suite and ``docs-only`` the truth alone; an unknown profile is as strict as ``full``.
    """
    if profile == "docs-only":
        return truth_clean
    return gained and truth_clean and (suite_green or profile == "proof-carrying")


def rulings(keeps: Iterable[bool], k: int) -> list[tuple[str, int]]:
    """(decision, changes in a row not kept) for each change of one run, which goes on after a trip; k below 1 is 3."""
    threshold = k if k > 0 else 3
    found, nonkeeps = [], 0
    for kept in keeps:
        nonkeeps = 0 if kept else nonkeeps + 1
        found.append(("KEEP" if kept else "ESCALATE" if nonkeeps >= threshold else "REVERT", nonkeeps))
    return found


def run_lengths(keeps: Iterable[bool]) -> list[int]:
    """How long each run of changes that were not kept is, in order, the last one included though it may not be over."""
    lengths, nonkeeps = [], 0
    for kept in keeps:
        if kept and nonkeeps:
            lengths.append(nonkeeps)
        nonkeeps = 0 if kept else nonkeeps + 1
    return [*lengths, nonkeeps] if nonkeeps else lengths


def rate(bits: Sequence[bool]) -> float | None:
    """The mean of ``bits``; None of none."""
    return sum(bits) / len(bits) if bits else None
