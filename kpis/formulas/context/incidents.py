"""Why a run failed where its reference passed: the first cause, in a fixed order, from machine evidence alone.

The order puts causes before symptoms: a lost anchor explains repeated work, not the other way round. Strictly an
incident of authority or obligation is there as soon as *one* that an oracle demands is gone; the reference waits until
none is left at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kpis.formulas.context.values import Mode

__all__ = ["Evidence", "Incident", "incident"]


class Incident(Enum):
    """The closed list of causes, in order of priority."""

    AUTHORITY_LOSS = "authority_loss"
    STATE_STALE = "state_stale"
    MISSING_OBLIGATION = "missing_obligation"
    RECALL_NOT_TRIGGERED = "recall_not_triggered"
    RECALL_FAILED = "recall_failed"
    MISSING_EVIDENCE = "missing_evidence"
    REOPENED_RESOLVED_BRANCH = "reopened_resolved_branch"
    MISSING_RATIONALE = "missing_rationale"
    DUPLICATE_WORK = "duplicate_work"
    WRONG_TARGET = "wrong_target"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found of the failing run. Each ``*_failed`` says that an applicable oracle of that kind failed.

    ``anchors_left``, ``obligations_left`` and ``failures_retired`` count what the state still holds, or had closed.
    """

    anchor_failed: bool = False
    anchors_left: int = 0
    state_key_failed: bool = False
    obligation_failed: bool = False
    obligations_left: int = 0
    recall_required: bool = False
    recall_triggered: bool = False
    recall_succeeded: bool = False
    recall_oracle_failed: bool = False
    failure_retired_failed: bool = False
    failure_open_failed: bool = False
    failures_retired: int = 0
    rationale_missing: bool = False
    duplicates: int = 0
    edited_or_built: bool = False
    file_oracle_failed: bool = False


def incident(
    reference_passed: bool | None, other_passed: bool | None, evidence: Evidence, mode: Mode = Mode.STRICT
) -> Incident | None:
    """The cause; None unless the reference is known to have passed and the other to have failed."""
    if reference_passed is not True or other_passed is not False:
        return None
    alone = mode is Mode.REFERENCE
    causes = (
        (evidence.anchor_failed and not (alone and evidence.anchors_left), Incident.AUTHORITY_LOSS),
        (evidence.state_key_failed, Incident.STATE_STALE),
        (evidence.obligation_failed and not (alone and evidence.obligations_left), Incident.MISSING_OBLIGATION),
        (evidence.recall_required and not evidence.recall_triggered, Incident.RECALL_NOT_TRIGGERED),
        (evidence.recall_required and not evidence.recall_succeeded, Incident.RECALL_FAILED),
        # Strictly a missing rationale is its own cause: the oracle that misses it is one of recall.
        (evidence.recall_oracle_failed and (alone or not evidence.rationale_missing), Incident.RECALL_FAILED),
        (evidence.failure_retired_failed, Incident.MISSING_EVIDENCE),
        (evidence.failure_open_failed and evidence.failures_retired > 0, Incident.REOPENED_RESOLVED_BRANCH),
        (evidence.rationale_missing, Incident.MISSING_RATIONALE),
        (evidence.duplicates > 0, Incident.DUPLICATE_WORK),
        (evidence.edited_or_built and evidence.file_oracle_failed, Incident.WRONG_TARGET),
    )
    return next((cause for holds, cause in causes if holds), Incident.UNKNOWN)
