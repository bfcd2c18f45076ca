"""What a KPI is: one named quantity on one layer, with the seam it reads and the fence that keeps it honest.

A :class:`Kpi` is a declaration. It holds no reading, and its status here is a *target*: the true status is derived
from what the newest complete run emitted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import product

from kpis.terms.quantity import Unit

__all__ = ["Direction", "Estimand", "Gate", "Kpi", "Layer", "Point", "Seam", "Status", "Takes"]


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
    """What exactly is estimated. The sample of a timed one is one process's value of it."""

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
    """The named point of a runtime where KPIs attach.

    ``frozen_sync``: an asynchronous interface over a blocking implementation, so that a probe must say how the
    engine was cut out. ``off_live``: why the seam is off on a live turn; a KPI on it is at best ``guarded``.
    """

    name: str
    title: str
    frozen_sync: bool = False
    off_live: str | None = None


@dataclass(frozen=True, slots=True)
class Kpi:
    """One row of the catalog.

    ``params`` maps a key to its values, and their product is the set of points; ``gate_point`` is the one point at
    which a timed KPI gates. ``inputs`` with ``formula`` make a derived row: it is computed from other readings.
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
    def derived(self) -> bool:
        """Whether the row is computed from other readings instead of being opened by a probe."""
        return bool(self.inputs) or self.shares is not None

    def points(self) -> list[Point]:
        """Every parameter point, in the order in which the catalog lists keys and values."""
        keys = list(self.params)
        return [dict(zip(keys, values, strict=True)) for values in product(*self.params.values())]
