"""Prompt tokens of web tasks: pages read one after the other, by several workers on the same task.

The arms are those of :mod:`kpis.formulas.session.prefill` with another rule: between two turns a context grows by the
action that was taken and the page that came of it, and arms b and c read both. How many turns a task takes is mostly
a guess by its difficulty, so where each guess came from is counted beside the sums. Texts are sized in UTF-8 bytes,
four a token; their characters would be fewer. No model, no clock. Units: tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from kpis.formulas.session.prefill import Prefill

__all__ = [
    "ACTION",
    "BASE",
    "PAGE",
    "TURNS",
    "DatasetSum",
    "Source",
    "Sized",
    "WebTask",
    "estimate",
    "prefill_of",
    "sized",
    "summed",
    "within",
]

BASE, UNTOLD = 3000, 400
"""Tokens of what stands before every task; and of a task that says nothing."""

ACTION, PAGE = 150, 2000
"""Tokens of an action, and of the page that comes of it."""

TURNS: Mapping[str, int] = MappingProxyType({"easy": 5, "medium": 12, "hard": 25, "expert": 45})
"""Assumed turns by difficulty."""

ASSUMED_TURNS = 15
_BYTES_A_TOKEN = 4


class Source(Enum):
    """Where a task's number of turns came from, the surest first."""

    TRAJECTORY = "trajectory"
    DIFFICULTY = "difficulty"
    ACTIONS = "actions"
    DEFAULT = "default"


class WebTask(NamedTuple):
    """One task. ``described`` and ``instructed`` are bytes of UTF-8; ``recorded`` and ``actions`` turns, or None."""

    id: str
    described: int
    instructed: int
    difficulty: str | None = None
    recorded: int | None = None
    actions: int | None = None


class Sized(NamedTuple):
    """A task's prefix and its turns, with where the turns came from."""

    prefix: int
    turns: int
    source: Source


class DatasetSum(NamedTuple):
    """Sums over all tasks. ``unknown`` are difficulties that no bucket has, which are otherwise lost in the default."""

    tasks: int
    tokens: Prefill
    turns: int
    least_turns: int
    median_turns: int
    most_turns: int
    told: int
    sources: Mapping[Source, int]
    unknown: Mapping[str, int]


def estimate(text: str) -> int:
    """Tokens of ``text``: a fourth of its bytes in UTF-8, rounded down."""
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN


def sized(task: WebTask, turns: Mapping[str, int] = TURNS) -> Sized:
    """The prefix and the turns of ``task``, by the buckets ``turns``."""
    said = _told(task)
    prefix = BASE + (said or UNTOLD)
    if task.recorded:
        return Sized(prefix, task.recorded, Source.TRAJECTORY)
    if task.difficulty is not None and task.difficulty in turns:
        return Sized(prefix, turns[task.difficulty], Source.DIFFICULTY)
    if task.actions:
        return Sized(prefix, task.actions, Source.ACTIONS)
    return Sized(prefix, ASSUMED_TURNS, Source.DEFAULT)


def prefill_of(prefix: int, turns: int, workers: int, action: int = ACTION, page: int = PAGE) -> Prefill:
    """Prompt tokens of each arm for one task that ``workers`` work on.

    Raises:
        ValueError: there is no turn or no worker, or tokens are below zero.
    """
    if min(turns, workers) < 1 or min(prefix, action, page) < 0:
        raise ValueError(f"{turns} turns of {workers} workers are no task: one of each, and no tokens below 0.")
    grown = (action + page) * (turns - 1)
    return Prefill(
        a=workers * (turns * prefix + (action + page) * turns * (turns - 1) // 2),
        b=workers * (prefix + grown),
        c=prefix + workers * grown,
    )


def summed(tasks: Iterable[WebTask], workers: int, turns: Mapping[str, int] = TURNS) -> DatasetSum:
    """The sums over ``tasks``, of which a ratio is then taken: a mean of ratios would be another number.

    Of tasks with one id the last counts, in the place of the first.

    Raises:
        ValueError: there is no task, or as :func:`prefill_of`.
    """
    each = {task.id: task for task in tasks}
    if not each:
        raise ValueError("A data set without a task has no sum: name a file with one task a line.")
    found = [sized(task, turns) for task in each.values()]
    arms = [prefill_of(one.prefix, one.turns, workers) for one in found]
    lengths = sorted(one.turns for one in found)
    strangers = (task.difficulty for task in each.values() if task.difficulty and task.difficulty not in turns)
    return DatasetSum(
        tasks=len(found),
        tokens=Prefill(*(sum(arm) for arm in zip(*arms, strict=True))),
        turns=sum(lengths),
        least_turns=lengths[0],
        median_turns=lengths[len(lengths) * 50 // 100],
        most_turns=lengths[-1],
        told=sum(_told(task) for task in each.values()),
        sources=Counter(one.source for one in found),
        unknown=Counter(strangers),
    )


def within(tasks: Iterable[WebTask], turns: Mapping[str, int] = TURNS) -> float | None:
    """What a over c comes to with ever more workers: there the prefix is free. None where no task has a second turn."""
    found = [sized(task, turns) for task in {task.id: task for task in tasks}.values()]
    grown = (ACTION + PAGE) * sum(one.turns - 1 for one in found)
    return sum(prefill_of(one.prefix, one.turns, 1).a for one in found) / grown if grown else None


def _told(task: WebTask) -> int:
    return task.described // _BYTES_A_TOKEN + task.instructed // _BYTES_A_TOKEN
