"""The counters of one Codex thread: which lines are a new answer, and which show an old one again.

A ``token_count`` line holds the running total of the thread and the usage of the last answer. It is written again and
again: on every limit that changes, after a review with the counter from before it, at the head of every fork. So the
usage of the last answer counts once for each *distinct* vector of running totals, and never otherwise. Neither the sum
over all lines, nor the last total, nor "whenever the total changed" survives that: totals are repeated, fall back to
zero after an interruption, and jump back to an older value.
"""

from __future__ import annotations

from types import MappingProxyType

from harness.formats.codex_shapes import Counts, Info
from harness.formats.session_numbers import count_of
from kpis.terms.trace import Provenance, Tokens

__all__ = ["Meter", "Vector"]

Vector = tuple[int | str | None, ...]
"""The counters of a running total, in a fixed order."""

_SPLIT = MappingProxyType({"fresh_in": Provenance.DERIVED, "out_visible": Provenance.DERIVED})
_ALL = MappingProxyType(
    dict.fromkeys(
        ("fresh_in", "cache_read", "cache_write_other", "out_visible", "out_reasoning", "out_total", "unattributed"),
        Provenance.DERIVED,
    )
)


def _vector(counts: Counts) -> tuple[int | None, ...]:
    return (
        counts.input_tokens,
        counts.cached_input_tokens,
        counts.cache_write_input_tokens,
        counts.output_tokens,
        counts.reasoning_output_tokens,
        counts.total_tokens,
    )


def _grown(now: Counts, before: Counts) -> Counts:
    """What was added since ``before``; all of ``now`` where a counter fell, because the count began anew."""
    pairs = list(zip(_vector(now), _vector(before), strict=True))
    if any(new is not None and old is not None and new < old for new, old in pairs):
        return now
    return Counts(*(None if new is None else new - (old or 0) for new, old in pairs))


class Meter:
    """Feed it every ``token_count`` of a thread in order.

    ``order`` numbers the distinct vectors from 0, and ``shown`` is the number of the one that was fed last.
    ``repeated`` counts lines that show a vector again, ``older`` those of them that show another than the newest;
    ``resets`` steps of the total that are not the last answer's usage; ``doubled`` totals with reasoning in them twice;
    ``outside`` parts larger than their whole; ``naive`` is what adding every line up would make of it.
    """

    __slots__ = (
        "_before", "_newest", "bad_numbers", "doubled", "naive", "older", "order", "outside", "repeated", "resets",
        "shown", "vector",
    )  # fmt: skip

    def __init__(self) -> None:
        self.order: dict[Vector, int] = {}
        self.shown = -1
        self.vector: Vector = ()
        self.repeated = 0
        self.older = 0
        self.resets = 0
        self.doubled = 0
        self.outside = 0
        self.bad_numbers = 0
        self.naive = 0
        self._before: Counts | None = None
        self._newest: Vector | None = None

    def take(self, info: Info) -> Tokens | None:
        """The tokens of the answer that ``info`` is the first to count, else None."""
        total, last = info.total_token_usage, info.last_token_usage
        if total is None:
            if last is None:
                return None
            # Without a running total, a line that equals the one before is the same answer.
            vector: Vector = ("last", *_vector(last))
            if vector == self._newest:
                self._again(self.shown, vector, last, None)
                return None
            self._newest = vector
            vector = (*vector, len(self.order))
        else:
            vector = _vector(total)
            known = self.order.get(vector)
            if known is not None:
                self._again(known, vector, last, total)
                return None
            self._newest = vector
        self.vector, self.shown = vector, len(self.order)
        self.order[vector] = self.shown
        before, self._before = self._before, total
        derived = last is None
        if last is None:
            assert total is not None
            last = total if before is None else _grown(total, before)
        if not last.input_tokens and not last.output_tokens:
            return None  # an estimate of the window's filling, after a compaction, and no answer
        if total is not None and before is not None and not derived:
            self.resets += not _follows(total, before, last)
        self.naive += (last.input_tokens or 0) + (last.output_tokens or 0)
        return self._tokens(last, derived)

    def _again(self, known: int, vector: Vector, last: Counts | None, total: Counts | None) -> None:
        self.repeated += 1
        self.older += vector != self._newest
        self._newest, self.shown = vector, known
        if total is not None:
            self._before = total
        if last is not None:
            self.naive += (last.input_tokens or 0) + (last.output_tokens or 0)

    def _count(self, value: int | None) -> int | None:
        counted = count_of(value)
        self.bad_numbers += counted is None and value is not None
        return counted

    def _tokens(self, last: Counts, derived: bool) -> Tokens:
        count = self._count
        given, cached, written = (
            count(last.input_tokens),
            count(last.cached_input_tokens),
            last.cache_write_input_tokens,
        )
        if written is not None:
            written = count(written)
        out, reasoning = count(last.output_tokens), count(last.reasoning_output_tokens)
        fresh = visible = unattributed = None
        if given is not None:
            if cached is None:
                unattributed = given  # nobody says how much of it was cached
            elif cached + (written or 0) <= given:
                fresh = given - cached - (written or 0)
            else:
                self.outside += 1
        if out is not None and reasoning is not None:
            if reasoning <= out:
                visible = out - reasoning
                # Old builds add reasoning to their total although it is in the output: no total is ever used.
                self.doubled += bool(reasoning) and last.total_tokens == (given or 0) + out + reasoning
            else:
                self.outside += 1
        provenance = _ALL if derived else _SPLIT
        return Tokens(fresh, cached, None, None, written, visible, reasoning, out, unattributed, provenance)


def _follows(total: Counts, before: Counts, last: Counts) -> bool:
    """Whether the running total grew by what the last answer used."""
    return (total.input_tokens or 0) - (before.input_tokens or 0) == (last.input_tokens or 0) and (
        total.output_tokens or 0
    ) - (before.output_tokens or 0) == (last.output_tokens or 0)
