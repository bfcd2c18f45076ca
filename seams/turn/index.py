"""An inverted index over spans, so that a long history is planned without scoring all of it.

A probe unites four tiers: what is pinned, what shares a word with the intents (rarer words count more), what is
newest, and what stays true for long. It is cut at a fixed number of rows, so that the number of spans that are scored
stops growing with the history. The probe's own work does not stop: it ranks every row that holds a word of the
intents, and the check that the history only grew compares all of it. It gives no benefit and drops nothing from the
history.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from seams.contract.turn import Durability, Forecast, Span
from seams.turn.benefit import query_of, tokens

__all__ = ["CUT", "RECENT", "SpanIndex"]

CUT = 128
"""Rows that a probe names at most."""

RECENT = 32
"""Newest rows that a probe always considers."""

_PIN, _RELEVANCE, _RECENCY, _DURABLE = range(4)
_LASTING = (Durability.DURABLE, Durability.BOUNDED)


class SpanIndex:
    """Spans by word, by id and by durability. Rows are numbered in the order of adding, which is step order."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._rows: dict[str, int] = {}
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._lasting: list[int] = []

    def __len__(self) -> int:
        return len(self._spans)

    def grows_into(self, spans: Sequence[Span]) -> bool:
        """Whether ``spans`` begin with exactly what is indexed, so that only the rest need be added."""
        return list(spans[: len(self._spans)]) == self._spans

    def extend(self, spans: Iterable[Span]) -> None:
        """Add spans.

        Raises:
            ValueError: a step is lower than the one before it; recency would then name the wrong rows.
        """
        for span in spans:
            row = len(self._spans)
            if row and span.step < self._spans[-1].step:
                raise ValueError(f"Row {row} is of step {span.step}, after step {self._spans[-1].step}: sort by step.")
            self._spans.append(span)
            self._rows.setdefault(span.id, row)
            for word in tokens(f"{span.role} {span.descriptor}"):
                self._postings[word].append(row)
            if span.durability in _LASTING:
                self._lasting.append(row)

    def probe(self, forecast: Forecast, recent: int = RECENT, cut: int = CUT) -> set[int]:
        """The rows worth scoring, ``cut`` at most: by tier, then word score, then newest, then id.

        A row's word score is the sum of ln((N+1)/(df+1)) + 1 over the intents' words that it holds.
        """
        total = len(self._spans)
        ranks: dict[int, tuple[int, float]] = {}
        for pin in forecast.pins:
            if pin in self._rows:
                ranks[self._rows[pin]] = (_PIN, 0.0)

        scores: defaultdict[int, float] = defaultdict(float)
        for word in sorted(query_of(forecast.intents)):  # sorted: a sum of floats depends on its order
            rows = self._postings.get(word, ())
            rarity = math.log((total + 1) / (len(rows) + 1)) + 1.0
            for row in rows:
                scores[row] += rarity
        for row, score in scores.items():
            ranks.setdefault(row, (_RELEVANCE, -score))

        for row in range(max(0, total - recent), total):
            ranks.setdefault(row, (_RECENCY, 0.0))
        # Within its tier the newest comes first, so no lasting row beyond the newest ``cut`` could survive the cut.
        for row in islice(reversed(self._lasting), cut):
            ranks.setdefault(row, (_DURABLE, 0.0))

        if len(ranks) <= cut:
            return set(ranks)
        spans = self._spans
        order = sorted(ranks, key=lambda row: (*ranks[row], -spans[row].step, spans[row].id))
        return set(order[:cut])
