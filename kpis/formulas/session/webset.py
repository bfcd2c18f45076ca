"""Prompt tokens of a whole data set of web tasks by its five sums, for as many workers as are asked for.

The rule is that of :mod:`kpis.formulas.session.webtask`, added up: each arm is linear in sums that no number of workers
changes, so that a set is told by them and its tasks are not needed. A ratio is of the arms' sums. Turns are assumed by
difficulty; nothing was served, no model and no clock. Units: tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kpis.formulas.session.prefill import Prefill
from kpis.formulas.session.webtask import ACTION, PAGE, WebTask, sized

__all__ = ["WEB_TASKS", "WORKERS", "Sums", "sums_of", "tokens_of", "with_ever_more"]


class Sums(NamedTuple):
    """Over the tasks of a set: how many, their turns, their prefixes, and what a stateless server reads again.

    ``pairs`` adds up turns times one less, halved: how often what a turn brings is read; ``prefix_again`` adds up each
    prefix times the turns of its task.
    """

    tasks: int
    turns: int
    pairs: int
    prefix: int
    prefix_again: int


WEB_TASKS = Sums(tasks=643, turns=8_745, pairs=67_050, prefix=1_967_504, prefix_again=26_772_792)
"""A known set of tasks on web pages: 87 easy, 430 medium and 126 hard ones, a task's text of some 60 tokens."""

WORKERS = (1, 2, 4, 128)
"""How many work on each task, where the sums are told."""


def sums_of(tasks: Iterable[WebTask]) -> Sums:
    """The sums over ``tasks``; of those with one id the last counts."""
    found = [sized(task) for task in {task.id: task for task in tasks}.values()]
    return Sums(
        tasks=len(found),
        turns=sum(one.turns for one in found),
        pairs=sum(one.turns * (one.turns - 1) // 2 for one in found),
        prefix=sum(one.prefix for one in found),
        prefix_again=sum(one.prefix * one.turns for one in found),
    )


def tokens_of(sums: Sums, workers: int) -> Prefill:
    """Prompt tokens of each arm for ``workers`` on every task.

    Raises:
        ValueError: there is no worker or no task.
    """
    if min(workers, sums.tasks) < 1:
        raise ValueError(f"{workers} workers on {sums.tasks} tasks serve nothing: it takes one of each.")
    grown = (ACTION + PAGE) * (sums.turns - sums.tasks)
    return Prefill(
        a=workers * (sums.prefix_again + (ACTION + PAGE) * sums.pairs),
        b=workers * (sums.prefix + grown),
        c=sums.prefix + workers * grown,
    )


def with_ever_more(sums: Sums) -> float | None:
    """What a over c comes to with ever more workers: there the prefix is free. None where no task has a second turn."""
    grown = (ACTION + PAGE) * (sums.turns - sums.tasks)
    return (sums.prefix_again + (ACTION + PAGE) * sums.pairs) / grown if grown else None
