"""What a run's prompts cost if a token of shared prefix costs rho of another, for rho from free to full price.

A model with a knob: no provider has been asked, and no cache hit is claimed. In miss-token equivalents: prompt tokens
that are not shared, rho of those that are, and what compaction and recall asked for besides. At rho = 1 it is the whole
prompt with these additions.
"""

from __future__ import annotations

from dataclasses import dataclass

from kpis.formulas.context.values import Mode, RecordError

__all__ = ["RHOS", "Additions", "cost_at", "cost_curve", "miss_by_appends"]

RHOS = (0, 0.1, 0.2, 0.5, 1)
"""The prices of a shared token that are reported."""


@dataclass(frozen=True, slots=True)
class Additions:
    """Tokens besides the prompts; ``output_weight`` (lambda) is what an output token costs in input tokens."""

    auxiliary_input: float = 0
    auxiliary_output: float = 0
    output_weight: float = 1
    recalled: float = 0

    @property
    def cost(self) -> float:
        """All of them, in miss-token equivalents."""
        return self.auxiliary_input + self.output_weight * self.auxiliary_output + self.recalled


def cost_at(
    rho: float,
    prompt: float,
    shared: float,
    additions: Additions = Additions(),
    mode: Mode = Mode.STRICT,
) -> float:
    """Cost at ``rho`` of ``prompt`` tokens, of which ``shared`` are shared prefix.

    The reference lets more be shared than was sent, and then counts a negative miss.

    Raises:
        RecordError: more is shared than was sent, as where nodes were priced anew.
    """
    if mode is Mode.STRICT and shared > prompt:
        raise RecordError(f"{shared:,} tokens of shared prefix do not fit into {prompt:,} of prompt.")
    return (prompt - shared) + rho * shared + additions.cost


def cost_curve(
    prompt: float,
    shared: float,
    additions: Additions = Additions(),
    mode: Mode = Mode.STRICT,
) -> dict[float, float]:
    """The cost at each of :data:`RHOS`.

    Raises:
        RecordError: as :func:`cost_at`.
    """
    return {rho: cost_at(rho, prompt, shared, additions, mode) for rho in RHOS}


def miss_by_appends(invalidated: float, appended: float) -> float:
    """Another count of what misses: invalidated suffix and appended tokens.

    It is not the miss of the cost curve: invalidated tokens are not in the later prompt, and a new checkpoint that is
    in it was never appended.
    """
    return invalidated + appended
