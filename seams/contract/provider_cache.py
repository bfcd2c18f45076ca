"""The seam ``session/provider_cache``: what providers say they served from a prompt cache, apart from what we did.

An entry is one cached thing that a request was answered with: where it lies, what it is, and how many prompt tokens
need not be computed for it. Those of a provider are its word and nothing that we saw. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

__all__ = ["CacheEntry", "Media", "ProviderCache", "ProviderCounters", "Split", "Tier"]


class Tier(Enum):
    """Where an entry lies: with us, or with the provider of the model."""

    LOCAL = "local"
    PROVIDER = "provider"


class Media(Enum):
    """What an entry is."""

    PROMPT_PREFIX = "prompt_prefix"
    OTHER = "other"


class CacheEntry(NamedTuple):
    """``saved`` prompt tokens that need not be computed; ``created`` ones that were written into the cache."""

    tier: Tier
    media: Media
    saved: int
    created: int = 0


@dataclass(slots=True)
class ProviderCounters:
    """A provider's word, each under a key of its own: tokens read, requests hit, tokens written."""

    provider_cache_read_tokens: int = 0
    provider_cache_hits: int = 0
    provider_cache_creation_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Split:
    """Every entry on exactly one side; the two are never added up."""

    local_tokens: int
    provider: ProviderCounters


class ProviderCache(Protocol):
    """``session/provider_cache``. The method may be a coroutine function."""

    def split(self, entries: Iterable[CacheEntry]) -> Split:
        """Fold ``entries``, each into its own side."""
        ...
