"""What a probe hands over in place of a slice, as plain JSON values: checked where it can still be named.

Says in one sentence what is wrong with it, and refuses to mend a value: a number that does not fit is no number.
Imported by the worker once there is a tally, and by the parent that reads it back: standard library and clock only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.measure.clock import Tally

__all__ = ["BASES", "LONGEST", "SENTENCES", "SOURCES", "described", "shown", "tally_fault"]

BASES = ("count", "formula", "model", "reported")
"""``kpis.terms.quantity.Basis`` by value, without the clock: no tally is read off one."""

SOURCES = ("live", "replay", "synthetic")
"""``kpis.terms.quantity.Source`` by value."""

SENTENCES = 20
LONGEST = 500
"""Evidence is read by people: this many sentences of this many characters, and what goes beyond is cut."""


def shown(value: object, most: int = 80) -> str:
    """``repr(value)`` cut to ``most`` characters, whatever its ``__repr__`` does."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else text[: most - 3] + "..."


def described(tally: Tally) -> dict[str, Any]:
    """``tally`` with plain values in the place of look-alikes; what is none of them stays, for :func:`tally_fault`."""
    return {
        "numerator": _plain(tally.numerator),
        "denominator": _plain(tally.denominator),
        "reasons": _plain_each(tally.reasons),
        "excluded": _plain(tally.excluded),
        "knobs": _plain_each(tally.knobs),
        "basis": tally.basis,
        "source": tally.source,
        "evidence": _sentences(tally.evidence),
        "clocked": _sentences(tally.clocked),
    }


def _sentences(told: object) -> object:
    """Those that are shown, cut to their length."""
    if not isinstance(told, tuple | list):
        return told
    return [item[:LONGEST] if isinstance(item, str) else item for item in told[:SENTENCES]]


def _plain(number: object) -> object:
    """An int for a truth value or an enum, a float for a subclass of it."""
    if isinstance(number, int):
        return int(number)
    return float(number) if isinstance(number, float) else number


def _plain_each(held: object) -> object:
    if not isinstance(held, Mapping):
        return held
    # Sorted, because two processes may fill a mapping in different orders and still count the same.
    return {key: _plain(held[key]) for key in sorted(held, key=str)}


def tally_fault(tally: Mapping[str, Any]) -> str | None:
    """What is wrong with a described tally, in one sentence; None where nothing is."""
    fault = _number_fault("numerator", tally.get("numerator"))
    if fault is None and tally.get("denominator") is not None:
        fault = _number_fault("denominator", tally["denominator"], least=0)
    return (
        fault
        or _number_fault("excluded", tally.get("excluded"), least=0, whole=True)
        or _mapping_fault("reasons", tally.get("reasons"), least=0, whole=True)
        or (None if tally.get("knobs") is None else _mapping_fault("knobs", tally["knobs"]))
        or _word_fault("basis", tally.get("basis"), BASES)
        or (None if tally.get("source") is None else _word_fault("source", tally["source"], SOURCES))
        or _evidence_fault(tally.get("evidence"))
        or _evidence_fault(tally.get("clocked"))
    )


def _number_fault(name: str, value: object, *, least: int | None = None, whole: bool = False) -> str | None:
    if isinstance(value, int):
        # Before anything else: an int may be too large to become a float, or to be printed.
        if not -(2**63) <= value < 2**64:
            return f"The tally's {name} does not fit into 64 bits."
    elif not isinstance(value, float) or not math.isfinite(value):
        return f"The tally's {name} is {shown(value)}, which is not a finite number."
    elif whole and not value.is_integer():
        return f"The tally's {name} is {value!r}, where only whole numbers are counted."
    if least is not None and value < least:
        return f"The tally's {name} is {value!r}, which is less than {least}."
    return None


def _mapping_fault(name: str, held: object, *, least: int | None = None, whole: bool = False) -> str | None:
    if not isinstance(held, dict):
        return f"The tally's {name} are {shown(held)}, which is no mapping."
    for key, value in held.items():
        if not isinstance(key, str):
            return f"The tally's {name} have the key {shown(key)}, which is no text."
        fault = _number_fault(f"{name}[{shown(key)}]", value, least=least, whole=whole)
        if fault is not None:
            return fault
    return None


def _word_fault(name: str, value: object, words: tuple[str, ...]) -> str | None:
    if isinstance(value, str) and value in words:
        return None
    return f"The tally's {name} is {shown(value)}; it must be one of {', '.join(words)}."


def _evidence_fault(evidence: object) -> str | None:
    if not isinstance(evidence, list):
        return f"The tally's evidence is {shown(evidence)}, which is no tuple of sentences."
    strange = next((item for item in evidence if not isinstance(item, str)), None)
    if strange is None and None not in evidence:
        return None
    return f"The tally's evidence holds {shown(strange)}, which is no text."
