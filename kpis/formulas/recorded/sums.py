"""Disjoint sums of rows of usage, with how many rows say nothing of each part.

A gap adds nothing to a sum and one to the count beside it: the sum is then a lower bound and can be shown as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.recorded.parts import Summed
from kpis.terms.trace import Provenance, Tokens

__all__ = ["TokenSums", "is_undivided", "sums_of"]


@dataclass(frozen=True, slots=True)
class TokenSums(Summed):
    """Disjoint token sums of ``rows`` rows of usage; ``no_*`` count the rows that do not say a part.

    ``undivided`` is the share of ``unattributed`` that is a prompt given as one number: such a row does not say what
    was fresh and what was cached, and lacks nothing of its prompt.
    """

    rows: int = 0
    fresh_in: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_write_other: int = 0
    out_total: int = 0
    out_visible: int = 0
    out_reasoning: int = 0
    unattributed: int = 0
    undivided: int = 0
    no_fresh: int = 0
    no_cache_read: int = 0
    no_prompt: int = 0
    no_out: int = 0
    no_cache_write: int = 0
    no_reasoning: int = 0
    placeholder_in: int = 0
    placeholder_out: int = 0

    @property
    def cache_write(self) -> int:
        """All cache writes."""
        return self.cache_write_5m + self.cache_write_1h + self.cache_write_other

    @property
    def prompt(self) -> int:
        """All that is known to have been shown to a model."""
        return self.fresh_in + self.cache_read + self.cache_write + self.undivided

    @property
    def all_known(self) -> bool:
        """Whether every row says its whole prompt and its output, none of them a placeholder."""
        return not (self.no_prompt or self.no_out or self.placeholder_in or self.placeholder_out)


_NOTHING = TokenSums()


def is_undivided(tokens: Tokens) -> bool:
    """Whether the prompt is recorded as one number, which then stands in ``unattributed`` beside a known output."""
    unsplit = tokens.fresh_in is None or tokens.cache_read is None
    return unsplit and tokens.unattributed is not None and tokens.out_total is not None


def _known(values: list[int | None]) -> int:
    return sum(filter(None, values))  # a zero adds nothing, so the filter may drop it too


def _none_of(columns: Sequence[list[int | None]]) -> int:
    """Rows that have no value in any column."""
    if not all(None in column for column in columns):
        return 0
    return [row.count(None) for row in zip(*columns, strict=True)].count(len(columns))


def sums_of(rows: Sequence[Tokens]) -> TokenSums:
    """The sums of ``rows``, column by column: a thousand rows cost a fifth of what adding row to row does."""
    if not rows:
        return _NOTHING
    fresh = [row.fresh_in for row in rows]
    read = [row.cache_read for row in rows]
    out = [row.out_total for row in rows]
    five = [row.cache_write_5m for row in rows]
    hour = [row.cache_write_1h for row in rows]
    other = [row.cache_write_other for row in rows]
    reasoning = [row.out_reasoning for row in rows]
    bad_in = bad_out = 0
    for row in rows:
        if row.provenance:
            bad_out += row.provenance.get("out_total") is Provenance.PLACEHOLDER and row.out_total is not None
            bad_in += row.provenance.get("fresh_in") is Provenance.PLACEHOLDER and row.fresh_in is not None
    gaps = None in fresh or None in read
    unsplit = sum(row.fresh_in is None or row.cache_read is None for row in rows) if gaps else 0
    whole = [row for row in rows if is_undivided(row)] if gaps else []
    return TokenSums(
        rows=len(rows),
        fresh_in=_known(fresh),
        cache_read=_known(read),
        cache_write_5m=_known(five),
        cache_write_1h=_known(hour),
        cache_write_other=_known(other),
        out_total=_known(out),
        out_visible=_known([row.out_visible for row in rows]),
        out_reasoning=_known(reasoning),
        unattributed=_known([row.unattributed for row in rows]),
        undivided=sum(row.unattributed or 0 for row in whole),
        no_fresh=fresh.count(None),
        no_cache_read=read.count(None),
        no_prompt=unsplit - len(whole),
        no_out=out.count(None),
        no_cache_write=_none_of([five, hour, other]),
        no_reasoning=reasoning.count(None),
        placeholder_in=bad_in,
        placeholder_out=bad_out,
    )
