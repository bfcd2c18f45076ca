"""One gate in progress: every point tried on both sides, counts compared, the rest timed, suspects looked into.

Carries what the judge needs and asks it; decides nothing. Each answer that took time is in the journal before it is
used, so that an interrupted gate goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from harness.gating.foresight import foreseen
from harness.gating.ground import SEEDS, Ground, Seen
from harness.gating.growth import compare_growth, growth_of
from harness.gating.localise import legs_of_suspects
from harness.gating.options import GateOptions
from harness.gating.points import GatePoints
from harness.gating.rows import compare_counts, label, row_of, timed_row, unmeasured
from harness.gating.timed import TimedPoint, time_points
from harness.jobs.plan import PlannedPoint
from harness.judge.exact import invariant
from harness.judge.rule import Rule, delta_for
from harness.judge.sequence import PointJudge, settle
from harness.record.gate import GateRow
from harness.record.journal import Journal
from harness.subject.touched import compare as compare_touched
from kpis.terms.comparison import Comparison, State

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
    began: float
    on_step: Step
    probes: tuple[str, ...]
    foresight: list[str] = field(default_factory=list)
    floors: Mapping[str, float] = field(default_factory=dict)
    rule: Rule = field(default_factory=Rule)
    _seen: dict[str, dict[str, Seen]] = field(default_factory=dict)
    _kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def compare(self) -> tuple[list[GateRow], dict[str, Comparison]]:
        """Every row, and the comparison of every point by its label."""
        self._kept = {entry["did"]: entry["answer"] for entry in self.journal.entries() if "did" in entry}
        rows: list[GateRow] = []
        found: dict[str, Comparison] = {}
        to_time: list[TimedPoint] = []
        every = sorted((*self.points.counted, *self.points.timed), key=lambda each: each.kpi.origin == "catalog")
        for number, point in enumerate(every):
            self.on_step(f"trying {label(point)}", number / max(len(every), 1) * 0.1)
            settled = self._tried(point)
            if settled is None:
                inject = self.options.inject.get(label(point), self.options.inject.get(point.kpi.id, 1.0))
                rule = replace(self.rule, delta=delta_for(self.floors.get(label(point))))
                to_time.append(TimedPoint(point, PointJudge(point.kpi.direction, rule), inject))
                continue
            found[label(point)] = settled
            rows.append(row_of(point, settled, paths=self._paths(point)))
        for point in self.points.derived:
            found[label(point)] = self._derived(point)
            rows.append(row_of(point, found[label(point)]))
        if self.options.plan:
            self.foresight = foreseen(to_time, self.ground, self.options)
            for timed in to_time:
                timed.judge.stop("it was only planned")
        rows += self._timed(to_time, found)
        rows += self._growth(to_time, found)
        return rows, found

    def touched(self, side: str) -> dict[str, str]:
        """Everything that the slices of a side touch."""
        return {name: digest for seen in self._seen.values() for name, digest in sorted(seen[side].touched.items())}

    def _tried(self, point: PlannedPoint) -> Comparison | None:
        """Try the point on both sides; None where it is to be timed."""
        base = self.ground.discover(point, "base", limit=self.options.limit_s)
        head = self.ground.discover(point, "head", limit=self.options.limit_s)
        self._seen[point.key] = {"base": base, "head": head}
        if (gone := unmeasured(base.undefined, head.undefined)) is not None:
            return gone
        if unread := sorted({*self.ground.sides.unfiltered} & {*base.touched, *head.touched}):
            said = f"it reads {', '.join(unread)}, whose content filter is not run on the base"
            return Comparison(State.VOID, evidence=(said,))
        same = compare_touched(base.touched, head.touched, base.spawns or head.spawns)
        injected = {label(point), point.kpi.id} & self.options.inject.keys()
        if same.unchanged and not self.options.time_unchanged and not injected:
            said = f"{len(head.touched)} files are touched, the same on both sides"
            return Comparison(State.UNCHANGED, evidence=(said,))
        if point.kpi.estimand.timed:
            return None
        again = {
            side: self.ground.ask(point, side, "tally", seed=SEEDS[1], limit=self.options.limit_s)
            for side in ("base", "head")
        }
        if (gone := unmeasured(again["base"].undefined, again["head"].undefined)) is not None:
            return gone
        return compare_counts(
            point,
            [base.answer["tally"], again["base"].result["tally"]],
            [head.answer["tally"], again["head"].result["tally"]],
        )

    def _paths(self, point: PlannedPoint) -> tuple[str, ...]:
        """The touched files that differ, and the instrument's own that the head changed."""
        seen = self._seen.get(point.key)
        if seen is None:
            return ()
        same = compare_touched(seen["base"].touched, seen["head"].touched, spawns=False)
        mine = tuple(
            f"{name} (instrument: the head's on both sides)" for name in self.probes if name in seen["head"].touched
        )
        return (*same.changed, *same.added, *same.removed, *mine)

    def _derived(self, point: PlannedPoint) -> Comparison:
        """An invariant over two clocks: each side measures its inputs in two processes, and the formula says."""
        room, _, name = (point.kpi.formula or "").partition(":")
        formula = getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name)
        held: dict[str, list[float]] = {"base": [], "head": []}
        for side in ("base", "head"):
            for seed in SEEDS:
                values = []
                for wanted in point.kpi.inputs:
                    source = next(each for each in self.points.inputs if each.kpi.id == wanted)
                    more = {"values": 1, "warmups": 1}
                    loops = self.ground.ask(source, side, "calibrate", limit=self.options.limit_s, **more)
                    if loops.undefined is not None:
                        return Comparison(State.VOID, evidence=(f"on the {side}: {loops.undefined[1]}",))
                    more = {"values": 3, "warmups": 1, "loops": loops.result["loops"]}
                    answer = self.ground.ask(source, side, "measure", seed=seed, limit=self.options.limit_s, **more)
                    if answer.undefined is not None:
                        return Comparison(State.VOID, evidence=(f"on the {side}: {answer.undefined[1]}",))
                    values.append(answer.result["process_ns"])
                held[side].append(formula(*values))
        return invariant(held["base"], held["head"])

    def _timed(self, timed: list[TimedPoint], found: dict[str, Comparison]) -> list[GateRow]:
        deadline = None if self.options.budget_s is None else self.began + self.options.budget_s
        done = 0

        def step(point: TimedPoint, stage: Any) -> None:
            nonlocal done
            done += 1
            share = 0.1 + 0.9 * min(done / max(16 * len(timed), 1), 0.95)
            self.on_step(f"{stage.value} {label(point.point)}", share)

        time_points(
            timed,
            self.ground,
            seed=self.journal.header["seed"],
            limit=self.options.limit_s,
            deadline=deadline,
            keep=self._keep,
            on_step=step,
        )
        open_points = {point.point.key: point for point in timed if point.void is None}
        judged = settle({key: point.judge for key, point in open_points.items()}, self.rule)
        rows = []
        for point in timed:
            if point.void is not None:
                # Both sides ran when they were tried, so that even a base that fails now leaves nothing `new`.
                comparison = Comparison(State.VOID, evidence=(f"on the {point.void.side}: {point.void.detail}",))
                found[label(point.point)] = comparison
                rows.append(row_of(point.point, comparison, paths=self._paths(point.point)))
                continue
            comparison = judged[point.point.key]
            found[label(point.point)] = comparison
            functions, legs = legs_of_suspects(self.ground, point, comparison, self.options)
            more = {"functions": functions, "paths": self._paths(point.point)}
            rows.append(timed_row(point, comparison, **more))
            rows += legs
        return rows

    def _growth(self, timed: list[TimedPoint], found: dict[str, Comparison]) -> list[GateRow]:
        rows = []
        by_key = {each.point.key: each for each in timed}
        for row, lengths in growth_of(self.points.timed).values():
            if any(point.key in by_key for point in lengths):
                found[label(row)] = compare_growth(lengths, by_key)
                rows.append(row_of(row, found[label(row)]))
        return rows

    def _keep(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name not in self._kept:
            answer = measure()
            self.journal.append({"did": name, "answer": answer})
            self._kept[name] = answer
        return self._kept[name]
