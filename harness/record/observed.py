"""How often unchanged suites were red on a machine: what its committed calibration says, for a gate to print.

Refuses to repeat a file of another machine, and counts that a hand has changed: the bound has to be that of the counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from harness.judge.rates import at_least, at_most
from harness.record.fingerprints import differing
from harness.record.floors import FACTS, SCHEMA, facts_of

__all__ = ["CALIBRATE", "observed", "per_cent_at_least", "per_cent_at_most"]

CALIBRATE = "python -m harness calibrate --budget 20m"
"""What is typed where nothing is on record."""


def per_cent_at_most(share: float) -> str:
    """A bound as per cent with one decimal, never rounded down."""
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f} %"


def per_cent_at_least(hits: int, of: int) -> str:
    """The lower bound of a rate as per cent with one decimal, never rounded up."""
    return f"{math.floor(1000 * at_least(hits, of) + 1e-9) / 10:.1f} %"


def observed(blob: bytes | None, fingerprint: Mapping[str, Any]) -> str:
    """The sentence of the gate: from the committed ``calibration.json``, None where there is none."""
    if blob is None:
        return f"observed: no suites are on record for this machine; record some with: {CALIBRATE}"
    try:
        red, of = _suites(json.loads(blob), facts_of(fingerprint))
    except (ValueError, RecursionError) as error:
        return f"observed: the calibration on record does not hold here, {error}; record anew with: {CALIBRATE}"
    if of == 0:
        return f"observed: no whole suite is on record for this machine; record some with: {CALIBRATE}"
    bound = per_cent_at_most(at_most(red, of))
    return f"observed: {red} of {of} independent suites red on this machine (at most {bound})"


def _suites(read: Any, facts: Mapping[str, Any]) -> tuple[int, int]:
    if not isinstance(read, dict) or read.get("schema") != SCHEMA:
        raise ValueError(f"it is not a {SCHEMA} file")
    stated = read.get("fingerprint")
    if not isinstance(stated, dict):
        raise ValueError("it does not state its machine")
    if apart := differing(stated, facts, FACTS):
        raise ValueError(f"it is another machine's: {'; '.join(apart)}")
    suites = read.get("suites", {"red": 0, "of": 0, "at_most": 1.0})
    red, of, bound = (suites.get(key) if isinstance(suites, dict) else None for key in ("red", "of", "at_most"))
    if type(red) is not int or type(of) is not int or not 0 <= red <= of:
        raise ValueError("its suites are no counts")
    if bound != round(at_most(red, of), 4):
        raise ValueError(f"the bound of its suites is not that of {red} of {of}")
    return red, of
