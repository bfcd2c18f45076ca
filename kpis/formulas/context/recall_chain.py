"""Whether a run asked for what it had folded away, and whether that helped; and where the chain broke for one fact.

Not asking is a trigger failure, asking and still being wrong a retrieval failure: the two rates never merge. They speak
of runs that *need* recall, whose answer is nowhere on the active surface; a recall in another run is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from kpis.formulas.context.values import Ratio, ratio

__all__ = [
    "FactTrace",
    "Link",
    "RecallRun",
    "broken_link",
    "gratuitous_recalls",
    "headline",
    "success_given_trigger",
    "trigger_rate",
]


@dataclass(frozen=True, slots=True)
class RecallRun:
    """One run. ``appropriate``: it recalled, and what it needed; ``success``: its answer was right in the end."""

    required: bool
    recalled: bool
    appropriate: bool
    success: bool


def trigger_rate(runs: Iterable[RecallRun]) -> Ratio:
    """RTR: runs with an appropriate recall, of those that need one."""
    required = [run for run in runs if run.required]
    return ratio(sum(run.recalled and run.appropriate for run in required), len(required), "no run requires recall")


def success_given_trigger(runs: Iterable[RecallRun]) -> Ratio:
    """RSGT: runs that came out right, of those that need recall and tried it."""
    triggered = [run for run in runs if run.required and run.recalled]
    return ratio(sum(run.success for run in triggered), len(triggered), "no run that requires recall tried it")


def gratuitous_recalls(runs: Iterable[RecallRun]) -> int:
    """Runs that recalled without need."""
    return sum(run.recalled and not run.required for run in runs)


class Link(Enum):
    """Where the chain from deciding to search to using what came back first broke, worst first."""

    RECALL_MISS = "recall-miss"
    NO_SEARCH = "no-search"
    SEARCH_MISS = "search-miss"
    SEARCH_HIT_NO_RECALL = "search-hit-no-recall"
    RETURNED_BUT_MISSED = "recall-returned-fact-but-answer-missed"
    PASS = "pass"


@dataclass(frozen=True, slots=True)
class FactTrace:
    """What was observed of one fact: the answer has it, a search ran and returned it, a recall ran and returned it."""

    answered: bool
    searched: bool
    search_returned: bool
    recalled: bool
    recall_returned: bool


def broken_link(fact: FactTrace) -> Link:
    """The first link that broke, checked in the order of the chain."""
    if fact.answered:
        return Link.PASS
    if not fact.searched and not fact.recalled:
        return Link.NO_SEARCH
    if not fact.search_returned and not fact.recall_returned:
        return Link.RECALL_MISS if fact.recalled else Link.SEARCH_MISS
    return Link.RETURNED_BUT_MISSED if fact.recalled else Link.SEARCH_HIT_NO_RECALL


def headline(links: Iterable[Link]) -> Link | None:
    """The worst link over the facts of a run; None where there is no fact."""
    order = list(Link)
    return min(links, key=order.index, default=None)
