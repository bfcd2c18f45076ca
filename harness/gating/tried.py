"""What a gate sees when it tries each point once on both sides: what it touches, whether it runs, what it counts.

A point whose files are the same on both sides is unchanged and costs nothing more; a count is settled here, after a
second one of each side. Refuses to call a point unchanged whose files nobody has seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.gating.ground import SEEDS, Ground, Seen
from harness.gating.options import GateOptions
from harness.gating.rows import compare_counts, label, unmeasured
from harness.jobs.plan import PlannedPoint
from harness.measure.answer import Answer
from harness.measure.schedule import Side
from harness.subject.touched import compare as compare_touched
from kpis.terms.comparison import Comparison, State

__all__ = ["Trials"]


@dataclass(slots=True)
class Trials:
    """The trials of one gate. ``probes`` are the instrument's files that the head changed."""

    ground: Ground
    options: GateOptions
    probes: tuple[str, ...]
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What both sides gave, by the label of a point that was counted or is unchanged."""
    _seen: dict[str, dict[Side, Seen]] = field(default_factory=dict)

    def of(self, point: PlannedPoint, *, injected: bool) -> Comparison | None:
        """Try the point on both sides; None where it is left to a clock or to a counter of instructions."""
        base = self.ground.discover(point, "base", limit=self.options.limit_s)
        head = self.ground.discover(point, "head", limit=self.options.limit_s)
        self._seen[point.key] = {"base": base, "head": head}
        if (gone := unmeasured(base.undefined, head.undefined)) is not None:
            return gone
        if unread := sorted({*self.ground.sides.unfiltered} & {*base.touched, *head.touched}):
            said = f"it reads {', '.join(unread)}, whose content filter is not run on the base"
            return Comparison(State.VOID, evidence=(said,))
        same = compare_touched(base.touched, head.touched, base.spawns or head.spawns)
        if same.unchanged and not self.options.time_unchanged and not injected:
            same_files = {"base": _digest(base.touched), "head": _digest(head.touched), "files": len(head.touched)}
            self.samples[label(point)] = {"touched": same_files}
            said = f"{len(head.touched)} files are touched, the same on both sides"
            return Comparison(State.UNCHANGED, evidence=(said,))
        if point.kpi.estimand.timed:
            return None
        old, new = self._again(point, "base"), self._again(point, "head")
        if (gone := unmeasured(old.undefined, new.undefined)) is not None:
            return gone
        tallies = {
            "base": [base.answer["tally"], old.result["tally"]],
            "head": [head.answer["tally"], new.result["tally"]],
        }
        self.samples[label(point)] = {"tallies": tallies}
        return compare_counts(point, tallies["base"], tallies["head"])

    def _again(self, point: PlannedPoint, side: Side) -> Answer:
        return self.ground.ask(point, side, "tally", seed=SEEDS[1], limit=self.options.limit_s)

    def paths(self, point: PlannedPoint) -> tuple[str, ...]:
        """The touched files that differ, and the instrument's own that the head changed."""
        seen = self._seen.get(point.key)
        if seen is None:
            return ()
        same = compare_touched(seen["base"].touched, seen["head"].touched, spawns=False)
        mine = tuple(
            f"{name} (instrument: the head's on both sides)" for name in self.probes if name in seen["head"].touched
        )
        return (*same.changed, *same.added, *same.removed, *mine)

    def touched(self, side: Side) -> dict[str, str]:
        """Everything that the slices of a side touch."""
        return {name: digest for seen in self._seen.values() for name, digest in sorted(seen[side].touched.items())}


def _digest(touched: Mapping[str, str]) -> str:
    """One sha256 over the names and digests of all files of a side that a point touches."""
    return hashlib.sha256(json.dumps(sorted(touched.items())).encode()).hexdigest()
