"""What tokens cost under a dated price profile: tiers by prompt size, realised and modelled cost.

A profile is an input with a date, never a constant. A price that is missing leaves the cost unknown. Realised cost
prices the provider's own counters; modelled cost splits a prompt by an assumed hit ratio. They are different columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kpis.formulas.context.provider import Counters

__all__ = ["Profile", "Tier", "modelled_cost", "profile_of", "realised_cost", "tier_for"]

PER = 1_000_000


@dataclass(frozen=True, slots=True)
class Tier:
    """Dollars a million tokens, for prompts of up to ``up_to`` tokens, inclusive; None is without bound."""

    miss: float
    hit: float
    output: float
    write: float | None = None
    up_to: int | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """Prices of one model on one date; the last tier holds for every larger prompt.

    Raises:
        ValueError: there is no tier, or they do not rise.
    """

    id: str
    as_of: str
    tiers: tuple[Tier, ...]

    def __post_init__(self) -> None:
        bounds = [tier.up_to for tier in self.tiers[:-1] if tier.up_to is not None]
        if len(bounds) != len(self.tiers) - 1 or bounds != sorted(set(bounds)):
            raise ValueError(f"The tiers of price profile {self.id} must have rising bounds, all but the last one.")

    def rho(self, prompt: float = 0) -> float | None:
        """What a cached token costs in uncached ones; None where those are free."""
        tier = tier_for(self, prompt)
        return tier.hit / tier.miss if tier.miss else None


def profile_of(row: Mapping[str, Any]) -> Profile:
    """A profile from its JSON form: ``id``, ``asOf`` and prices, or ``tiers`` of prices with ``upToTokens``.

    Raises:
        KeyError: a price is missing.
        ValueError: the tiers do not rise.
    """
    tiers: Sequence[Mapping[str, Any]] = row.get("tiers") or [row]
    return Profile(
        row["id"],
        row["asOf"],
        tuple(
            Tier(
                each["inputMissPerM"],
                each["inputHitPerM"],
                each["outputPerM"],
                each.get("cacheWritePerM"),
                each.get("upToTokens"),
            )
            for each in tiers
        ),
    )


def tier_for(profile: Profile, prompt: float) -> Tier:
    """The tier of a prompt of that many tokens."""
    return next((tier for tier in profile.tiers if tier.up_to is not None and prompt <= tier.up_to), profile.tiers[-1])


def realised_cost(profile: Profile, requests: Iterable[Counters]) -> float | None:
    """Dollars of all ``requests``, each in the tier of its own prompt: its three disjoint counters of input together.

    None where a counter that has a price was not reported, or a cache write was and has no price.
    """
    total: float = 0
    for request in requests:
        if request.uncached is None or request.cache_read is None or request.output is None:
            return None
        tier = tier_for(profile, request.uncached + request.cache_read + (request.cache_write or 0))
        if (tier.write is None and request.cache_write) or (tier.write is not None and request.cache_write is None):
            return None
        total += request.uncached * tier.miss + request.cache_read * tier.hit + request.output * tier.output
        total += (request.cache_write or 0) * (tier.write or 0)
    return total / PER


def modelled_cost(
    profile: Profile, shared: float, fresh: float, output: float, hit: float, write: float = 0
) -> float | None:
    """Dollars of one request of which ``shared`` tokens could be served and the part ``hit`` of them is."""
    served = shared * min(1.0, max(0.0, hit))
    tier = tier_for(profile, shared + fresh)
    if write and tier.write is None:
        return None
    miss = fresh + shared - served
    return (miss * tier.miss + served * tier.hit + output * tier.output + write * (tier.write or 0)) / PER
