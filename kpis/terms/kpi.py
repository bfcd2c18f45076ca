"""What a KPI is: a named quantity of a layer, the seam that it is read at, and the fence around its meaning.

A :class:`Kpi` is a declaration. It holds no reading, and its status here is a *target*: the true one follows from what
runs have emitted (``kpis.status``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from math import prod

from kpis.terms.quantity import Unit

__all__ = ["MOST_POINTS", "Direction", "Estimand", "Gate", "Kpi", "Layer", "Point", "Seam", "Status", "Takes"]

MOST_POINTS = 10_000
"""Parameter points that one KPI may have: at a second each they take a working morning, and a product of nine keys of
ten values would have a thousand million."""


class Layer(Enum):
    """The ladder, lowest first; ``stream`` cuts across."""

    SYSCALL = "syscall"
    TURN = "turn"
    STREAM = "stream"
    SESSION = "session"
    FLEET = "fleet"
    RSI = "rsi"


class Status(Enum):
    """What the default run shows of a KPI."""

    STANDING = "standing"
    MODELED = "modeled"
    GUARDED = "guarded"
    PROPOSED = "proposed"


class Direction(Enum):
    """Which way is better."""

    LOWER = "lower"
    HIGHER = "higher"
    NEUTRAL = "neutral"


class Estimand(Enum):
    """What a number is an estimate of. A timed one is sampled by processes: each contributes a single value."""

    CALL_MEAN = "call-mean"
    CALL_P50 = "call-p50"
    CALL_P99 = "call-p99"
    COUNT = "count"
    RATE = "rate"
    INVARIANT = "invariant"
    HISTOGRAM = "histogram"

    @property
    def timed(self) -> bool:
        """Whether a clock reads it."""
        return self in (Estimand.CALL_MEAN, Estimand.CALL_P50, Estimand.CALL_P99)


class Gate(Enum):
    """How a KPI gates."""

    EXACT = "exact"
    INSTRUCTIONS = "instructions"
    TIMED = "timed"
    INVARIANT = "invariant"
    REPORT = "report"


class Takes(Enum):
    """The kind of workload that a probe replays; ``none`` builds its own input."""

    NONE = "none"
    CALLS = "calls"
    SESSION = "session"


Point = dict[str, str]
"""One parameter point: a value for every key."""


@dataclass(frozen=True, slots=True)
class Seam:
    """A place in a runtime, by name, at which KPIs are read.

    ``frozen_sync``: an asynchronous interface over a blocking implementation, so that a slice has to name
    what stood in for the engine. ``off_live``: why no live turn passes it; its KPIs are ``guarded`` at best.
    """

    name: str
    title: str
    frozen_sync: bool = False
    off_live: str | None = None


@dataclass(frozen=True, slots=True)
class Kpi:
    """One row of the catalog.

    ``params`` maps a key to its values, and their product is the set of points; ``gate_point`` is the one point at
    which a timed KPI gates, and an exact one that is marked ``gate_alone``: its other points say what is no better for
    being more. ``sweep`` holds keys that are varied besides, each at ``sweep_at`` alone
    (empty: the gate point). ``inputs`` with ``formula`` make a derived row: it is computed from other readings.
    ``shares`` names the KPI whose stamped calls this one is read from. ``reasons`` are the histogram keys that may
    appear (empty: open). ``knobs`` are the parameters of a cost model with their defaults.
    """

    id: str
    layer: Layer
    seam: str
    question: str
    fence: str
    unit: Unit
    direction: Direction
    estimand: Estimand
    gate: Gate
    target_status: Status
    params: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gate_point: Point = field(default_factory=dict)
    gate_alone: bool = False
    sweep: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sweep_at: Point = field(default_factory=dict)
    replay_params: Point = field(default_factory=dict)
    takes: Takes = Takes.NONE
    default_workload: bool = True
    formula: str | None = None
    inputs: tuple[str, ...] = ()
    shares: str | None = None
    reasons: tuple[str, ...] = ()
    knobs: dict[str, float] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    critical: bool = False
    symbol: str | None = None
    note: str | None = None
    probe: str | None = None
    origin: str = "catalog"

    @property
    def timed(self) -> bool:
        """Whether a clock reads it: a model in ns is an amount of time that nobody waited for."""
        return self.estimand.timed and not self.knobs

    @property
    def derived(self) -> bool:
        """Whether the row is computed from other readings instead of being opened by a probe."""
        return bool(self.inputs) or self.shares is not None

    @property
    def point_count(self) -> int:
        """How many points there are, counted and not built."""
        swept = sum(len(values) for values in self.sweep.values())
        return prod(len(values) for values in self.params.values()) + swept

    def points(self) -> list[Point]:
        """Every parameter point, in the order in which the catalog lists keys and values; swept ones last."""
        keys = list(self.params)
        return [dict(zip(keys, values, strict=True)) for values in product(*self.params.values())] + self.swept()

    def swept(self) -> list[Point]:
        """The points that vary one key of ``sweep``, and hold the others."""
        at = self.sweep_at or self.gate_point
        return [{**at, key: value} for key, values in self.sweep.items() for value in values]
