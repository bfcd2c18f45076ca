"""Small candidates for the tests of this folder."""

from __future__ import annotations

from seams.contract.turn import Candidate, Plan, Span


def candidate(
    step: int,
    cost: int,
    benefit: float,
    *,
    name: str | None = None,
    digest: str | None = None,
    sealed: bool = False,
    tombstoned: bool = False,
) -> Candidate:
    name = f"span:{step}" if name is None else name
    digest = f"digest of {step}" if digest is None else digest
    cell = Span(name, step, "tool", f"tool: {name}", digest, 4 * cost, sealed=sealed, tombstoned=tombstoned)
    return Candidate(cell, cost, benefit)


def ids(plan: Plan) -> list[str]:
    return [each.id for each in plan.selected]


def reasons(plan: Plan) -> dict[str, str]:
    return {each.id: each.reason.value for each in plan.elided}
