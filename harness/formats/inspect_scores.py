"""What the scorers of an Inspect log say of one sample, as one number and one verdict.

Values are numbers, truths, or the letters that Inspect's scorers give: correct, partial, incorrect, no answer. This
module refuses to choose among scorers that disagree: then there is no score, and a success only where all say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from harness.formats.whole_json import as_dict, as_float

__all__ = ["score_of"]

_LETTERS: Mapping[str, float] = MappingProxyType(
    {"C": 1.0, "CORRECT": 1.0, "P": 0.5, "PARTIAL": 0.5, "I": 0.0, "INCORRECT": 0.0, "N": 0.0, "NOANSWER": 0.0}
)


def score_of(fields: Mapping[str, Any]) -> tuple[float | None, bool | None]:
    """Score and success of a sample; each None where the log does not settle it.

    A number between failure and success, 0 and 1, is a score and no verdict.
    """
    scores = as_dict(fields.get("scores")) or {"": fields.get("score")}
    values = [_number(as_dict(each).get("value")) for each in scores.values()]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None, None
    score = known[0] if len(set(known)) == 1 else None
    if not all(value in (0.0, 1.0) for value in known):
        partial = all(_word(as_dict(each).get("value")) is not None for each in scores.values())
        return score, False if partial else None
    return score, all(value == 1.0 for value in known)


def _word(value: Any) -> float | None:
    return _LETTERS.get(value.strip().upper()) if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    return _word(value) if isinstance(value, str) else as_float(value)
