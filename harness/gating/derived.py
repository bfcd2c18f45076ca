"""An invariant over two clocks: each side measures its inputs in two processes, and the formula says whether it holds.

What a side cannot measure is told from what does not hold, side by side, as for any other point. Refuses to take an
input from elsewhere than its gate point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from harness.gating.ground import SEEDS, Ground
from harness.gating.points import GatePoints
from harness.gating.rows import label, unmeasured
from harness.jobs.plan import PlannedPoint
from harness.judge.exact import invariant
from harness.measure.schedule import Side
from kpis.terms.comparison import Comparison, State

__all__ = ["compare_derived"]


class _Undefined(Exception):  # noqa: N818 - an input without a number is an answer of its side
    """(reason, one sentence that names the input)."""


def compare_derived(point: PlannedPoint, points: GatePoints, ground: Ground, *, limit: float) -> Comparison:
    """Whether the invariant of ``point`` holds on the head; each worker has ``limit`` seconds."""
    inputs = []
    for name in point.kpi.inputs:
        source = points.input_of(point, name)
        if source is None:
            said = f"its input {name} is not measured at the gate point; look with: python -m harness explain {name}"
            return Comparison(State.VOID, evidence=(said,))
        inputs.append(source)
    room, _, name = (point.kpi.formula or "").partition(":")
    formula = getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name)
    held: dict[Side, list[float]] = {}
    gone: dict[Side, tuple[str, str]] = {}
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        try:
            held[side] = _held(formula, inputs, side, ground, limit)
        except _Undefined as why:
            gone[side] = why.args[0], why.args[1]
    found = unmeasured(gone.get("base"), gone.get("head"))
    return found if found is not None else invariant(held["base"], held["head"])


def _held(
    formula: Callable[..., float], inputs: Sequence[PlannedPoint], side: Side, ground: Ground, limit: float
) -> list[float]:
    """What the formula says on ``side``, once a seed."""
    found = []
    for seed in SEEDS:
        values = []
        for source in inputs:
            loops = _asked(ground, source, side, "calibrate", limit=limit, values=1, warmups=1)["loops"]
            more = {"seed": seed, "limit": limit, "values": 3, "warmups": 1, "loops": loops}
            values.append(_asked(ground, source, side, "measure", **more)["process_ns"])
        found.append(formula(*values))
    return found


def _asked(ground: Ground, source: PlannedPoint, side: Side, task: str, **more: Any) -> dict[str, Any]:
    answer = ground.ask(source, side, task, **more)
    if answer.undefined is not None:
        raise _Undefined(answer.undefined[0], f"{label(source)}: {answer.undefined[1]}")
    return answer.result
