"""What a span is worth to the coming turns: a weighted sum of five signals, each between 0 and 1.

Words are compared as they stand: no stop words, no stems, no embeddings, so that the same history always scores the
same. Each evaluation is counted where it happens, because the count is itself a reading. Nothing here knows a budget.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from seams.contract.turn import Durability, Forecast, Geometry, Span, Weights

__all__ = ["DURABILITY_PRIOR", "UTILITY_SCALE", "Scorer", "effective", "query_of", "tokens"]

DURABILITY_PRIOR = {
    Durability.DURABLE: 1.0,
    Durability.BOUNDED: 0.6,
    Durability.SESSION: 0.5,
    Durability.TURN: 0.2,
}
"""How much a span's durability counts before anything else is known of it."""

UTILITY_SCALE = 4.0
"""Ratings run from 0 to this."""

# A whole run of letters and digits; a run shorter than three cannot match, because a match starts at its beginning.
_words = re.compile(r"[^\W_]{3,}").findall


def tokens(text: str) -> set[str]:
    """The distinct lower-case words of ``text``: runs of three or more letters and digits."""
    return set(_words(text.lower()))


def query_of(intents: Iterable[str]) -> frozenset[str]:
    """The words of all intents taken together."""
    return frozenset(_words(" ".join(intents).lower()))


class Scorer:
    """Scores spans against one forecast. ``max_step`` is the highest step among the spans that are scored.

    ``calls`` counts the evaluations, those of sealed and tombstoned spans included.
    """

    __slots__ = ("_max_step", "_query", "_weights", "calls")

    def __init__(self, forecast: Forecast, max_step: int) -> None:
        self._query = query_of(forecast.intents)
        self._weights = effective(forecast.weights)
        self._max_step = max_step
        self.calls = 0

    def score(self, span: Span) -> tuple[float, Geometry | None]:
        """The weighted sum of the signals, and of what it is made.

        Exactly 0 and of nothing for a sealed or tombstoned span, and where the sum is not finite.
        """
        self.calls += 1
        if span.sealed or span.tombstoned:
            return 0.0, None
        weights, asked = self._weights, len(self._query)
        words, utility, durability, recency, primacy = self._parts(span)
        rest = weights.durability * durability + weights.utility * utility + weights.recency * recency
        worth = rest + weights.primacy * primacy
        if words:
            worth += weights.relevance * len(words) / asked
        if not math.isfinite(worth):
            return 0.0, None
        return worth, Geometry(words, asked, weights.relevance, rest)

    def signals(self, span: Span) -> Weights:
        """The five signals themselves, each under the name of its weight; no evaluation of a benefit."""
        words, *others = self._parts(span)
        return Weights(len(words) / len(self._query) if words else 0.0, *others)

    def _parts(self, span: Span) -> tuple[frozenset[str], float, float, float, float]:
        """The words of the intents in role and descriptor, then utility, durability, recency, primacy.

        utility: the rating over four, clamped. durability: the prior. recency: step over the highest step. primacy:
        its complement, strictly between the first and the last step.
        """
        words = self._query
        if words:
            words = words.intersection(_words(f"{span.role} {span.descriptor}".lower()))
        utility, step, last = span.utility, span.step, self._max_step
        if utility:
            utility = min(max(utility, 0.0), UTILITY_SCALE) / UTILITY_SCALE if math.isfinite(utility) else 0.0
        durability = DURABILITY_PRIOR[span.durability]
        if step <= 0 or last <= 0:
            return words, utility, durability, 0.0, 0.0
        if step >= last:
            return words, utility, durability, 1.0, 0.0
        return words, utility, durability, step / last, (last - step) / last


def effective(weights: Weights) -> Weights:
    """``weights``, or the defaults where all of them are zero."""
    return weights if any(weights) else Weights()
