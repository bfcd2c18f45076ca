"""How much of a prompt the next one begins with: shared prefix nodes and tokens, and the invalidated suffix.

An architecture metric: it says what a provider could have kept, and is never a cache hit. Nodes are compared by digest,
and only the leading run counts. Both sums are priced by the *earlier* request, so that together they are its surface.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kpis.formulas.context.values import Mode, RecordError

__all__ = ["Locality", "Prefix", "Surface", "locality", "prefix", "shared_nodes"]


@dataclass(frozen=True, slots=True)
class Surface:
    """The nodes of one request as digests, each with its price in tokens."""

    nodes: Sequence[str]
    prices: Sequence[float]


@dataclass(frozen=True, slots=True)
class Prefix:
    """One consecutive pair: ``spn`` nodes, ``spt`` tokens shared, ``ist`` tokens lost."""

    spn: int
    spt: float
    ist: float


@dataclass(frozen=True, slots=True)
class Locality:
    """All pairs of a chain of requests; ``pairs[i]`` compares request ``i`` with request ``i + 1``."""

    pairs: tuple[Prefix, ...]

    @property
    def spt(self) -> float:
        """Shared prefix tokens over all pairs."""
        return sum(pair.spt for pair in self.pairs)

    @property
    def ist(self) -> float:
        """Invalidated suffix tokens over all pairs, whatever changed the history."""
        return sum(pair.ist for pair in self.pairs)

    def ist_before(self, requests: Collection[int]) -> float:
        """Invalidated suffix tokens of the pairs that end at one of ``requests``: those just after a fold."""
        return sum(pair.ist for at, pair in enumerate(self.pairs, 1) if at in requests)


def shared_nodes(previous: Sequence[str], current: Sequence[str]) -> int:
    """The first index at which the two lists differ; the shorter length where one begins with the other."""
    shared = min(len(previous), len(current))
    return next((at for at in range(shared) if previous[at] != current[at]), shared)


def prefix(
    previous: Sequence[str], prices: Sequence[float], current: Sequence[str], mode: Mode = Mode.STRICT
) -> Prefix:
    """Compare two requests; ``prices`` are those of ``previous``.

    The reference takes a shorter list of prices for a complete one.

    Raises:
        RecordError: there is not one price a node.
    """
    if mode is Mode.STRICT and len(prices) != len(previous):
        raise RecordError(f"A request has {len(previous)} nodes and {len(prices)} prices; each node needs its own.")
    spn = shared_nodes(previous, current)
    return Prefix(spn, sum(prices[:spn]), sum(prices[spn:]))


def locality(chain: Sequence[Surface], mode: Mode = Mode.STRICT) -> Locality:
    """Every consecutive pair of ``chain``; the first request has none before it.

    Raises:
        RecordError: a request has not one price a node.
    """
    return Locality(tuple(prefix(a.nodes, a.prices, b.nodes, mode) for a, b in pairwise(chain)))
