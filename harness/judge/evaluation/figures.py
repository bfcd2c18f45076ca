"""Numbers as an engine written in JavaScript rounds and prints them; scores, seeds and hashes depend on it.

Refuses what is not finite: no number of an evaluation is.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["fixed", "half_up", "number"]

_PLAIN_BELOW = 21  # ECMAScript, Number::toString: digits up to 10^21, then an exponent
_PLAIN_ABOVE = -7  # and zeros down to 10^-6


def half_up(value: float, places: int) -> float:
    """``value`` to ``places`` decimals, ties upwards, by the doubles themselves: ``floor(x * 10^places + 1/2)``."""
    scale = 10.0**places
    scaled = value * scale
    whole = math.floor(scaled)
    # The sum x + 1/2 may round up by itself, so the fraction is compared instead.
    return (whole + (scaled - whole >= 0.5)) / scale


def fixed(value: float, places: int) -> str:
    """``value`` with exactly ``places`` decimals, the exact value of the double decides, and its ties go up in size."""
    text = str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
    return text.removeprefix("-") if not any(digit in text for digit in "123456789") else text


def number(value: float) -> str:
    """The shortest text that reads back as the double ``value``; whole numbers have no point (1, not 1.0).

    Raises:
        ValueError: ``value`` is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value!r} is no number that JSON can hold.")
    _, figures, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    assert isinstance(exponent, int)  # a finite number has one
    digits = "".join(map(str, figures))
    if digits == "0":
        return "0"
    point = len(digits) + exponent  # where the decimal point stands, counted from the first digit
    if len(digits) <= point <= _PLAIN_BELOW:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= _PLAIN_BELOW:
        text = f"{digits[:point]}.{digits[point:]}"
    elif _PLAIN_ABOVE < point - 1 < 0 or point == 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        power = point - 1
        head = digits[0] + (f".{digits[1:]}" if digits[1:] else "")
        text = f"{head}e{'+' if power > 0 else '-'}{abs(power)}"
    return f"-{text}" if value < 0 else text
