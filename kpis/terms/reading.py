"""What a run says of a KPI: a number, a histogram, or why there is neither. A zero never stands in for that."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kpis.terms.kpi import Direction, Estimand, Gate, Layer, Status
from kpis.terms.quantity import Basis, Source, Unit

__all__ = ["Distribution", "Leg", "Notice", "Reading", "ReadingKind", "Reason", "Undefined", "Warn"]


class Reason(Enum):
    """Why a reading is undefined. Closed: a new cause gets a new word here."""

    NOT_OFFERED = "not-offered"
    NOT_INSTALLED = "not-installed"
    NOT_WIRED = "not-wired"
    WORKLOAD_KIND = "workload-kind"
    BUFFERED = "buffered"
    NO_DENOMINATOR = "no-denominator"
    TOO_FEW = "too-few"
    ENGINE_NOT_CUT = "engine-not-cut"
    WORK_NOT_DONE = "work-not-done"
    NOT_REPEATABLE = "not-repeatable"
    BAD_VALUE = "bad-value"
    TOO_SHORT = "too-short"
    INPUT_UNDEFINED = "input-undefined"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    OUT_OF_BUDGET = "out-of-budget"

    @property
    def void(self) -> bool:
        """Whether something went wrong (exit code 3), as opposed to the thing not being there."""
        return self in _VOID


_VOID = frozenset(
    {
        Reason.ENGINE_NOT_CUT,
        Reason.WORK_NOT_DONE,
        Reason.NOT_REPEATABLE,
        Reason.BAD_VALUE,
        Reason.TOO_SHORT,
        Reason.INPUT_UNDEFINED,
        Reason.ERROR,
        Reason.TIMEOUT,
        Reason.CRASHED,
        Reason.OUT_OF_BUDGET,
    }
)


@dataclass(frozen=True, slots=True)
class Undefined:
    """In place of a number: the reason, and one sentence of detail."""

    reason: Reason
    detail: str


class Leg(Enum):
    """Which quantity of a KPI a reading is of."""

    MAIN = "main"
    CPU = "cpu"
    WAIT = "wait"
    INSTRUCTIONS = "instructions"
    ALLOC_BLOCKS = "alloc_blocks"
    ALLOC_BYTES = "alloc_bytes"


class ReadingKind(Enum):
    """How a reading is stored and shown."""

    TIMED = "timed"
    COUNT = "count"
    RATE = "rate"
    MODELED = "modeled"
    INVARIANT = "invariant"
    HISTOGRAM = "histogram"


class Warn(Enum):
    """Facts that must be shown beside a number; none of them is a failure."""

    TOO_FEW = "too-few"
    CLOCK_SHARE = "clock-share"
    OFF_CPU = "off-cpu"
    LOADED = "loaded"
    FIRST_SLOW = "first-slow"
    PRINTED = "printed"
    SPREAD = "spread"
    SHORT = "short"
    UNCHECKED = "unchecked"
    LEFTOVER = "leftover"
    UNDIGESTED = "undigested"


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning as a value: a code for machines, a sentence for people."""

    code: Warn
    message: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """Of what a timed value is the median, and how sure that is.

    ``ci95`` is the exact order-statistic interval of the median over processes; ``None`` below six processes, where
    no such interval reaches 95 %. ``overhead_share`` is the harness's own cost over the slice. ``loops`` are the calls
    that one value took (of most processes, where a run calibrated again) and ``values`` the values of one process;
    None where that was not noted, or where the number is computed from several that were timed.

    Raises:
        ValueError: loops or values below one.
    """

    of: str
    n: int
    median: float
    ci95: tuple[float, float] | None
    cpu_median: float | None
    overhead_share: float | None
    loops: int | None = None
    values: int | None = None

    def __post_init__(self) -> None:
        if any(number is not None and number < 1 for number in (self.loops, self.values)):
            raise ValueError(f"A value takes at least one call, and a process one value: {self.loops}, {self.values}.")


@dataclass(frozen=True, slots=True)
class Reading:
    """One KPI at one parameter point, of one runtime on one workload, one leg.

    Exactly one of ``value``, ``undefined`` and (for a histogram) ``histogram`` carries the result. Two readings are
    of the same thing if kpi, params, runtime, workload and leg agree. ``touched`` is the number of the set of files, of
    those that its run lists, that its own workers touched; None where that was not noted.

    Raises:
        ValueError: a value together with ``undefined``, or neither.
    """

    kpi: str
    layer: Layer
    params: dict[str, str]
    runtime: str
    workload: str | None
    leg: Leg
    kind: ReadingKind
    value: int | float | None
    undefined: Undefined | None
    unit: Unit
    direction: Direction
    status: Status
    basis: Basis | None
    source: Source | None
    estimand: Estimand
    isolation: str | None
    gate: Gate
    critical: bool
    numerator: int | float | None = None
    denominator: int | float | None = None
    excluded: int | float | None = None
    histogram: dict[str, int] | None = None
    knobs: dict[str, float] | None = None
    distribution: Distribution | None = None
    evidence: list[str] = field(default_factory=list)
    uncertainty: dict[str, Any] | None = None
    warnings: list[Notice] = field(default_factory=list)
    touched: int | None = None

    def __post_init__(self) -> None:
        if self.undefined is not None and self.value is not None:
            raise ValueError(f"{self.kpi}: a reading is a number or undefined, never both.")
        if self.undefined is None and self.value is None:
            raise ValueError(f"{self.kpi}: a reading without a number needs the reason why it is undefined.")
        if self.undefined is None and (self.basis is None or self.source is None):
            raise ValueError(f"{self.kpi}: a number needs its basis and its source.")
        if (
            self.kind is ReadingKind.MODELED
            and self.undefined is None
            and (self.basis is not Basis.MODEL or not self.knobs or self.distribution is not None)
        ):
            raise ValueError(f"{self.kpi}: a modeled number needs basis model, its knobs, and no clock.")
        if self.basis is Basis.MODEL and self.kind is not ReadingKind.MODELED:
            raise ValueError(f"{self.kpi}: a number of basis model is shown as modeled, never as measured.")

    @property
    def identity(self) -> tuple[str, tuple[tuple[str, str], ...], str, str | None, str]:
        """What makes two readings of different runs readings of the same thing."""
        return (self.kpi, tuple(sorted(self.params.items())), self.runtime, self.workload, self.leg.value)
