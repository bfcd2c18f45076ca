"""How much prompt the model was shown over a run: total, mean, median, peak and 95th percentile, in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.percentile import percentile
from kpis.formulas.context.values import Mode

__all__ = ["Exposure", "exposure"]


@dataclass(frozen=True, slots=True)
class Exposure:
    """Tokens over ``count`` requests. Without a request the total is 0, and the others have no value."""

    count: int
    total: float
    mean: float | None
    median: float | None
    peak: float | None
    p95: float | None


def exposure(prompt_tokens: Sequence[float], mode: Mode = Mode.STRICT) -> Exposure:
    """Over the prompts of the requests of a run. The reference gives zeros where there is no request."""
    if not prompt_tokens:
        nothing = 0 if mode is Mode.REFERENCE else None
        return Exposure(0, 0, nothing, nothing, nothing, nothing)
    total = sum(prompt_tokens)
    return Exposure(
        len(prompt_tokens),
        total,
        total / len(prompt_tokens),
        percentile(prompt_tokens, 50),
        max(prompt_tokens),
        percentile(prompt_tokens, 95),
    )
