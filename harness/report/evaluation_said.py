"""What both pages of verdicts say alike, of the evaluation of a case and of a recorded run: plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kpis.terms.claim import VerdictState

__all__ = ["prior_decides", "in_part", "of_each_state", "unmeasured"]


def unmeasured(rule: str, why: str) -> str:
    """What leaves a verdict open where ``rule`` fired and nobody knows how often it is right, and the way out."""
    return f"how often {rule} is right is unmeasured ({why}); set accuracy or criticalRules"


def prior_decides(likeliest: Iterable[str]) -> str:
    """A risk above its line though no detector fired: nothing that was found is to blame."""
    names = ", ".join(likeliest)
    return "no detector fired; the prior decides" + (f"; likeliest: {names}" if names else "")


def in_part(question: str, evaluated: int, of: int, silent: Iterable[tuple[str, str]]) -> str:
    """A question that ``evaluated`` of its ``of`` rules answered; the others by name, each with its reason."""
    why = "; ".join(f"{rule}: {reason}" for rule, reason in silent)
    return f"{question}: {evaluated} of {of} rules" + (f" ({why})" if why else "")


def of_each_state(counts: Mapping[VerdictState, int]) -> str:
    """How many verdicts there are of each state."""
    return ", ".join(f"{counts.get(state, 0):,} {state.value}" for state in VerdictState)
