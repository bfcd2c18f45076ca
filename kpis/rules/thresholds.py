"""The number that a statistic is held against, or the list of texts that a rule looks for, and who chose it.

The numbers of a call win over those of the deployment, and both over the rule's own. Who chose is told by where the key
stands; in the answers of the reference, which compares values, a chosen number equal to the rule's own is its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Correction, ThresholdSource

__all__ = ["Threshold", "ThresholdError", "chosen", "is_number", "texts", "threshold"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number and who chose it."""

    value: float
    source: ThresholdSource


def is_number(value: object) -> bool:
    """Whether this is a finite number that a double holds: true and false are none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def chosen(settings: Settings, key: str) -> object:
    """What a call or else the deployment set under this key; None when neither did.

    A call that sets null sets nothing. For the reference it takes away what the deployment set.
    """
    if key in settings.per_call:
        own = settings.per_call[key]
        if own is not None or not settings.has(Correction.NULL_IS_UNSET):
            return own
    return settings.rule_thresholds.get(key)


class ThresholdError(ValueError):
    """Somebody set a threshold to what is no number, or a list to what is none: the rule cannot answer."""


def threshold(settings: Settings, default: float, *keys: str) -> Threshold:
    """The number under the first of ``keys`` that somebody set, else the rule's own.

    Raises:
        ThresholdError: what was set is no number.
    """
    for key in keys:
        value = chosen(settings, key)
        if value is None:
            continue
        if not isinstance(value, int | float) or not is_number(value):
            raise ThresholdError(f"{key} is set to {value!r:.40}, and has to be a number")
        return Threshold(value, _source(settings, default, value, key))
    return Threshold(default, ThresholdSource.DEFAULT)


def texts(settings: Settings, key: str) -> tuple[str, ...] | None:
    """The texts under ``key``, in order; None when nobody set them. A list of none is one.

    Raises:
        ThresholdError: what was set is no list of texts, or one of them is empty or white space, which says nothing.
    """
    listed = chosen(settings, key)
    if listed is None:
        return None
    if not isinstance(listed, list | tuple):
        raise ThresholdError(f"{key} is set to {listed!r:.40}, and has to be a list of texts")
    for number, text in enumerate(listed, 1):
        if not isinstance(text, str):
            raise ThresholdError(f"entry {number} of {key} is {text!r:.40}, and has to be a text")
        if not text:
            raise ThresholdError(f"entry {number} of {key} is empty")
        if text.isspace() and settings.has(Correction.ASKS_FOR_SOMETHING):
            raise ThresholdError(f"entry {number} of {key} is white space, which is in every text")
    return tuple(listed)


def _source(settings: Settings, default: float, value: float, key: str) -> ThresholdSource:
    if settings.has(Correction.SOURCE_BY_KEY):
        return ThresholdSource.CONFIG if settings.per_call.get(key) is None else ThresholdSource.CALL
    return ThresholdSource.DEFAULT if value == default else ThresholdSource.CONFIG
