"""What checkpoints cost every later request: the frozen load of a run.

A checkpoint counts in each request that was sent with it. The share is a ratio of sums, not a mean of ratios. A plain
summary is no frozen checkpoint: an arm that writes only those has a true load of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.values import Mode, Ratio, RecordError, ratio

__all__ = ["Frozen", "frozen"]


@dataclass(frozen=True, slots=True)
class Frozen:
    """Tokens of visible checkpoints: mean and peak over requests, and their share of all prompt tokens."""

    mean: float | None
    peak: float | None
    share: Ratio


def frozen(frozen_tokens: Sequence[float], prompt_tokens: Sequence[float], mode: Mode = Mode.STRICT) -> Frozen:
    """Over the requests of a run, in the same order. The reference gives 0 where a value would divide by 0.

    Raises:
        RecordError: the two lists are not of one length.
    """
    if mode is Mode.STRICT and len(frozen_tokens) != len(prompt_tokens):
        raise RecordError(
            f"There are {len(frozen_tokens)} frozen loads for {len(prompt_tokens)} prompts; each request has one."
        )
    load, prompt = sum(frozen_tokens), sum(prompt_tokens)
    share = ratio(load, prompt, "the prompts hold no token")
    if mode is Mode.REFERENCE and share.value is None:
        share = Ratio(load, prompt, 0)
    if not frozen_tokens:
        nothing = 0 if mode is Mode.REFERENCE else None
        return Frozen(nothing, nothing, share)
    return Frozen(load / len(frozen_tokens), max(frozen_tokens), share)
