"""Paired differences of one metric between two arms: who is paired with whom, and what the pairs say together.

Pairs are formed by key, of runs that may be compared: one model, tokenizer, window and concurrency. A run without
partner and a pair with a side that has no value are counted, and add no difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from kpis.formulas.paired.bootstrap import SEED, Interval, bootstrap
from kpis.formulas.paired.describe import Distribution, describe
from kpis.terms.context_run import RunHeader

__all__ = ["PairedDeltas", "incomparable", "paired_deltas"]

_ALIKE = ("model", "provider", "tokenizer", "window_tokens", "concurrency")


@dataclass(frozen=True, slots=True)
class PairedDeltas:
    """Candidate less reference, in the order of the keys of the candidate. ``interval`` is None below three pairs."""

    deltas: tuple[float, ...]
    unpaired: int
    without_value: int
    distribution: Distribution
    interval: Interval | None


def paired_deltas(
    candidate: Mapping[Hashable, float | None], reference: Mapping[Hashable, float | None], seed: int = SEED
) -> PairedDeltas:
    """The differences of two arms, each a value by what identifies a pair: case and replicate, or a pair key."""
    shared = [key for key in candidate if key in reference]
    deltas = []
    for key in shared:
        ours, theirs = candidate[key], reference[key]
        if ours is not None and theirs is not None:
            deltas.append(ours - theirs)
    return PairedDeltas(
        tuple(deltas),
        len(candidate) + len(reference) - 2 * len(shared),
        len(shared) - len(deltas),
        describe(deltas),
        bootstrap(deltas, seed=seed),
    )


def incomparable(one: RunHeader, other: RunHeader) -> list[str]:
    """In what two runs differ that keeps them out of one table; empty where nothing does."""
    return [name for name in _ALIKE if getattr(one, name) != getattr(other, name)]
