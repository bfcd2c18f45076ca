"""Correctness, oracles, incidents, gates, provider economics, prices, dominance and the Pareto front."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.context.correctness import (
    Catastrophe,
    ShownState,
    authority_loss,
    catastrophes,
    constraint_violations,
    provenance_coverage,
    stale_state,
    state_ambiguity,
)
from kpis.formulas.context.dominance import Comparison, baseline_ratio, dominance_gate, parity_gate
from kpis.formulas.context.gates import GateState, gate_state, together
from kpis.formulas.context.incidents import Evidence, Incident, incident
from kpis.formulas.context.oracles import (
    Abilities,
    Oracle,
    OracleKind,
    World,
    check,
    critical_failures,
    succeeded,
)
from kpis.formulas.context.pareto import GATES, Point, pareto
from kpis.formulas.context.prices import Profile, Tier, modelled_cost, profile_of, realised_cost, tier_for
from kpis.formulas.context.provider import (
    Counters,
    RequestClass,
    effective_rho,
    hit_ratio,
    hits_by_class,
    unrealised,
)
from kpis.formulas.context.steadiness import availability, steadiness
from kpis.formulas.context.values import Mode
from kpis.recorded_metrics import row_of
from kpis.terms.context_words import Family
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

CLEAN: dict[str, float | None] = dict.fromkeys(GATES, 0)


class TestCorrectness:
    def test_what_is_there_besides_makes_up_for_nothing(self) -> None:
        assert authority_loss(["a", "b", "c", "d"], ["a", "c", "z"]).value == 0.5
        assert authority_loss([], ["z"]).value is None

    def test_a_value_that_never_was_is_wrong_and_not_stale(self) -> None:
        shown = [
            ShownState("timeout", 60, 60, [30]),
            ShownState("mode", "old", "new", ["old"]),
            ShownState("retry", 9, 3, [5]),
        ]
        made = stale_state(shown)
        assert (made.rate.value, made.wrong) == (pytest.approx(1 / 3), 1)
        assert stale_state([]).rate.value is None

    def test_a_value_that_came_back_is_current(self) -> None:
        assert stale_state([ShownState("k", {"b": 1, "a": 2}, {"a": 2, "b": 1.0}, [{"a": 2, "b": 1}])]).rate.value == 0

    def test_provenance(self) -> None:
        assert provenance_coverage(3, 2).value == pytest.approx(2 / 3)
        assert provenance_coverage(0, 0).value is None

    def test_a_key_with_two_active_values_is_ambiguous(self) -> None:
        assert state_ambiguity({"a": [1, 2, 2], "b": [1], "c": [], "d": [1.0, 1]}).value == 0.25
        assert state_ambiguity({}).value is None

    def test_violations_count_runs_and_are_counted(self) -> None:
        made = constraint_violations([["forbidden-path"], [], ["a", "b"], []])
        assert (made.rate.value, made.rate.numerator, made.violations) == (0.5, 2, 3)
        assert constraint_violations([]).rate.value is None

    def test_every_catastrophe_is_named(self) -> None:
        made = catastrophes([Catastrophe.LOST_OBLIGATION] * 2)
        assert set(made) == set(Catastrophe)
        assert (made[Catastrophe.LOST_OBLIGATION], sum(made.values())) == (2, 2)


WORLD = World(
    exit_codes={"pytest": 0, "make": 2},
    files={"a": "1", "b": "2", "new": "3"},
    baseline={"a": "1", "b": "1", "gone": "9"},
    paths=frozenset({"out"}),
    state={"k": {"x": 1, "y": 2}},
    active_anchors=frozenset({"anchor"}),
    open_failures=frozenset({"f1"}),
    retired_failures=frozenset({"f2"}),
    open_obligations=frozenset({"o"}),
    recalled={"cp": "the code is 7"},
    cross_session_recall=False,
    actions=((Family.EDIT, "a"), (Family.RECALL, None)),
)
K = OracleKind


class TestOracles:
    @pytest.mark.parametrize(
        ("oracle", "passed"),
        [
            (Oracle(K.TESTS_PASS, "pytest"), True),
            (Oracle(K.TESTS_PASS, "make"), False),
            (Oracle(K.TESTS_PASS, "never run"), False),
            (Oracle(K.FILE_EQUALS, "a", "1"), True),
            (Oracle(K.FILE_EQUALS, "missing", None), False),
            (Oracle(K.FILE_UNCHANGED, "a"), True),
            (Oracle(K.FILE_UNCHANGED, "new"), False),
            (Oracle(K.FILE_CHANGED, "b"), True),
            (Oracle(K.FILE_CHANGED, "gone"), True),
            (Oracle(K.FILE_CHANGED, "new"), False),
            (Oracle(K.FORBIDDEN_PATH_UNCHANGED, "a"), True),
            (Oracle(K.FORBIDDEN_PATH_UNCHANGED, "b"), False),
            (Oracle(K.ARTIFACT_EXISTS, "out"), True),
            (Oracle(K.ARTIFACT_EXISTS, "in"), False),
            (Oracle(K.STATE_KEY_EQUALS, "k", {"y": 2, "x": 1}), True),
            (Oracle(K.STATE_KEY_EQUALS, "absent", None), False),
            (Oracle(K.ANCHOR_ACTIVE, "anchor"), True),
            (Oracle(K.ANCHOR_ACTIVE, "other"), False),
            (Oracle(K.FAILURE_OPEN, "f1"), True),
            (Oracle(K.FAILURE_OPEN, "f2"), False),
            (Oracle(K.FAILURE_RETIRED, "f2"), True),
            (Oracle(K.FAILURE_RETIRED, "f1"), False),
            (Oracle(K.OBLIGATION_OPEN, "o"), True),
            (Oracle(K.OBLIGATION_OPEN, "p"), False),
            (Oracle(K.RECALL_CONTAINS, "cp", "code is 7"), True),
            (Oracle(K.RECALL_CONTAINS, "cp", "8"), False),
            (Oracle(K.RECALL_CONTAINS, "nothing", ""), False),
            (Oracle(K.NO_CROSS_SESSION_RECALL), True),
            (Oracle(K.TOOL_ACTION_PRESENT, "a", family=Family.EDIT), True),
            (Oracle(K.TOOL_ACTION_PRESENT, "b", family=Family.EDIT), False),
            (Oracle(K.TOOL_ACTION_ABSENT, family=Family.BUILD), True),
            (Oracle(K.TOOL_ACTION_ABSENT, family=Family.EDIT), False),
        ],
    )
    def test_each_kind(self, oracle: Oracle, passed: bool) -> None:
        assert check(oracle, WORLD).passed is passed

    @pytest.mark.parametrize("kind", list(OracleKind))
    def test_nothing_passes_in_a_world_that_nobody_looked_at(self, kind: OracleKind) -> None:
        assert check(Oracle(kind, "x", "y", Family.READ), World()).passed is False

    def test_what_an_arm_lacks_does_not_apply_to_it(self) -> None:
        bare = Abilities(state=False, recall=False)
        spared = {
            kind for kind in OracleKind if not check(Oracle(kind, "x", "y", Family.RECALL), WORLD, bare).applicable
        }
        assert spared == {
            K.STATE_KEY_EQUALS,
            K.ANCHOR_ACTIVE,
            K.FAILURE_OPEN,
            K.FAILURE_RETIRED,
            K.OBLIGATION_OPEN,
            K.RECALL_CONTAINS,
            K.TOOL_ACTION_PRESENT,
        }

    def test_where_nothing_applies_nothing_succeeded(self) -> None:
        spared = check(Oracle(K.ANCHOR_ACTIVE, "anchor"), WORLD, Abilities(state=False))
        held = check(Oracle(K.ARTIFACT_EXISTS, "out"), WORLD)
        broken = check(Oracle(K.FORBIDDEN_PATH_UNCHANGED, "b"), WORLD)
        assert (succeeded([spared]), succeeded([]), succeeded([spared, held])) == (None, None, True)
        assert succeeded([held, broken]) is False
        assert critical_failures([held, broken, spared]) == [broken.oracle]

    def test_a_probe_that_broke_is_not_left_out(self) -> None:
        assert steadiness({"a": True, "b": None, "c": False, "d": True}).value == 0.5
        assert steadiness({}).value is None

    def test_nothing_attempted_is_not_available(self) -> None:
        assert availability(19, 1).value == 0.95
        assert availability(0, 0).value is None
        assert availability(0, 0, Mode.REFERENCE).value == 1


ORDERED = {
    Incident.AUTHORITY_LOSS: {"anchor_failed": True},
    Incident.STATE_STALE: {"state_key_failed": True},
    Incident.MISSING_OBLIGATION: {"obligation_failed": True},
    Incident.RECALL_NOT_TRIGGERED: {"recall_required": True},
    Incident.RECALL_FAILED: {"recall_required": True, "recall_triggered": True},
    Incident.MISSING_EVIDENCE: {"failure_retired_failed": True},
    Incident.REOPENED_RESOLVED_BRANCH: {"failure_open_failed": True, "failures_retired": 1},
    Incident.MISSING_RATIONALE: {"rationale_missing": True},
    Incident.DUPLICATE_WORK: {"duplicates": 2},
    Incident.WRONG_TARGET: {"edited_or_built": True, "file_oracle_failed": True},
    Incident.UNKNOWN: {},
}


class TestIncidents:
    @pytest.mark.parametrize("cause", list(Incident))
    def test_each_cause_alone(self, cause: Incident) -> None:
        assert incident(True, False, Evidence(**ORDERED[cause])) is cause

    def test_the_first_of_two_wins(self) -> None:
        order = list(Incident)
        for first, later in pairwise(order):
            both = {**ORDERED[later], **ORDERED[first]}
            if first is Incident.RECALL_NOT_TRIGGERED:
                both["recall_triggered"] = False
            assert incident(True, False, Evidence(**both)) is first, (first, later)

    def test_it_takes_a_reference_that_passed_and_a_run_that_failed(self) -> None:
        for pair in ((False, False), (True, True), (None, False), (True, None)):
            assert incident(*pair, Evidence(anchor_failed=True)) is None

    def test_one_lost_anchor_is_enough_but_for_the_reference(self) -> None:
        evidence = Evidence(anchor_failed=True, anchors_left=3, duplicates=1)
        assert incident(True, False, evidence) is Incident.AUTHORITY_LOSS
        assert incident(True, False, evidence, Mode.REFERENCE) is Incident.DUPLICATE_WORK

    def test_a_missing_rationale_is_found_by_an_oracle_of_recall(self) -> None:
        evidence = Evidence(recall_oracle_failed=True, rationale_missing=True)
        assert incident(True, False, evidence) is Incident.MISSING_RATIONALE
        assert incident(True, False, evidence, Mode.REFERENCE) is Incident.RECALL_FAILED


class TestGates:
    ROW = row_of("authority_loss_rate")

    @pytest.mark.parametrize(
        ("value", "low", "state"),
        [
            (0, None, GateState.SATISFIED),
            (0.1, None, GateState.VIOLATED),
            (None, None, GateState.OPEN),
            (None, 0.0, GateState.OPEN),
            (None, 0.1, GateState.VIOLATED),
        ],
    )
    def test_without_value_a_gate_is_open(self, value, low, state: GateState) -> None:
        metric = Metric(self.ROW.id, value, Basis.FORMULA, undefined="why" if value is None else None, low=low)
        assert gate_state(self.ROW, metric) is state

    def test_a_missing_metric_satisfies_nothing(self) -> None:
        assert gate_state(self.ROW, None) is GateState.OPEN
        higher = row_of("provenance_coverage")
        assert gate_state(higher, Metric(higher.id, 0.9, Basis.FORMULA)) is GateState.VIOLATED
        assert gate_state(higher, Metric(higher.id, 1, Basis.FORMULA)) is GateState.SATISFIED

    def test_a_row_without_target_is_no_gate(self) -> None:
        with pytest.raises(ValueError, match="no target"):
            gate_state(row_of("raf_1"), None)

    def test_several_stand_as_their_worst(self) -> None:
        satisfied, opened, violated = GateState
        assert together([satisfied, opened]) is opened
        assert together([opened, violated, satisfied]) is violated
        assert together([]) is opened


class TestProvider:
    def test_realised_rho(self) -> None:
        assert effective_rho(0.02, 0.910) == pytest.approx(0.1082)
        assert effective_rho(0.02, 0.9) == pytest.approx(0.118)  # printed for h = .910
        assert hit_ratio(Counters(253, 2176)).value == pytest.approx(0.896, abs=5e-4)

    @given(st.floats(-2, 3), st.floats(0, 1))
    def test_h_is_held_within_its_range(self, hit: float, rho: float) -> None:
        assert rho - 1e-9 <= effective_rho(rho, hit) <= 1 + 1e-9

    def test_classes_stay_apart_and_silence_is_no_zero(self) -> None:
        made = hits_by_class(
            [
                (RequestClass.NORMAL, Counters(100, 900)),
                (RequestClass.NORMAL, Counters(0, 0)),
                (RequestClass.AFTER_ROOT, Counters(900, 100)),
                (RequestClass.AFTER_LEAF, Counters(500, None)),
            ]
        )
        normal, leaf = made[RequestClass.NORMAL], made[RequestClass.AFTER_LEAF]
        assert (normal.total.value, normal.each, normal.empty) == (0.9, (0.9,), 1)
        assert made[RequestClass.AFTER_ROOT].total.value == 0.1
        assert (leaf.total.value, leaf.silent) == (None, 1)
        assert made[RequestClass.AFTER_RECALL].total.value is None

    def test_the_gap_is_unknown_where_the_provider_is_silent(self) -> None:
        assert (unrealised(1000, 900), unrealised(1000, 1200), unrealised(1000, None)) == (100, -200, None)


FLAT = Profile("flat", "2026-09-28", (Tier(1.0, 0.1, 4.0, 1.25),))
TIERED = Profile("tiered", "2026-09-28", (Tier(1, 0.1, 2, up_to=100), Tier(2, 0.2, 4)))


class TestPrices:
    def test_a_bound_is_inside_its_tier_and_the_last_has_none(self) -> None:
        assert [tier_for(TIERED, prompt).miss for prompt in (0, 100, 101, 10**9)] == [1, 1, 2, 2]

    def test_realised_cost_prices_every_request_in_its_own_tier(self) -> None:
        small, large = Counters(50, 50, None, 10), Counters(101, 0, None, 0)
        assert realised_cost(TIERED, [small, large]) == pytest.approx((50 + 5 + 20 + 202) / 1e6)

    def test_a_missing_counter_or_price_leaves_the_cost_unknown(self) -> None:
        assert realised_cost(FLAT, [Counters(1, 1, None, 1)]) is None
        assert realised_cost(FLAT, [Counters(1, None, 0, 1)]) is None
        assert realised_cost(TIERED, [Counters(1, 1, 5, 1)]) is None
        assert realised_cost(FLAT, [Counters(100, 10, 4, 1)]) == pytest.approx((100 + 1 + 4 + 5) / 1e6)

    def test_modelled_cost_splits_by_the_assumed_hit_ratio(self) -> None:
        assert modelled_cost(FLAT, 1000, 100, 10, 0.9) == pytest.approx((100 + 100 + 90 + 40) / 1e6)
        assert modelled_cost(TIERED, 10, 10, 0, 1, write=5) is None

    def test_tiers_rise(self) -> None:
        for tiers in (
            (),
            (Tier(1, 1, 1), Tier(1, 1, 1)),
            (Tier(1, 1, 1, up_to=9), Tier(1, 1, 1, up_to=9), Tier(1, 1, 1)),
        ):
            with pytest.raises(ValueError, match="rising bounds"):
                Profile("odd", "now", tiers)

    def test_from_its_json_form(self) -> None:
        prices = {"inputMissPerM": 2, "inputHitPerM": 1, "outputPerM": 3}
        row = {"id": "p", "asOf": "2026-01-01", "tiers": [{**prices, "upToTokens": 5}, prices]}
        made = profile_of(row)
        assert (made.rho(), made.tiers[0].up_to, made.tiers[1].write) == (0.5, 5, None)
        assert Profile("free", "now", (Tier(0, 0, 0),)).rho() is None


class TestDominance:
    def test_gates_hold_everywhere_or_not_at_all(self) -> None:
        cheap, even = Comparison("w1", 0.9, 1), Comparison("w2", 0.97, 1.1)
        assert (parity_gate([cheap, even]), dominance_gate([cheap, even])) == (GateState.SATISFIED, GateState.VIOLATED)
        assert parity_gate([cheap, replace(even, quality_ratio=0.99)]) is GateState.VIOLATED

    def test_unknown_is_open_and_a_known_failure_is_not(self) -> None:
        unknown = Comparison("w", None, 1)
        assert (parity_gate([unknown]), parity_gate([])) == (GateState.OPEN, GateState.OPEN)
        assert parity_gate([unknown, Comparison("x", 1.0, 1)]) is GateState.VIOLATED

    def test_a_ratio_needs_a_baseline_above_zero(self) -> None:
        assert baseline_ratio(0.8, 1).value == 0.8
        assert (baseline_ratio(1, 0).value, baseline_ratio(1, -1).value) == (None, None)


class TestPareto:
    def test_correctness_is_a_filter(self) -> None:
        good = Point("good", 10, 10, 0.9, CLEAN)
        cheap_but_wrong = Point("wrong", 1, 1, 1, {**CLEAN, "crossSessionLeak": 1})
        unknown = Point("unknown", 1, 1, 1, {**CLEAN, "authorityLossRate": None})
        made = pareto([good, cheap_but_wrong, unknown])
        assert made.frontier == ("good",)
        assert made.excluded == {"wrong": ("crossSessionLeak",)}
        assert made.open == {"unknown": ("authorityLossRate",)}

    def test_a_gate_that_is_not_named_is_open(self) -> None:
        assert set(pareto([Point("p", 1, 1, 1, {})]).open["p"]) == set(GATES)

    @given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=8))
    def test_the_front_is_never_empty_and_nobody_on_it_is_beaten(self, rows) -> None:
        made = pareto([Point(str(at), cost, peak, win, CLEAN) for at, (cost, peak, win) in enumerate(rows)])
        assert made.frontier
        assert len(made.frontier) + len(made.dominated) == len(rows)
        front = [rows[int(each)] for each in made.frontier]
        assert not any(a != b and a[0] <= b[0] and a[1] <= b[1] and a[2] >= b[2] for a in front for b in front)
