"""The line that says how far the numbers of recorded runs can be trusted, and why not further.

The worst reason decides the first words, and every reason stands behind them: none is left out for room. What is whole
and still leaves a bill open is told apart from what was not read. Refuses to say OK of a number that is a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kpis.formulas.recorded.evaluate import RunParts
from kpis.formulas.recorded.trust import Trust
from kpis.terms.metric import Metric

__all__ = ["trust_pieces"]


def trust_pieces(parts: RunParts, found: Mapping[str, Metric]) -> Iterator[str]:
    """The verdict on the totals of ``parts``, whose metrics are ``found``, and one sentence a reason."""
    match parts.trust.level:
        case Trust.OK if found["cost_computed_usd"].low is not None:
            yield "tokens OK:"
            yield f"the cost is a lower bound, since {_unsaid(parts)} is not recorded."
            return
        case Trust.OK:
            yield "OK"
            return
        case Trust.NOT_RECORDED:
            yield "OUTPUT NOT RECORDED: output and cost are lower bounds."
        case Trust.LOWER_BOUND:
            only_prices = parts.trust.unpriced and len(list(parts.trust.reasons())) == 1
            yield "tokens OK:" if only_prices else "LOWER BOUNDS:"
    yield from parts.trust.reasons()


def _unsaid(parts: RunParts) -> str:
    """What a bill depends on that whole counts of tokens do not say."""
    sums, coarse = parts.tokens.sums, parts.tokens.coarse
    lifetime = "how long cache writes live" if sums.cache_write_other or coarse.cache_write_other else ""
    share = "what of the prompts was cached" if sums.undivided or coarse.undivided else ""
    return " and ".join(filter(None, (share, lifetime))) or "a part of the bill"
