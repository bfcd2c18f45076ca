"""Numbers for reading: a prefix, a separator of thousands, four significant digits.

Stored numbers are never touched and units never converted: a prefix is how ns, bytes and counts are written, not
another unit. Where the output cannot encode a sign, an ASCII one stands for it ("us", "+-").
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from kpis.terms.quantity import Unit

__all__ = [
    "ASCII",
    "UNICODE",
    "Signs",
    "interval",
    "parts",
    "plus_minus",
    "rescaled",
    "shown",
    "signs_for",
]


@dataclass(frozen=True, slots=True)
class Signs:
    """The few signs beyond ASCII that reports use."""

    micro: str
    plus_minus: str


UNICODE = Signs("\N{MICRO SIGN}", "\N{PLUS-MINUS SIGN}")
ASCII = Signs("u", "+-")

_DIGITS = 4  # significant digits: a shared machine repeats to three at best, and the fourth shows that it did not
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
# "name = 4.72853e+07 ns": an input as a derived reading's evidence keeps it. Only units with prefixes are rewritten: a
# count that was cut to six digits would come back as a whole number that nobody counted.
_INPUT = re.compile(r"(?P<name>\S+) = (?P<number>-?\d+(?:\.\d+)?(?:e[-+]?\d+)?) (?P<unit>ns|bytes)", re.ASCII)


def signs_for(encoding: str) -> Signs:
    """The signs that ``encoding`` can hold: all of :data:`UNICODE`, or else :data:`ASCII`."""
    try:
        (UNICODE.micro + UNICODE.plus_minus).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS - 1}e}")


def _significant(value: float) -> str:
    """Four significant digits, thousands separated; the whole part of a large number is never rounded."""
    size = abs(_rounded(value))  # rounded before the digits are counted, or 9.9999 would read 10.000
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 1e15:
        return f"{value:.{_DIGITS - 1}e}"
    exponent = int(f"{size:e}".partition("e")[2])
    return f"{value:,.{max(0, _DIGITS - 1 - exponent)}f}"


def _whole(value: float) -> str:
    whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e15)
    return f"{int(value):,d}" if whole else _significant(value)


def _prefix(value: float, ladder: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    # A number that would round up to the next prefix takes it: 999.96 ns reads 1.000 us, not 1,000 ns.
    for factor, name in ladder:
        if abs(_rounded(value / factor)) >= 1:
            return factor, name
    return ladder[-1]


def _ladder(unit: Unit) -> tuple[tuple[float, str], ...] | None:
    return _TIMES if unit is Unit.NS else _SIZES if unit is Unit.BYTES else None


def _name(prefix: str, signs: Signs) -> str:
    return prefix.replace("us", signs.micro + "s")


def _number(value: int | float, unit: Unit) -> str:
    match unit:
        case Unit.BOOL:
            return "yes" if value else "no"
        case Unit.OPS | Unit.INSTRUCTIONS | Unit.COUNT | Unit.TOK:
            return _whole(value)
        case Unit.RATIO | Unit.USD | Unit.MS | Unit.NS | Unit.BYTES:
            return _significant(value)


def _suffix(unit: Unit) -> str:
    return "" if unit in (Unit.BOOL, Unit.RATIO, Unit.COUNT) else " " + unit.value


def shown(value: int | float, unit: Unit, signs: Signs = UNICODE) -> str:
    """``value`` with its unit: ``1.234 µs``, ``12,345 tok``, ``0.9876``, ``1.500 KiB``, ``yes``."""
    ladder = _ladder(unit)
    if ladder is None:
        return _number(value, unit) + _suffix(unit)
    factor, name = _prefix(value, ladder)
    number = _whole(value) if factor == 1.0 and float(value).is_integer() else _significant(value / factor)
    return f"{number} {_name(name, signs)}"


def interval(low: int | float, high: int | float, unit: Unit, *, like: int | float, signs: Signs = UNICODE) -> str:
    """``[low, high]`` with the prefix that ``like`` (the value between them) is shown with: ``[1.201, 1.310] µs``."""
    ladder = _ladder(unit)
    factor, suffix = 1.0, _suffix(unit)
    if ladder is not None:
        factor, name = _prefix(like, ladder)
        suffix = " " + _name(name, signs)
    bounds = [_number(bound / factor if factor != 1.0 else bound, unit) for bound in (low, high)]
    return f"[{bounds[0]}, {bounds[1]}]{suffix}"


def plus_minus(value: int | float, half: int | float, unit: Unit, signs: Signs = UNICODE) -> str:
    """``value`` and half the width around it, one prefix for both: ``12.34 ± 0.5600 ms``."""
    ladder = _ladder(unit)
    factor, suffix = 1.0, _suffix(unit)
    if ladder is not None:
        factor, name = _prefix(value, ladder)
        suffix = " " + _name(name, signs)
    pair = (_number(number / factor if factor != 1.0 else number, unit) for number in (value, half))
    return f" {signs.plus_minus} ".join(pair) + suffix


def parts(numerator: int | float, denominator: int | float) -> str:
    """What a ratio is made of: ``6 of 12``, or ``89,778 over 4,094`` where the first is no part of the second."""
    return f"{_whole(numerator)} {'of' if numerator <= denominator else 'over'} {_whole(denominator)}"


def rescaled(evidence: str, signs: Signs = UNICODE) -> str:
    """``name = 4.72853e+07 ns`` as ``name = 47.29 ms``; any other sentence as it is."""
    found = _INPUT.fullmatch(evidence)
    value = float(found["number"]) if found else math.inf
    if found is None or not math.isfinite(value):
        return evidence
    return f"{found['name']} = {shown(value, Unit(found['unit']), signs)}"
