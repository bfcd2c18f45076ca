"""The correctness of one run: what its state held, what was presented of it, and what hard checks found."""

from __future__ import annotations

from typing import Any

from kpis.formulas.context.canonical import canonical
from kpis.formulas.context.correctness import (
    Catastrophe,
    ShownState,
    authority_loss,
    constraint_violations,
    provenance_coverage,
    stale_state,
    state_ambiguity,
)
from kpis.formulas.context.made import Metrics, amount, share, unobserved
from kpis.formulas.context.oracles import OracleKind
from kpis.formulas.context.values import Ratio, ratio
from kpis.terms.context_run import ContextRun
from kpis.terms.context_state import Anchor, Presented, StateChange
from kpis.terms.context_words import Lifecycle, StateOp
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["correctness_metrics"]

UNCHECKED = "a check could not be run"


class _Key:
    """The values of one key so far: active ones in the order of being set, and those that no longer hold."""

    __slots__ = ("active", "past")

    def __init__(self) -> None:
        self.active: list[Any] = []
        self.past: list[Any] = []

    def apply(self, change: StateChange) -> None:
        if change.op is StateOp.SET:
            self._activate(change.value)
            return
        gone = canonical(change.value)
        self.active = [value for value in self.active if canonical(value) != gone]
        self.past.append(change.value)
        if change.superseded_by is not None:
            self._activate(change.superseded_by)

    def _activate(self, value: Any) -> None:
        form = canonical(value)
        self.active = [each for each in self.active if canonical(each) != form] + [value]

    def shown(self, key: str, value: Any) -> ShownState:
        """How a presented value stands: any active value is current, since nothing says which of two is not."""
        holds = canonical(value) in map(canonical, self.active)
        return ShownState(key, value, value if holds else [value], self.past)  # a list of it equals no value of it


def correctness_metrics(run: ContextRun) -> Metrics:
    """Every metric of the class by id."""
    return {**_presented(run), **_provenance(run), **_violations(run), **_lost(run)}


def _presented(run: ContextRun) -> Metrics:
    said: list[Anchor | StateChange | Presented] = [*run.anchors, *run.states, *run.presented]
    events = sorted(said, key=lambda event: event.seq)
    anchors: dict[str, Anchor] = {}
    keys: dict[str, _Key] = {}
    missing = expected = unknown = 0
    shown: list[ShownState] = []
    for event in events:
        if isinstance(event, Anchor):
            anchors[event.anchor_id] = event
        elif isinstance(event, StateChange):
            keys.setdefault(event.key, _Key()).apply(event)
        else:
            if event.anchors is not None:
                active = [each.anchor_id for each in anchors.values() if each.lifecycle is Lifecycle.ACTIVE]
                lost = authority_loss(active, event.anchors)
                missing, expected = missing + int(lost.numerator), expected + int(lost.denominator)
            for value in event.values or ():
                if value.key in keys:
                    shown.append(keys[value.key].shown(value.key, value.value))
                else:
                    unknown += 1
    made: Metrics = {}
    if any(event.anchors is not None for event in run.presented):
        lost = ratio(missing, expected, "no active anchor was expected")
        made["authority_loss_rate"] = share("authority_loss_rate", lost, Basis.FORMULA)
    else:
        made |= unobserved(("authority_loss_rate",), "nothing was presented with its anchors", Basis.FORMULA)
    made["state_stale_rate"] = _staleness(shown, unknown, any(event.values is not None for event in run.presented))
    ambiguity = state_ambiguity({key: held.active for key, held in keys.items()})
    made["state_ambiguity_rate"] = share("state_ambiguity_rate", ambiguity, Basis.FORMULA)
    return made


def _staleness(shown: list[ShownState], unknown: int, observed: bool) -> Metric:
    each = "state_stale_rate"
    if not observed:
        return Metric(each, None, Basis.FORMULA, undefined="nothing was presented with its values")
    seen = stale_state(shown)
    total = len(shown) + unknown
    detail = {"wrong": seen.wrong, "unknown_key": unknown}
    if unknown:
        stale = seen.rate.numerator
        open_rate = Ratio(stale, total, None, "a value was shown of a key without recorded state")
        return share(each, open_rate, Basis.FORMULA, detail, bounds=(stale / total, (stale + unknown) / total))
    return share(each, seen.rate, Basis.FORMULA, detail)


def _provenance(run: ContextRun) -> Metrics:
    last = {anchor.anchor_id: anchor for anchor in run.anchors}
    active = [anchor for anchor in last.values() if anchor.lifecycle is Lifecycle.ACTIVE]
    valid = sum(anchor.provenance_ok is True for anchor in active)
    broken = sum(anchor.provenance_ok is False for anchor in active)
    unchecked = len(active) - valid - broken
    name = Catastrophe.UNRECOVERABLE_PROVENANCE.value
    if unchecked:
        bounds = (valid / len(active), (valid + unchecked) / len(active))
        rate = Ratio(valid, len(active), None, "the provenance of an anchor was not checked")
        return {
            "provenance_coverage": share("provenance_coverage", rate, Basis.FORMULA, bounds=bounds),
            name: Metric(name, None, Basis.COUNT, undefined=rate.undefined, low=broken, high=broken + unchecked),
        }
    coverage = share("provenance_coverage", provenance_coverage(len(active), valid), Basis.FORMULA)
    if not active:
        return {coverage.id: coverage, **unobserved((name,), "no active anchor was recorded", Basis.COUNT)}
    return {coverage.id: coverage, name: amount(name, broken, Basis.COUNT)}


def _failures(run: ContextRun, kind: OracleKind | None) -> tuple[int, int, int]:
    """Failed, unknown and all applicable checks: critical ones, or those of ``kind``."""
    found = [
        verdict.passed
        for verdict in run.verdicts
        if verdict.applicable and (verdict.critical if kind is None else verdict.oracle.type == kind.value)
    ]
    return found.count(False), found.count(None), len(found)


def _violations(run: ContextRun) -> Metrics:
    ids = ("critical_violation_rate", "critical_violations", Catastrophe.HARD_CONSTRAINT_VIOLATION.value)
    failed, unknown, total = _failures(run, None)
    made = unobserved(ids, "no critical check was recorded" if total == 0 else UNCHECKED, Basis.FORMULA)
    if failed or (total and not unknown):
        rate = constraint_violations([["violated"] * failed]).rate
        made[ids[0]] = share(ids[0], rate, Basis.FORMULA, {"violations": failed})
    for each in ids[1:]:
        made[each] = _counted(each, failed, unknown, total, "no critical check was recorded")
    return made


def _lost(run: ContextRun) -> Metrics:
    kinds = {
        Catastrophe.WRONG_DESTRUCTIVE_EDIT: (OracleKind.FORBIDDEN_PATH_UNCHANGED, "no forbidden path was checked"),
        Catastrophe.LOST_OBLIGATION: (OracleKind.OBLIGATION_OPEN, "no obligation was checked"),
    }
    made = {kind.value: _counted(kind.value, *_failures(run, oracle), none) for kind, (oracle, none) in kinds.items()}
    uses = [action.recall.cross_session for action in run.actions if action.recall is not None]
    name = Catastrophe.CROSS_SESSION_RECALL.value
    failed, unknown, _ = _failures(run, OracleKind.NO_CROSS_SESSION_RECALL)
    crossed = max(uses.count(True), failed)
    why = "of a recall it is not recorded whether it left its session"
    made[name] = _counted(name, crossed, uses.count(None) + unknown, 1, why)
    return made


def _counted(each: str, failed: int, unknown: int, total: int, none: str) -> Metric:
    if total == 0:
        return Metric(each, None, Basis.COUNT, undefined=none)
    if unknown:
        why = none if each == Catastrophe.CROSS_SESSION_RECALL.value else UNCHECKED
        return Metric(each, None, Basis.COUNT, undefined=why, low=failed, high=failed + unknown)
    return amount(each, failed, Basis.COUNT)
