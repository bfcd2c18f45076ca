"""From claims to the verdict of a gate: the family rule, first layer that matches wins, and unknown is never pass.

1. ``policy_gate``: an exact or invariant row fired. Fail.
2. ``detector_veto``: a confirmed regression. Fail.
3. ``critical_unknown``: a critical row is void or inconclusive. Unknown.
4. ``required_evidence_missing``: a baseline or a point is missing, or any other row is undecided. Unknown.
5. ``no_rules``: nothing that could have failed was compared. Unknown.
6. ``clean``: everything that could have failed was compared and stayed quiet. Pass.

Confidence is marginal where the 5 % line of ``ok`` runs through what decided. A fail is decisive if an exact row fired,
or if some regression is at least 5 % by its own bound; a pass is decisive if every timed row would have seen 5 %. An
unknown has none. Risk stays null: it composes outputs and trajectories, never KPIs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kpis.terms.claim import (
    Claim,
    ClaimKind,
    ClaimState,
    Confidence,
    Coverage,
    Evidence,
    Gap,
    Uncertainty,
    UncertaintyBasis,
    Verdict,
    VerdictBasis,
    VerdictState,
)
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate

__all__ = ["claim_of", "compose", "coverage_of"]

LINE = 0.05
"""The worsening that ``ok`` excludes, as a fraction."""

_KINDS = {
    Gate.EXACT: ClaimKind.POLICY,
    Gate.INVARIANT: ClaimKind.POLICY,
    Gate.INSTRUCTIONS: ClaimKind.POLICY,
    Gate.TIMED: ClaimKind.DETECTION,
    Gate.REPORT: ClaimKind.MEASUREMENT,
}

_GAPS = {
    State.INCONCLUSIVE: Gap.INCONCLUSIVE,
    State.VOID: Gap.VOID,
    State.NO_BASELINE: Gap.NO_BASELINE,
    State.REMOVED: Gap.REMOVED,
    State.NEW: Gap.NEW,
}


def _worsening(comparison: Comparison, direction: Direction) -> tuple[float | None, float | None]:
    """The bounds of a comparison as fractions of worsening; a neutral direction has none."""
    low, high = comparison.low, comparison.high
    if direction is Direction.HIGHER:
        low, high = (1 / high if high else None), (1 / low if low else None)
    elif direction is Direction.NEUTRAL:
        return None, None
    return (None if low is None else low - 1), (None if high is None else high - 1)


def claim_of(
    rule: str,
    comparison: Comparison,
    gate: Gate,
    direction: Direction,
    *,
    critical: bool = False,
    table: str | None = None,
    evidence: Sequence[Evidence] = (),
    coverage: Coverage | None = None,
) -> Claim:
    """A KPI comparison as a claim: it fires on ``regressed``, is quiet where it was decided otherwise, else unknown.

    ``rule`` names the KPI point; ``table`` is the sha256 of this machine's calibration, without which a timed claim
    is ``unmeasured``. Exact legs are true by definition, and where nothing was seen nothing is more or less certain.
    ``coverage`` of a comparison that is made in one step need not be given: it was made, or it was not.
    """
    kind = _KINDS[gate]
    # A state that is neither decided nor named above leaves the question open, whatever it is called.
    gap = None if comparison.state.decided else _GAPS.get(comparison.state, Gap.INCONCLUSIVE)
    if gap is not None:
        state = ClaimState.UNKNOWN
    else:
        state = ClaimState.FIRED if comparison.state is State.REGRESSED else ClaimState.QUIET
    if kind is ClaimKind.POLICY:
        basis, table = UncertaintyBasis.DEFINITION, None
    else:
        basis = UncertaintyBasis.PUBLISHED_ACCURACY if table else UncertaintyBasis.UNMEASURED
    at_least, at_most = _worsening(comparison, direction)
    seen = gap in (None, Gap.INCONCLUSIVE)
    sure = Uncertainty(basis, comparison.alpha, at_least, at_most, comparison.smallest_visible, table or None)
    said = tuple(Evidence(text=text) for text in comparison.evidence)
    found = coverage or Coverage(1, int(seen))
    return Claim(rule, kind, state, critical, gap, (*evidence, *said), sure if seen else None, found)


def coverage_of(comparisons: Mapping[str, Comparison], *, reported: Collection[str] = ()) -> Coverage:
    """How much of a gate was compared. New points are not owed; removed ones and those without baseline are missing.

    ``reported`` names rows that never decide (measurements): they are neither owed nor seen.
    """
    owed = {
        name: found.state
        for name, found in comparisons.items()
        if found.state is not State.NEW and name not in reported
    }
    missing = tuple(name for name, state in owed.items() if state in (State.REMOVED, State.NO_BASELINE))
    void = sum(1 for state in owed.values() if state is State.VOID)
    return Coverage(len(owed), len(owed) - len(missing) - void, missing)


def _said(state: VerdictState, basis: VerdictBasis, by: Sequence[str] = (), sure: Confidence | None = None) -> Verdict:
    return Verdict(state, basis, tuple(dict.fromkeys(by)), None, sure)


def compose(claims: Sequence[Claim], coverage: Coverage) -> Verdict:
    """The verdict of a gate over its claims. Measurements never decide, and do not count as compared."""
    deciding = [claim for claim in claims if claim.kind is not ClaimKind.MEASUREMENT]
    fired = [claim for claim in deciding if claim.state is ClaimState.FIRED]
    policies = [claim.rule for claim in fired if claim.kind is ClaimKind.POLICY]
    if policies:
        return _said(VerdictState.FAIL, VerdictBasis.POLICY_GATE, policies, Confidence.DECISIVE)
    if fired:
        return _said(VerdictState.FAIL, VerdictBasis.DETECTOR_VETO, [claim.rule for claim in fired], _fails(fired))
    open_rows = [claim for claim in deciding if claim.state is ClaimState.UNKNOWN and claim.gap is not Gap.NEW]
    critical = [claim.rule for claim in open_rows if claim.critical and claim.gap in (Gap.VOID, Gap.INCONCLUSIVE)]
    if critical:
        return _said(VerdictState.UNKNOWN, VerdictBasis.CRITICAL_UNKNOWN, critical)
    absent = [claim.rule for claim in open_rows if claim.gap in (Gap.NO_BASELINE, Gap.REMOVED)] + [*coverage.missing]
    if absent:
        return _said(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, absent)
    if open_rows:
        undecided = [claim.rule for claim in open_rows]
        return _said(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, undecided)
    quiet = [claim for claim in deciding if claim.state is ClaimState.QUIET]
    if not quiet or coverage.seen == 0:
        return _said(VerdictState.UNKNOWN, VerdictBasis.NO_RULES)
    if not coverage.complete:
        return _said(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING)
    return _said(VerdictState.PASS, VerdictBasis.CLEAN, (), _passes(quiet))


def _fails(fired: Sequence[Claim]) -> Confidence:
    """Decisive if some regression is at least 5 % by its bound."""
    bounds = [claim.uncertainty.at_least for claim in fired if claim.uncertainty is not None]
    sure = any(bound is not None and bound >= LINE for bound in bounds)
    return Confidence.DECISIVE if sure else Confidence.MARGINAL


def _passes(quiet: Sequence[Claim]) -> Confidence:
    """Decisive if every row that was timed would have seen 5 %; what is unchanged or exact needs no such proof."""
    seen = [
        claim.uncertainty.smallest_visible
        for claim in quiet
        if claim.kind is ClaimKind.DETECTION and claim.uncertainty is not None
    ]
    sure = all(visible is None or visible <= LINE for visible in seen)
    return Confidence.DECISIVE if sure else Confidence.MARGINAL
