"""One gate in progress: every point tried on both sides, counts compared, the rest timed, suspects looked into.

Carries what the judge needs and asks it; decides nothing. Counts come first and are not cut off by a budget. Pairs and
the loops that they run are in the journal before they are used, so that an interrupted gate goes on where it stopped;
what was tried and counted takes little, and is tried and counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.gating.deadline import NEVER, Deadline
from harness.gating.derived import compare_derived
from harness.gating.foresight import foreseen, untimed
from harness.gating.ground import Ground
from harness.gating.growth import compare_growth, growth_of
from harness.gating.kept import kept_holds
from harness.gating.localise import judged_by_instructions, legs_of_suspects
from harness.gating.options import GateOptions
from harness.gating.points import GatePoints
from harness.gating.rows import label, out_of_budget, row_of, timed_row
from harness.gating.timed import TimedPoint, time_points
from harness.gating.tried import Trials
from harness.jobs.plan import PlannedPoint
from harness.judge.rule import Rule, delta_for
from harness.judge.sequence import PointJudge, settle
from harness.record.gate import GateRow
from harness.record.journal import Journal
from kpis.terms.claim import Coverage
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Gate, Kpi

__all__ = ["Step", "Work"]

Step = Callable[[str, float], None]
"""(what is done now, share of the whole)."""


@dataclass(slots=True)
class Work:
    """One gate in progress."""

    ground: Ground
    points: GatePoints
    options: GateOptions
    journal: Journal
    on_step: Step
    trials: Trials
    deadline: Deadline = NEVER
    foresight: list[str] = field(default_factory=list)
    injected: dict[str, float] = field(default_factory=dict)
    """What was injected, by the names that were given; of a point that got no pair, nothing was."""
    floors: Mapping[str, float] = field(default_factory=dict)
    rule: Rule = field(default_factory=Rule)
    kpis: dict[str, Kpi] = field(default_factory=dict)
    """The KPI of every comparison, by the comparison's label."""
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What both sides gave at each point that was compared, by its label (:mod:`harness.record.gate_samples`)."""
    coverage: dict[str, Coverage] = field(default_factory=dict)
    """Of each timed point the pairs that were wanted and seen, by its label."""
    _kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def compare(self) -> tuple[list[GateRow], dict[str, Comparison]]:
        """Every row, and the comparison of every point by its label."""
        self._kept = {
            entry["did"]: entry["answer"]
            for entry in self.journal.entries()
            if isinstance(entry.get("did"), str) and kept_holds(entry["did"], entry.get("answer"))
        }
        self.kpis = {label(point): point.kpi for point in self.points.all}
        rows: list[GateRow] = []
        found: dict[str, Comparison] = {}
        left: list[PlannedPoint] = []
        clocked = sorted((*self.points.timed, *self.points.instructed), key=lambda each: each.kpi.origin == "catalog")
        every = (*self.points.counted, *self.points.derived, *clocked)
        for number, point in enumerate(every):
            self.on_step(f"trying {label(point)}", number / len(every) * 0.1)
            settled = self._derived(point) if point.kpi.derived else self._tried(point)
            if settled is None:
                left.append(point)
                continue
            found[label(point)] = settled
            rows.append(row_of(point, settled, paths=self.trials.paths(point)))
        to_time = [self._begun(point) for point in left if point.kpi.gate is not Gate.INSTRUCTIONS]
        if self.options.plan:
            clocks = {label(point) for point in self.points.timed}
            self.foresight = untimed({name: end for name, end in found.items() if name in clocks})
            self.foresight += foreseen(to_time, self.ground, self.options, self.deadline)
            planned = Comparison(State.INCONCLUSIVE, evidence=("it was only planned",))
            return rows + [row_of(point, planned) for point in left], found | {label(each): planned for each in left}
        for point in left:
            if point.kpi.gate is Gate.INSTRUCTIONS:
                rows += self._instructed(point, found)
        rows += self._timed(to_time, found)
        self.samples |= self.trials.samples
        rows += self._growth(to_time, found)
        return rows, found

    def _begun(self, point: PlannedPoint) -> TimedPoint:
        name = self._injects(point)
        rule = replace(self.rule, delta=delta_for(self.floors.get(label(point))))
        inject = 1.0 if name is None else self.options.inject[name]
        return TimedPoint(point, PointJudge(point.kpi.direction, rule), inject)

    def _injects(self, point: PlannedPoint) -> str | None:
        """The name under which something is to be injected into this point: its own before that of its KPI."""
        timed = point.kpi.gate is not Gate.INSTRUCTIONS
        names = (label(point), point.kpi.id) if timed else ()
        return next((name for name in names if name in self.options.inject), None)

    def _tried(self, point: PlannedPoint) -> Comparison | None:
        return self.trials.of(point, injected=self._injects(point) is not None)

    def _derived(self, point: PlannedPoint) -> Comparison:
        return compare_derived(point, self.points, self.ground, limit=self.options.limit_s)

    def _instructed(self, point: PlannedPoint, found: dict[str, Comparison]) -> list[GateRow]:
        """Count the instructions of a point that gates by them; begun before the budget ends, and never cut off."""
        name = label(point)
        if self.deadline.over():
            found[name] = out_of_budget("the budget ended before its instructions were counted")
            return [row_of(point, found[name], paths=self.trials.paths(point))]
        self.on_step(f"counting the instructions of {name}", 0.1)
        found[name], rows = judged_by_instructions(self.ground, point, self.options, paths=self.trials.paths(point))
        return rows

    def _timed(self, timed: list[TimedPoint], found: dict[str, Comparison]) -> list[GateRow]:
        done = 0

        def step(point: TimedPoint, stage: Any) -> None:
            nonlocal done
            done += 1
            share = 0.1 + 0.9 * min(done / max(self.rule.screen_pairs * len(timed), 1), 0.95)
            self.on_step(f"{stage.value} {label(point.point)}", share)

        time_points(
            timed,
            self.ground,
            seed=self.journal.header["seed"],
            limit=self.options.limit_s,
            deadline=self.deadline,
            keep=self._keep,
            on_step=step,
        )
        for point in timed:
            self._sampled(point)
            if point.injected and (name := self._injects(point.point)) is not None:
                self.injected[name] = point.inject
        open_points = {point.point.key: point for point in timed if point.void is None}
        judged = settle({key: point.judge for key, point in open_points.items()}, self.rule)
        rows = []
        for point in timed:
            if point.void is not None:
                # Both sides ran when they were tried, so that even a base that fails now leaves nothing `new`.
                comparison = Comparison(State.VOID, evidence=(f"on the {point.void.side}: {point.void.detail}",))
                found[label(point.point)] = comparison
                rows.append(row_of(point.point, comparison, paths=self.trials.paths(point.point)))
                continue
            comparison = _with_leftover(judged[point.point.key], point.left)
            found[label(point.point)] = comparison
            functions, legs = legs_of_suspects(self.ground, point, comparison, self.options)
            more = {"functions": functions, "paths": self.trials.paths(point.point)}
            rows.append(timed_row(point, comparison, **more))
            rows += legs
        return rows

    def _sampled(self, timed: TimedPoint) -> None:
        name = label(timed.point)
        self.coverage[name] = Coverage(timed.judge.asked, len(timed.pairs))
        if timed.load is not None and timed.pairs:
            facts = {"loops": timed.load.loops, "injected": timed.load.inject}
            self.samples[name] = {"pairs": timed.pairs, "cpu": timed.cpu, **facts}

    def _growth(self, timed: list[TimedPoint], found: dict[str, Comparison]) -> list[GateRow]:
        rows = []
        by_key = {each.point.key: each for each in timed}
        for row, lengths in growth_of(self.points.timed).values():
            if any(point.key in by_key for point in lengths):
                found[label(row)] = compare_growth(lengths, by_key, found)
                self.kpis[label(row)] = row.kpi
                rows.append(row_of(row, found[label(row)]))
        return rows

    def _keep(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name not in self._kept:
            answer = measure()
            self.journal.append({"did": name, "answer": answer})
            self._kept[name] = answer
        return self._kept[name]


def _with_leftover(found: Comparison, left: int) -> Comparison:
    """The comparison with a warning where its pairs left processes behind: they ran beside what was measured."""
    if not left:
        return found
    some = "A process" if left == 1 else f"{left} processes"
    said = f"{some} that the code under test had started outlived the workers of its pairs and had to be ended."
    return replace(found, warnings=(*found.warnings, ComparisonNotice(ComparisonWarn.LEFTOVER, said)))
