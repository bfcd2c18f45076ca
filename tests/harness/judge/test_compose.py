"""The family rule: which layer wins, who is named, and that unknown is never pass."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.compose import claim_of, compose, coverage_of
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
    VerdictBasis,
    VerdictState,
)
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate

LOWER, HIGHER = Direction.LOWER, Direction.HIGHER
RATIOS = {State.REGRESSED: (1.1, 1.08, 1.12), State.IMPROVED: (0.9, 0.88, 0.92), State.OK: (1.0, 0.99, 1.01)}


def row(state: State, visible: float | None = 0.03) -> Comparison:
    return Comparison(state, *RATIOS.get(state, (None, None, None)), smallest_visible=visible, evidence=("seen",))


def claim(name: str, state: State, gate: Gate = Gate.TIMED, *, critical: bool = False) -> Claim:
    return claim_of(name, row(state), gate, LOWER, critical=critical)


def verdict(*claims: Claim, coverage: Coverage | None = None):
    return compose(claims, coverage or Coverage(len(claims), len(claims)))


QUIET = claim("quiet", State.OK)
SLOW = claim("slow", State.REGRESSED)
DENIED = claim("denied", State.REGRESSED, Gate.EXACT)
BROKEN = claim("broken", State.REGRESSED, Gate.INVARIANT)
CRITICAL = claim("critical", State.VOID, critical=True)
UNSURE = claim("unsure", State.INCONCLUSIVE)
UNSURE_CRITICAL = claim("unsure critical", State.INCONCLUSIVE, critical=True)
ABSENT = claim("absent", State.NO_BASELINE)
GONE = claim("gone", State.REMOVED)
NEW = claim("new", State.NEW)
REPORT = claim("report", State.REGRESSED, Gate.REPORT)
PASS, FAIL, UNKNOWN = VerdictState.PASS, VerdictState.FAIL, VerdictState.UNKNOWN


@pytest.mark.parametrize(
    ("claims", "state", "basis", "by"),
    [
        ((QUIET,), PASS, VerdictBasis.CLEAN, ()),
        ((QUIET, NEW, REPORT), PASS, VerdictBasis.CLEAN, ()),
        ((QUIET, SLOW, DENIED, BROKEN, CRITICAL), FAIL, VerdictBasis.POLICY_GATE, ("denied", "broken")),
        ((QUIET, CRITICAL, SLOW, ABSENT), FAIL, VerdictBasis.DETECTOR_VETO, ("slow",)),
        (
            (UNSURE, CRITICAL, ABSENT, UNSURE_CRITICAL),
            UNKNOWN,
            VerdictBasis.CRITICAL_UNKNOWN,
            ("critical", "unsure critical"),
        ),
        ((QUIET, UNSURE, ABSENT, GONE), UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("absent", "gone")),
        ((QUIET, UNSURE), UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("unsure",)),
        ((), UNKNOWN, VerdictBasis.NO_RULES, ()),
        ((NEW,), UNKNOWN, VerdictBasis.NO_RULES, ()),
        ((REPORT,), UNKNOWN, VerdictBasis.NO_RULES, ()),
    ],
)
def test_the_first_layer_that_matches_wins(
    claims: tuple[Claim, ...], state: VerdictState, basis: VerdictBasis, by: tuple[str, ...]
) -> None:
    found = verdict(*claims)
    assert (found.state, found.basis, found.by, found.risk) == (state, basis, by, None)
    assert found.passed is (state is PASS)
    assert (found.confidence is None) is (state is UNKNOWN)


@pytest.mark.parametrize(
    ("coverage", "basis", "by"),
    [
        (Coverage(2, 1, ("kpi@gone",)), VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("kpi@gone",)),
        (Coverage(2, 1), VerdictBasis.REQUIRED_EVIDENCE_MISSING, ()),
        (Coverage(1, 0), VerdictBasis.NO_RULES, ()),
    ],
)
def test_a_hole_in_the_coverage_is_never_a_pass(coverage: Coverage, basis: VerdictBasis, by: tuple[str, ...]) -> None:
    """A renamed benchmark that got four times slower used to exit 0 elsewhere: coverage is gated by itself."""
    found = verdict(QUIET, coverage=coverage)
    assert (found.state, found.basis, found.by) == (UNKNOWN, basis, by)
    assert verdict(SLOW, coverage=coverage).state is FAIL


ALL = [QUIET, SLOW, DENIED, CRITICAL, UNSURE, UNSURE_CRITICAL, ABSENT, GONE, NEW, REPORT]


@given(st.lists(st.sampled_from(ALL), max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_a_pass_needs_everything(claims: list[Claim], wanted: int, seen: int) -> None:
    coverage = Coverage(wanted, seen)
    found = compose(claims, coverage)
    harmless = {QUIET, NEW, REPORT}
    assert found.passed is (set(claims) <= harmless and QUIET in claims and seen > 0 and wanted <= seen)
    assert (found.state is FAIL) is bool({SLOW, DENIED} & set(claims))
    assert compose(claims[::-1], coverage).basis is found.basis, "the order of the claims decides nothing"


def test_confidence_is_marginal_where_the_five_percent_line_runs_through() -> None:
    sharp = claim_of("a", Comparison(State.REGRESSED, 1.1, 1.06, 1.12), Gate.TIMED, LOWER)
    small = claim_of("b", Comparison(State.REGRESSED, 1.04, 1.03, 1.06), Gate.TIMED, LOWER)
    assert verdict(sharp, small).confidence is Confidence.DECISIVE
    assert verdict(small).confidence is Confidence.MARGINAL
    assert verdict(small, DENIED).confidence is Confidence.DECISIVE
    blunt = claim_of("c", row(State.OK, 0.07), Gate.TIMED, LOWER)
    untouched = claim_of("d", row(State.UNCHANGED, None), Gate.TIMED, LOWER)
    assert verdict(QUIET, untouched).confidence is Confidence.DECISIVE
    assert verdict(QUIET, blunt).confidence is Confidence.MARGINAL


def test_the_worsening_follows_the_direction() -> None:
    slower = claim_of("a", Comparison(State.REGRESSED, 0.8, 0.75, 0.85), Gate.TIMED, HIGHER)
    assert slower.uncertainty is not None
    assert slower.uncertainty.at_least == pytest.approx(1 / 0.85 - 1)
    assert slower.uncertainty.at_most == pytest.approx(1 / 0.75 - 1)
    neutral = claim_of("b", row(State.REGRESSED), Gate.EXACT, Direction.NEUTRAL)
    assert neutral.uncertainty is not None
    assert (neutral.uncertainty.at_least, neutral.uncertainty.at_most) == (None, None)


@pytest.mark.parametrize(("gate", "state"), list(product(Gate, State)))
def test_every_gate_and_state_has_its_claim(gate: Gate, state: State) -> None:
    found = claim_of("kpi", row(state), gate, LOWER)
    fired = {State.REGRESSED: ClaimState.FIRED}
    quiet = dict.fromkeys((State.OK, State.UNCHANGED, State.IMPROVED), ClaimState.QUIET)
    assert found.state is (fired | quiet).get(state, ClaimState.UNKNOWN)
    gaps = {gap.value: gap for gap in Gap}
    open_end = gaps.get(state.value, Gap.INCONCLUSIVE)
    assert found.gap is (open_end if found.state is ClaimState.UNKNOWN else None)
    assert found.kind is {Gate.TIMED: ClaimKind.DETECTION, Gate.REPORT: ClaimKind.MEASUREMENT}.get(
        gate, ClaimKind.POLICY
    )
    assert found.evidence == (Evidence(text="seen"),)


def test_where_the_error_rate_is_known_from() -> None:
    table = "ab" * 32
    bases = {
        (gate, named): claim_of("kpi", row(State.OK), gate, LOWER, table=named).uncertainty
        for gate, named in product((Gate.TIMED, Gate.EXACT), (None, table))
    }
    assert {key: found.basis for key, found in bases.items() if found is not None} == {
        (Gate.TIMED, None): UncertaintyBasis.UNMEASURED,
        (Gate.TIMED, table): UncertaintyBasis.PUBLISHED_ACCURACY,
        (Gate.EXACT, None): UncertaintyBasis.DEFINITION,
        (Gate.EXACT, table): UncertaintyBasis.DEFINITION,
    }


def test_the_coverage_of_a_gate() -> None:
    states = {
        "a": State.OK,
        "b": State.INCONCLUSIVE,
        "c": State.NEW,
        "d": State.REMOVED,
        "e": State.NO_BASELINE,
        "f": State.VOID,
    }
    found = coverage_of({name: row(state) for name, state in states.items()})
    assert found == Coverage(5, 2, ("d", "e"))
    assert not found.complete
    assert coverage_of({"a": row(State.UNCHANGED), "c": row(State.NEW)}).complete


@pytest.mark.parametrize("state", list(State))
def test_what_only_reports_is_neither_owed_nor_seen(state: State) -> None:
    found = {"a": row(State.OK), "a_growth": row(state)}
    assert coverage_of(found, reported={"a_growth"}) == Coverage(1, 1)
    claims = [claim("a", State.OK), claim("a_growth", state, Gate.REPORT)]
    assert compose(claims, coverage_of(found, reported={"a_growth"})).state is PASS


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Claim("r", ClaimKind.POLICY, ClaimState.UNKNOWN), "why"),
        (lambda: Claim("r", ClaimKind.POLICY, ClaimState.QUIET, gap=Gap.VOID), "why"),
        (Evidence, "neither"),
        (lambda: Evidence(pointer="/readings/0"), "sha256"),
        (lambda: Uncertainty(UncertaintyBasis.PUBLISHED_ACCURACY), "table"),
        (lambda: Uncertainty(UncertaintyBasis.DEFINITION, table="ab"), "table"),
        (lambda: Comparison(State.OK, ratio=float("nan")), "finite"),
        (lambda: Comparison(State.OK, 1.0, 1.1, 1.2), "do not hold"),
        (lambda: Comparison(State.OK, 1.0, None, 0.9), "do not hold"),
        (lambda: Comparison(State.OK, pairs=-1), "-1 pairs"),
    ],
)
def test_what_contradicts_itself_is_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_which_states_are_decided() -> None:
    assert [state for state in State if state.decided] == [State.OK, State.UNCHANGED, State.IMPROVED, State.REGRESSED]
