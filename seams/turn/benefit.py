"""What a span is worth to the coming turns: a weighted sum of five signals, each between 0 and 1.

Words are compared as they stand: no stop words, no stems, no embeddings, so that the same history always scores the
same. Each evaluation is counted where it happens, because the count is itself a reading. Nothing here knows a budget.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from seams.contract.turn import Durability, Forecast, Span, Weights

__all__ = ["DURABILITY_PRIOR", "UTILITY_SCALE", "Scorer", "query_of", "tokens"]

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
        self._weights = forecast.weights if any(forecast.weights) else Weights()
        self._max_step = max_step
        self.calls = 0

    def benefit(self, span: Span) -> float:
        """The weighted sum of the signals; exactly 0 for a sealed or tombstoned span, and where it is not finite.

        relevance: share of the intents' words in role and descriptor. utility: the rating over four, clamped.
        durability: the prior. recency: step over the highest step. primacy: its complement, strictly between the
        first and the last step.
        """
        self.calls += 1
        if span.sealed or span.tombstoned:
            return 0.0
        weights, query, step, last = self._weights, self._query, span.step, self._max_step
        worth = weights.durability * DURABILITY_PRIOR[span.durability]
        if query:
            shared = query.intersection(_words(f"{span.role} {span.descriptor}".lower()))
            worth += weights.relevance * len(shared) / len(query)
        if span.utility and math.isfinite(span.utility):
            worth += weights.utility * min(max(span.utility, 0.0), UTILITY_SCALE) / UTILITY_SCALE
        if step > 0 and last > 0:
            if step >= last:
                worth += weights.recency
            else:
                worth += weights.recency * step / last + weights.primacy * (last - step) / last
        return worth if math.isfinite(worth) else 0.0
