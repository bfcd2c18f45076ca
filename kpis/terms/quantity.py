"""A number that knows what it is: value, unit, basis, source.

Three of the four traps are closed here by type. *Measured is not modeled*: a ``model`` input makes the result a
``model``, and a :class:`Column` refuses to hold both. *Latency is not a work count*: quantities of different units
cannot be added, subtracted, compared or converted. *Live is not replay*: the weakest source of the inputs is the
source of the result. (The fourth trap, the engine that is taken for the kernel, is closed where a slice is opened.)

This module refuses to convert: there is no function from one unit to another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

__all__ = ["Axis", "Basis", "Column", "Quantity", "QuantityError", "Source", "Unit", "combined_basis", "weakest_source"]


class QuantityError(TypeError):
    """Two quantities were mixed that must not be, or a number is not one."""


class Unit(Enum):
    """The closed list of units. Prefixes are added when a number is shown, never stored."""

    NS = "ns"
    OPS = "ops"
    INSTRUCTIONS = "instructions"
    COUNT = "count"
    RATIO = "ratio"
    TOK = "tok"
    USD = "usd"
    BYTES = "bytes"
    BOOL = "bool"
    MS = "ms"  # modeled or reported milliseconds only: a clock reads nanoseconds


class Basis(Enum):
    """By what means a number was obtained."""

    CLOCK = "clock"
    COUNT = "count"
    FORMULA = "formula"
    MODEL = "model"
    REPORTED = "reported"


class Source(Enum):
    """What a number was taken from."""

    LIVE = "live"
    REPLAY = "replay"
    SYNTHETIC = "synthetic"


class Axis(Enum):
    """What may stand in one column: our own measurements, models, and what others reported."""

    MEASURED = "measured"
    MODELED = "modeled"
    REPORTED = "reported"


_WEAKNESS = {Source.LIVE: 0, Source.REPLAY: 1, Source.SYNTHETIC: 2}
_AXIS = {
    Basis.CLOCK: Axis.MEASURED,
    Basis.COUNT: Axis.MEASURED,
    Basis.FORMULA: Axis.MEASURED,
    Basis.MODEL: Axis.MODELED,
    Basis.REPORTED: Axis.REPORTED,
}


def weakest_source(*sources: Source) -> Source:
    """The source of a result: synthetic over replay over live.

    Raises:
        QuantityError: no source was given.
    """
    if not sources:
        raise QuantityError("A result needs at least one source.")
    return max(sources, key=_WEAKNESS.__getitem__)


def _combined_basis(left: Basis, right: Basis) -> Basis:
    if left is right:
        return left
    pair = {left, right}
    if Basis.REPORTED in pair:
        raise QuantityError("A reported number is never combined with our own: keep it in a column of its own.")
    if Basis.MODEL in pair:
        return Basis.MODEL
    if Basis.CLOCK in pair:
        raise QuantityError("A clock reading is never combined with a count or a formula over counts.")
    return Basis.FORMULA


def combined_basis(*bases: Basis) -> Basis:
    """The basis of a result: any model makes it a model; a clock and a count, or what others reported, do not mix.

    Raises:
        QuantityError: they cannot be combined, or there is none.
    """
    if not bases:
        raise QuantityError("A result needs at least one basis.")
    result = bases[0]
    for basis in bases[1:]:
        result = _combined_basis(result, basis)
    return result


@dataclass(frozen=True, slots=True)
class Quantity:
    """One finite number with its unit, basis and source.

    Raises:
        QuantityError: the value is not a finite number, or milliseconds were claimed of a clock or a count.
    """

    value: int | float
    unit: Unit
    basis: Basis
    source: Source

    def __post_init__(self) -> None:
        if not isinstance(self.value, int | float) or not math.isfinite(self.value):
            raise QuantityError(f"A quantity holds a finite number, not {self.value!r}.")
        if self.unit is Unit.MS and self.basis not in (Basis.MODEL, Basis.REPORTED):
            raise QuantityError(f"Milliseconds are modeled or reported only; a {self.basis.value} reading is in ns.")
        if self.unit is Unit.BOOL and self.value not in (0, 1):
            raise QuantityError(f"A truth value is 1 or 0, not {self.value!r}.")

    @property
    def axis(self) -> Axis:
        """The kind of column that this number may stand in."""
        return _AXIS[self.basis]

    def _same_unit(self, other: object, verb: str) -> Quantity:
        if not isinstance(other, Quantity):
            raise QuantityError(f"A quantity in {self.unit.value} cannot be {verb} a bare {type(other).__name__}.")
        if self.unit is not other.unit:
            raise QuantityError(f"{self.unit.value} cannot be {verb} {other.unit.value}.")
        return other

    def _with(self, other: Quantity, value: int | float, unit: Unit) -> Quantity:
        basis = _combined_basis(self.basis, other.basis)
        return Quantity(value, unit, basis, weakest_source(self.source, other.source))

    def __add__(self, other: Quantity) -> Quantity:
        other = self._same_unit(other, "added to")
        return self._with(other, self.value + other.value, self.unit)

    def __sub__(self, other: Quantity) -> Quantity:
        other = self._same_unit(other, "subtracted from")
        return self._with(other, self.value - other.value, self.unit)

    def ratio_to(self, other: Quantity) -> Quantity:
        """This over ``other``, both of one unit; basis and source propagate.

        Raises:
            QuantityError: the units differ, or ``other`` is zero (a ratio without denominator is undefined, not 0).
        """
        other = self._same_unit(other, "divided by")
        if other.value == 0:
            raise QuantityError("A ratio over zero is undefined.")
        return self._with(other, self.value / other.value, Unit.RATIO)

    def _comparable(self, other: object) -> Quantity:
        other = self._same_unit(other, "compared with")
        if self.axis is not other.axis:
            raise QuantityError(f"A {self.axis.value} number cannot be compared with a {other.axis.value} one.")
        return other

    def __lt__(self, other: Quantity) -> bool:
        return self.value < self._comparable(other).value

    def __le__(self, other: Quantity) -> bool:
        return self.value <= self._comparable(other).value

    def __gt__(self, other: Quantity) -> bool:
        return self.value > self._comparable(other).value

    def __ge__(self, other: Quantity) -> bool:
        return self.value >= self._comparable(other).value

    def _no_conversion(self) -> float:
        raise QuantityError(f"A quantity in {self.unit.value} does not turn into a bare number; read its value.")

    __float__ = _no_conversion

    def __int__(self) -> int:
        raise QuantityError(f"A quantity in {self.unit.value} does not turn into a bare number; read its value.")

    __index__ = __int__


class Column:
    """A column of a table: holds quantities of one axis, so that a model never stands below a clock."""

    def __init__(self) -> None:
        self._held: list[Quantity] = []

    def add(self, quantity: Quantity) -> None:
        """Append ``quantity``.

        Raises:
            QuantityError: the column already holds another axis.
        """
        if self._held and self._held[0].axis is not quantity.axis:
            raise QuantityError(
                f"A column of {self._held[0].axis.value} numbers cannot hold a {quantity.axis.value} one."
            )
        self._held.append(quantity)

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)
