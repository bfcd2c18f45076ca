"""The witness: what a plan and its view can be shown to keep, counted from the records alone.

It trusts no planner: it counts both sides of the partition again, asks whether each elided span can be recovered, and
holds each rendered body against the size that its span declared. It repairs nothing; a broken promise is a false mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seams.contract.turn import Plan, Refused, Rendered, Witness

__all__ = ["audit", "reconcile"]


def audit(plan: Plan) -> Witness:
    """What the plan keeps, before anything is rendered."""
    resident = {each.id for each in plan.selected}
    elided = {each.id for each in plan.elided}
    lost = tuple(each.id for each in plan.elided if not (each.id and each.digest))
    partition = (
        "" not in resident
        and "" not in elided
        and resident.isdisjoint(elided)
        and len(plan.selected) + len(plan.elided) == plan.candidates
    )
    return Witness(
        candidates=plan.candidates,
        resident=len(plan.selected),
        elided=len(plan.elided),
        recoverable=len(plan.elided) - len(lost),
        unrecoverable=lost,
        resident_tokens=sum(each.cost for each in plan.selected),
        elided_tokens=sum(each.cost for each in plan.elided),
        partition=partition,
        faithful=partition and not lost,
    )


def reconcile(witness: Witness, plan: Plan, rendered: Sequence[Rendered], refused: Sequence[Refused]) -> Witness:
    """The witness of a rendered view: resident tokens are now those of the bodies that are really there."""
    declared = {each.id: each.bytes for each in plan.selected}
    diverged = tuple(each.id for each in rendered if each.bytes != declared.get(each.id))
    return replace(
        witness,
        resident_tokens=sum(each.tokens for each in rendered),
        rendered=len(rendered),
        refused=len(refused),
        reconciled=len(rendered) + len(refused) == len(plan.selected),
        cost_contract=not diverged,
        cost_diverged=diverged,
    )
