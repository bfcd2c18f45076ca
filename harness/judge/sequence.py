"""One point on its way through the stages: screen, extension, confirmation, and the settlement of the whole run.

A :class:`PointJudge` says how many pairs it wants next and is fed as they come, so that a gate can drive many points
and stop any of them. It refuses to confirm on pairs that it has screened, to drop a pair, and to end a suspect before
Holm's level is known: :func:`settle` gives it, over all suspects of the run.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from harness.judge.confirm import as_ratios, confirm, holm_level, p_value
from harness.judge.interference import diagnose
from harness.judge.power import smallest_visible, spread_of
from harness.judge.rule import Rule
from harness.judge.screen import Screening, ScreenResult, Side, screen
from harness.judge.signed_rank import hodges_lehmann, lower_bound, upper_bound
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction

__all__ = ["PointJudge", "Stage", "Want", "judge_stream", "log_ratios", "settle"]

Pair = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)


class Stage(Enum):
    """Where a point is. A suspect waits in ``SETTLE`` until the family is complete."""

    SCREEN = "screen"
    EXTENSION = "extension"
    CONFIRM = "confirm"
    SETTLE = "settle"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Want:
    """What a point asks for next: ``pairs`` more for ``stage``; none in the last two stages."""

    stage: Stage
    pairs: int


def log_ratios(pairs: Sequence[Pair], direction: Direction) -> list[float]:
    """ln(head / base) of each pair, turned so that positive is worse.

    Raises:
        ValueError: a value is not a positive finite number, or the direction is neutral.
    """
    if direction is Direction.NEUTRAL:
        raise ValueError("A timed KPI needs a direction; a neutral one is compared exactly.")
    sign = 1.0 if direction is Direction.LOWER else -1.0
    ratios = []
    for base, head in pairs:
        if not (math.isfinite(base) and math.isfinite(head) and base > 0 and head > 0):
            raise ValueError(f"A pair holds two positive finite numbers, not {base!r} and {head!r}.")
        ratios.append(sign * (math.log(head) - math.log(base)))
    return ratios


class PointJudge:
    """The state of one point. Feed it what it :meth:`wants`; read :attr:`comparison` when it is done.

    Raises:
        ValueError: the direction is neutral.
    """

    __slots__ = ("_direction", "_pairs", "_ratios", "_rule", "_screened", "_stage", "asked", "comparison")

    def __init__(self, direction: Direction, rule: Rule | None = None) -> None:
        log_ratios((), direction)
        self._direction = direction
        self._rule = rule or Rule()
        self._stage = Stage.SCREEN
        self._pairs: dict[Stage, list[Pair]] = {Stage.SCREEN: [], Stage.EXTENSION: [], Stage.CONFIRM: []}
        self._ratios: dict[Stage, list[float]] = {Stage.SCREEN: [], Stage.EXTENSION: [], Stage.CONFIRM: []}
        self._screened: ScreenResult | None = None
        self.asked = self._size(Stage.SCREEN)
        """The pairs that its stages wanted so far, whether it got them or was stopped before."""
        self.comparison: Comparison | None = None

    @property
    def stage(self) -> Stage:
        """Where the point is."""
        return self._stage

    @property
    def rule(self) -> Rule:
        """The rule that this point is held to; its margin is the point's own."""
        return self._rule

    @property
    def suspected(self) -> Side | None:
        """Which way the screen suspects it to have moved; None before, or if it does not."""
        return self._screened.side if self._screened else None

    @property
    def p(self) -> float:
        """What the point brings into its family: the confirmation's p-value; 1 while that is not complete."""
        if self.suspected is None or self._missing(Stage.CONFIRM):
            return 1.0
        return p_value(self._ratios[Stage.CONFIRM], self.suspected, self._rule)

    def _size(self, stage: Stage) -> int:
        rule = self._rule
        sizes = {Stage.SCREEN: rule.screen_pairs, Stage.EXTENSION: rule.extend_pairs, Stage.CONFIRM: rule.confirm_pairs}
        return sizes[stage]

    def _missing(self, stage: Stage) -> int:
        return self._size(stage) - len(self._ratios[stage])

    def wants(self) -> Want:
        """The stage and how many pairs it still lacks; 0 when the point waits or is done."""
        return Want(self._stage, self._missing(self._stage) if self._stage in self._ratios else 0)

    def feed(self, pairs: Sequence[Pair]) -> None:
        """Take ``pairs`` of (base, head), all for the current stage, in one piece or one by one.

        Raises:
            ValueError: more pairs than wanted, or a value that is not a positive finite number.
        """
        stage = self._stage
        if len(pairs) > self.wants().pairs:
            raise ValueError(f"{len(pairs)} pairs were fed where {stage.value} wants {self.wants().pairs}.")
        self._ratios[stage] += log_ratios(pairs, self._direction)
        self._pairs[stage] += pairs
        if pairs and not self._missing(stage):
            self._close(stage)

    def _close(self, stage: Stage) -> None:
        if stage is Stage.CONFIRM:
            self._stage = Stage.SETTLE
            return
        self._screened = screen(self._ratios[stage], self._rule)
        match self._screened.says:
            case Screening.SUSPECT:
                self._go_on(Stage.CONFIRM)
            case Screening.OK:
                self._finish(State.OK, f"{stage.value} on {self._screened.pairs} pairs: not suspected, 5 % excluded")
            case Screening.OPEN if stage is Stage.SCREEN:
                self._go_on(Stage.EXTENSION)
            case Screening.OPEN:
                self._finish(State.INCONCLUSIVE, f"still open after {self._screened.pairs} fresh pairs")

    def _go_on(self, stage: Stage) -> None:
        self._stage = stage
        self.asked += self._size(stage)

    def stop(self, why: str) -> None:
        """End the point where it is, as ``inconclusive``; a suspect stays in its family with p = 1.

        A point whose pairs are complete is left as it is: it waits for nothing but the family's level.
        """
        if self.comparison is None and self._stage is not Stage.SETTLE:
            self._finish(State.INCONCLUSIVE, why, ComparisonNotice(ComparisonWarn.BUDGET, why))

    def settle(self, level: float) -> None:
        """Close a confirmed suspect at its family's level.

        Raises:
            ValueError: the point is not waiting for it.
        """
        if self._stage is not Stage.SETTLE or self.suspected is None:
            raise ValueError(f"A point in stage {self._stage.value} cannot be settled.")
        upwards = self._direction is Direction.HIGHER
        fresh = self._ratios[Stage.CONFIRM]
        found = confirm(fresh, self._rule, level, self.suspected, higher_is_better=upwards)
        self._end(found, self._screen_stage(), (*self._suspicion(), *found.evidence))

    def _screen_stage(self) -> tuple[int, float]:
        """The pairs and the level of the screen that decided, or would have."""
        used = Stage.EXTENSION if self._ratios[Stage.EXTENSION] else Stage.SCREEN
        return self._size(used), self._rule.screen_alpha

    def _suspicion(self) -> tuple[str, ...]:
        if self._screened is None or self._screened.side is None:
            return ()
        return (f"screen on {self._screened.pairs} pairs: suspected {self._screened.side.value}",)

    def _finish(self, state: State, said: str, *notices: ComparisonNotice) -> None:
        """End without a confirmation: bounds from the last complete stage, or from what there is of the first."""
        upwards = self._direction is Direction.HIGHER
        complete = [ratios for stage, ratios in self._ratios.items() if ratios and not self._missing(stage)]
        last = complete[-1] if complete else self._ratios[Stage.SCREEN]
        numbers: tuple[float | None, float | None, float | None] = (None, None, None)
        if last:
            miss = self._rule.miss
            centre, low, high = hodges_lehmann(last), lower_bound(last, miss), upper_bound(last, miss)
            numbers = as_ratios(centre, low, high, higher_is_better=upwards)
        found = Comparison(state, *numbers, alpha=self._rule.screen_alpha if complete else None, warnings=notices)
        self._end(found, self._screen_stage(), (*self._suspicion(), said))

    def _end(self, found: Comparison, screened: tuple[int, float], evidence: tuple[str, ...]) -> None:
        rule = self._rule
        pairs = [pair for stage in self._pairs.values() for pair in stage]
        ratios = [ratio for stage in self._ratios.values() for ratio in stage]
        level = found.alpha if self._stage is Stage.SETTLE and found.alpha is not None else rule.family_alpha
        visible = None
        notices = [*found.warnings, *diagnose(pairs, ratios)]
        spread = spread_of(ratios, rule.miss)
        if not self._missing(Stage.SCREEN) and spread is not None:
            visible = smallest_visible(spread, (screened, (rule.confirm_pairs, level)), rule.margin)
        elif self._missing(Stage.SCREEN):
            said = f"{len(ratios)} pairs are fewer than the {rule.screen_pairs} of a screen: nothing can be told."
            notices.append(ComparisonNotice(ComparisonWarn.TOO_FEW, said))
        if visible is not None and spread is not None and visible > math.expm1(rule.equivalence):
            hides = f"a change under {100 * visible:.1f} % hides"
            if rule.margin >= rule.equivalence:  # even pairs without any spread would not show it
                said = f"The margin of this point is {100 * rule.delta:.1f} %: {hides}."
                notices.append(ComparisonNotice(ComparisonWarn.MARGIN, said))
            else:
                said = f"The pairs spread by {100 * spread:.1f} %: {hides}."
                notices.append(ComparisonNotice(ComparisonWarn.SPREAD, said))
        self._stage = Stage.DONE
        self.comparison = replace(
            found, pairs=len(ratios), smallest_visible=visible, evidence=evidence, warnings=tuple(notices)
        )


def settle(judges: Mapping[Key, PointJudge], rule: Rule) -> dict[Key, Comparison]:
    """Close a run: one Holm family of the suspected regressions, one of the suspected improvements.

    Points that were stopped as suspects stay in their family with p = 1. A point that still wants pairs is stopped.
    """
    for judge in judges.values():
        judge.stop("the run ended before this point was decided")
    for side in Side:
        family = {key: judge.p for key, judge in judges.items() if judge.suspected is side}
        level = holm_level(family, rule.family_alpha)
        for key in family:
            if judges[key].stage is Stage.SETTLE:
                judges[key].settle(level)
    return {key: judge.comparison for key, judge in judges.items() if judge.comparison is not None}


def judge_stream(pairs: Sequence[Pair], direction: Direction, rule: Rule | None = None) -> Comparison:
    """Judge one recorded stream: first the pairs of the screen, then those of the extension, then the confirmation.

    The places are fixed, whether or not the extension is used: a suspect is confirmed on the third part only. Too few
    pairs for what is wanted end in ``inconclusive``; pairs behind the third part are not used, and a warning says so.

    Raises:
        ValueError: a value is not a positive finite number, or the direction is neutral.
    """
    rule = rule or Rule()
    log_ratios(pairs, direction)
    judge = PointJudge(direction, rule)
    ends = (rule.screen_pairs, rule.screen_pairs + rule.extend_pairs)
    whole = ends[1] + rule.confirm_pairs
    parts = {
        Stage.SCREEN: pairs[: ends[0]],
        Stage.EXTENSION: pairs[ends[0] : ends[1]],
        Stage.CONFIRM: pairs[ends[1] : whole],
    }
    while (want := judge.wants()).pairs:
        if len(parts[want.stage]) < want.pairs:
            judge.feed(parts[want.stage])
            judge.stop(f"{want.stage.value} wants {want.pairs} pairs and the stream has {len(parts[want.stage])}")
        else:
            judge.feed(parts[want.stage])
    found = settle({0: judge}, rule)[0]
    if len(pairs) > whole:
        said = f"{len(pairs) - whole} pairs behind the first {whole} were not used."
        found = replace(found, warnings=(*found.warnings, ComparisonNotice(ComparisonWarn.UNUSED, said)))
    return found
