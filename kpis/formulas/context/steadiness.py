"""Which part of a task's yes-or-no probes held (steadiness), and how much of what was asked got an answer at all."""

from __future__ import annotations

from collections.abc import Mapping

from kpis.formulas.context.values import Mode, Ratio, ratio

__all__ = ["availability", "steadiness"]


def steadiness(probes: Mapping[str, bool | None]) -> Ratio:
    """Probes that held, of all. One that broke, or whose artefact is missing (None), failed: it is not left out."""
    return ratio(sum(held is True for held in probes.values()), len(probes), "there is no probe")


def availability(answered: int, transport_failures: int, mode: Mode = Mode.STRICT) -> Ratio:
    """Answers over attempts. A failed transport is no wrong answer, and is counted here and nowhere else.

    Where nothing was attempted the reference gives 1.
    """
    attempted = answered + transport_failures
    if attempted == 0 and mode is Mode.REFERENCE:
        return Ratio(0, 0, 1)
    return ratio(answered, attempted, "nothing was attempted")
