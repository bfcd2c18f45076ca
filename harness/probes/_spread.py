"""Which of the inputs of a recording a batch of any size is dealt. Both floors replay by this rule."""

from __future__ import annotations

__all__ = ["spread"]


def spread(inputs: int, loops: int) -> list[int]:
    """The places of ``loops`` inputs out of ``inputs``: whole rounds in order, then the rest at even distances.

    The same loops always give the same places, and any number of them stands for the whole recording, early and late.
    """
    rounds, rest = divmod(loops, inputs)
    return list(range(inputs)) * rounds + [(2 * each + 1) * inputs // (2 * rest) for each in range(rest)]
