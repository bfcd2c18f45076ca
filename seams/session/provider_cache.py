"""Prompt-cache counters of recorded requests: the provider's word on one side, what we kept on the other.

An entry goes to one side and never to both, and there is no sum of the two: tokens that a provider reads from its cache
are its discount, those that we hold are our work not done. Only a prompt's prefix is a hit; other media of a provider
count their tokens. Nothing is estimated: what an entry does not say is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from seams.contract import Engine
from seams.contract.provider_cache import CacheEntry, Media, ProviderCounters, Split, Tier

__all__ = ["ProviderLedger", "fold", "offer", "require_entry"]

_NEXT = "Run: python -m harness explain provider_cache_hits"


def fold(into: ProviderCounters, entry: CacheEntry) -> bool:
    """Add ``entry`` to a provider's counters and return True; one that no provider holds changes nothing: False.

    Raises:
        ValueError: as :func:`require_entry`.
    """
    require_entry(entry)
    if entry.tier is not Tier.PROVIDER:
        return False
    into.provider_cache_read_tokens += entry.saved
    into.provider_cache_creation_tokens += entry.created
    # What was only written into a cache was not found there.
    into.provider_cache_hits += entry.media is Media.PROMPT_PREFIX and entry.saved > 0
    return True


def require_entry(entry: CacheEntry) -> None:
    """Nothing, where the entry counts tokens.

    Raises:
        ValueError: it counts less than none.
    """
    if entry.saved < 0 or entry.created < 0:
        raise ValueError(
            f"An entry of {entry.saved} saved and {entry.created} written tokens is none: it counts from 0. {_NEXT}"
        )


class ProviderLedger:
    """Splits entries by where they lie."""

    def split(self, entries: Iterable[CacheEntry]) -> Split:
        """Fold ``entries``, each into its own side.

        Raises:
            ValueError: as :func:`require_entry`.
        """
        provider, local = ProviderCounters(), 0
        for entry in entries:
            if not fold(provider, entry):
                local += entry.saved
        return Split(local, provider)


def offer(engine: Engine) -> ProviderLedger:  # noqa: ARG001 - counting calls no engine, so any cut is the same
    """A ledger without entries."""
    return ProviderLedger()
