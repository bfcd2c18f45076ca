"""The usage of a request that was recorded for its context, as disjoint token parts.

Refuses to guess how much of a prompt was cached: a prompt without its cached part is one number, ``unattributed``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kpis.terms.context_run import ContextRequest
from kpis.terms.context_words import PriceBasis
from kpis.terms.trace import Provenance, Tokens

__all__ = ["tokens_of"]

_PROMPT_BY = {
    basis: MappingProxyType(
        {"unattributed": Provenance.MODELLED if basis is PriceBasis.ESTIMATED else Provenance.DERIVED}
    )
    for basis in PriceBasis
}


def tokens_of(told: ContextRequest, basis: PriceBasis) -> Tokens:
    """The provider's own counters; where they do not split the prompt, what is left of it as one number."""
    usage = told.usage
    fresh, read = (None, None) if usage is None else (usage.input_uncached, usage.cache_read)
    write, out = (None, None) if usage is None else (usage.cache_write, usage.output)
    rest: int | None = None
    provenance: Mapping[str, Provenance] = {}
    if fresh is None or read is None:
        known = sum(part for part in (fresh, read, write) if part is not None)
        whole = told.prompt
        if whole is None and usage is not None and usage.total is not None and out is not None:
            whole = usage.total - out
        if whole is not None and whole >= known:
            rest, provenance = whole - known, _PROMPT_BY[basis]
    return Tokens(fresh, read, cache_write_other=write, out_total=out, unattributed=rest, provenance=provenance)
