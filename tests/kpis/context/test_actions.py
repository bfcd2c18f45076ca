"""Families, signatures, duplicates, windows, regret, after-fold signals and the recall chain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.context.actions import NEUTRAL, PAGINATION, REFERENCE, args_digest, family_of, family_of_op
from kpis.formulas.context.after_fold import after_fold
from kpis.formulas.context.canonical import canonical, digest, normalised_query
from kpis.formulas.context.duplicate_rates import HistoryScope, duplicate_work, duplicate_work_rate
from kpis.formulas.context.duplicates import Repeat, Repeatable, reference_duplicates, repeats
from kpis.formulas.context.efficiency import trajectory_efficiency
from kpis.formulas.context.recall_chain import (
    FactTrace,
    Link,
    RecallRun,
    broken_link,
    gratuitous_recalls,
    headline,
    success_given_trigger,
    trigger_rate,
)
from kpis.formulas.context.regret import Requested, context_regret, recall_cost, regret_at, requested_at
from kpis.formulas.context.values import Mode, Ratio
from kpis.formulas.context.windows import FoldPoint, Step, window
from kpis.terms.context_words import Family, RecallKind
from kpis.terms.trace_words import ToolOp

RECALL = RecallKind.RECALL


class TestFamilies:
    @pytest.mark.parametrize(
        ("name", "reference", "neutral"),
        [
            ("context_recall", "recall", "recall"),
            ("context_search", "search", "search"),
            ("WebSearch", "search", "search"),
            ("view", "read", "read"),
            ("bash", "test", "other"),
            ("find_latest", "test", "other"),
            ("str-replace-editor", "edit", "edit"),
            ("Edit", "edit", "edit"),
            ("compile", "build", "build"),
            ("spawn_subagent", "delegate", "delegate"),
            ("Grep", "other", "search"),
            ("Glob", "other", "search"),
            ("Task", "other", "delegate"),
            ("no such tool", "other", "other"),
        ],
    )
    def test_by_name(self, name: str, reference: str, neutral: str) -> None:
        assert family_of(name, table=REFERENCE).value == reference
        assert family_of(name).value == neutral

    @pytest.mark.parametrize(
        ("command", "family"),
        [
            ("python -m pytest -q", "test"),
            ("cd app && npm run test", "test"),
            ("make test", "test"),
            ("make", "build"),
            ("cargo build --release", "build"),
            ("cat a.py", "read"),
            ("cat a.py | sh", "other"),
            ("grep -rn foo src", "search"),
            ("rm -rf build", "other"),
            ("echo hello > a", "other"),
            (None, "other"),
        ],
    )
    def test_a_shell_call_is_what_its_command_does(self, command: str | None, family: str) -> None:
        assert family_of("bash", command, NEUTRAL).value == family

    @pytest.mark.parametrize(
        ("op", "command", "family"),
        [
            (ToolOp.LIST, None, "read"),
            (ToolOp.WEB, None, "search"),
            (ToolOp.WRITE, None, "edit"),
            (ToolOp.SPAWN, None, "delegate"),
            (ToolOp.RECALL, None, "recall"),
            (ToolOp.PLAN, None, "other"),
            (ToolOp.EXEC, "go test ./...", "test"),
            (ToolOp.EXEC, "tsc -p .", "build"),
            (ToolOp.EXEC, "cat a", "other"),
        ],
    )
    def test_by_operation(self, op: ToolOp, command: str | None, family: str) -> None:
        assert family_of_op(op, command).value == family

    def test_the_table_can_be_another(self) -> None:
        from kpis.formulas.context.actions import FamilyRule

        table = [FamilyRule(Family.TEST, frozenset({"check"}))]
        assert (family_of("check", table=table), family_of("read", table=table)) == (Family.TEST, Family.OTHER)


class TestSignatures:
    def test_the_order_of_keys_matters_to_the_reference_alone(self) -> None:
        one, other = {"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}
        assert digest(one) == digest(other)
        assert digest(one, Mode.REFERENCE) != digest(other, Mode.REFERENCE)

    def test_text_is_utf_8_and_compact(self) -> None:
        assert canonical({"ü": [1, 2.5, None, True]}) == '{"ü":[1,2.5,null,true]}'.encode()
        assert canonical("\ud800") == b'"\\ud800"'
        with pytest.raises(ValueError, match="float"):
            canonical(float("inf"))

    def test_queries(self) -> None:
        assert normalised_query("  Alpha\t\n BETA ") == "alpha beta"
        assert normalised_query("ÄÖ\u00a0 x\ufeff") == "äö x"

    def test_a_search_drops_its_target_and_the_case_of_its_words(self) -> None:
        assert args_digest(Family.SEARCH, "web", {"query": "A  b"}) == args_digest(
            Family.SEARCH, None, {"query": "a b"}
        )
        assert args_digest(Family.READ, "x", {"query": "A"}) != args_digest(Family.READ, "y", {"query": "a"})

    def test_pagination_goes_only_where_asked(self) -> None:
        pages = [{"query": "x", "page": page} for page in (1, 2)]
        assert len({args_digest(Family.SEARCH, None, page) for page in pages}) == 2
        assert len({args_digest(Family.SEARCH, None, page, drop=PAGINATION) for page in pages}) == 1

    def test_a_null_is_an_argument(self) -> None:
        assert args_digest(Family.READ, "f") != args_digest(Family.READ, "f", None)


def read(index: int, env: str | None = "h", **other) -> Repeatable:
    return Repeatable(index, other.pop("family", Family.READ), "read:f", env, env, **other)


class TestDuplicates:
    @pytest.mark.parametrize(
        ("actions", "strict", "reference"),
        [
            ([read(0), read(1)], Repeat.AVOIDABLE, 0),
            ([read(0), read(1, "other")], Repeat.CHANGED, None),
            ([read(0, None), read(1, None)], Repeat.UNKNOWN, 0),
            ([read(0), read(1, None)], Repeat.UNKNOWN, None),
            ([read(0), read(1, time_sensitive=True)], Repeat.NEEDED, 0),
            ([read(0, family=Family.EDIT), read(1, family=Family.EDIT)], Repeat.NEEDED, 0),
            ([Repeatable(0, Family.READ, "f", "h"), Repeatable(1, Family.READ, "f", "h")], Repeat.AVOIDABLE, None),
            ([read(0), read(1, "other"), read(2)], Repeat.CHANGED, None),
        ],
    )
    def test_the_two_rules(self, actions, strict: Repeat, reference: int | None) -> None:
        assert repeats(actions)[-1] is strict
        assert reference_duplicates(actions)[-1] == reference

    def test_three_in_ten(self) -> None:
        assert duplicate_work_rate(3, 10).value == 0.3
        assert duplicate_work_rate(0, 0).value is None
        assert duplicate_work_rate(0, 0, Mode.REFERENCE).value == 0

    def test_unknown_environments_give_bounds_and_no_rate(self) -> None:
        work = duplicate_work([read(0, None), read(1, None)])
        assert (work.rate().value, work.bounds()) == (None, (0, 0.5))
        assert "(1)" in (work.rate().undefined or "")

    def test_what_was_read_before_the_boundary_counts_where_the_whole_run_is_history(self) -> None:
        actions = [read(0), read(1)]
        assert duplicate_work(actions, 1).rate().value == 1
        assert duplicate_work(actions, 1, HistoryScope.CONTINUATION).rate().value == 0

    def test_no_action_after_the_boundary(self) -> None:
        work = duplicate_work([read(0)], 5)
        assert (work.rate().value, work.bounds(), work.post) == (None, None, 0)

    def test_own_actions_are_another_denominator(self) -> None:
        actions = [read(0), read(1), Repeatable(2, Family.TEST, "t", "h", "h")]
        work = duplicate_work(actions)
        assert work.rate(Family.READ).value == pytest.approx(1 / 3)
        assert work.own_rate(Family.READ).value == 0.5
        assert work.own_rate(Family.RECALL).value is None

    @given(
        st.lists(
            st.builds(
                lambda family, sig, env, sensitive: (family, sig, env, sensitive),
                st.sampled_from(Family),
                st.sampled_from("xy"),
                st.sampled_from(["1", "2"]),
                st.booleans(),
            ),
            min_size=1,
            max_size=20,
        )
    )
    def test_the_families_add_up_to_the_total(self, rows) -> None:
        actions = [Repeatable(at, row[0], row[0].value + row[1], row[2], row[2], row[3]) for at, row in enumerate(rows)]
        work = duplicate_work(actions)
        assert work.rate().value == pytest.approx(sum(work.rate(family).value or 0 for family in Family))
        assert work.rate(Family.EDIT).value == work.rate(Family.BUILD).value == 0


steps = st.lists(
    st.tuples(st.sampled_from(["read", "recall"]), st.sampled_from(["cp0", "cp1"]), st.integers(0, 500)), max_size=12
).map(
    lambda rows: [
        Step(at, Family(name), RECALL if name == "recall" else None, (ref,) if name == "recall" else (), returned)
        for at, (name, ref, returned) in enumerate(rows)
    ]
)
folds = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1000)), max_size=2).map(
    lambda rows: [FoldPoint(at, f"cp{n}", back) for n, (at, back) in enumerate(rows)]
)


class TestRegret:
    def test_fifty_and_thirty_of_four_hundred(self) -> None:
        assert context_regret([50, 30], 400).value == 0.2

    @pytest.mark.parametrize(("recalled", "reference"), [([], 0), ([0, 0], 0), ([10], float("inf"))])
    def test_nothing_reclaimed_is_no_number(self, recalled: list[int], reference: float) -> None:
        assert context_regret(recalled, 0).value is None
        assert context_regret(recalled, 0, Mode.REFERENCE).value == reference

    @given(folds, steps)
    def test_it_cannot_fall_as_the_window_grows(self, points: list[FoldPoint], taken: list[Step]) -> None:
        wanted = [requested_at(points, taken, k).tokens or 0 for k in (1, 2, 3, 5, 8)]
        assert wanted == sorted(wanted)

    @given(folds, steps, st.integers(1, 9))
    def test_it_does_not_scale(self, points: list[FoldPoint], taken: list[Step], factor: int) -> None:
        bigger = [FoldPoint(each.at, each.checkpoint, (each.reclaimed or 0) * factor) for each in points]
        longer = [Step(s.index, s.family, s.recall, s.refs, (s.returned or 0) * factor) for s in taken]
        one, other = regret_at(points, taken, 3), regret_at(bigger, longer, 3)
        assert isinstance(one, Ratio)
        assert isinstance(other, Ratio)
        assert other.value == pytest.approx(one.value)

    @pytest.mark.parametrize(
        ("point", "step", "why"),
        [
            (FoldPoint(0, None, 5), Step(0, Family.RECALL, RECALL, ("a",), 5), "no checkpoint id"),
            (FoldPoint(0, "a", 5), Step(0, Family.RECALL, RECALL, ("a",), None), "size of a recall"),
            (FoldPoint(0, "a", 5), Step(0, Family.RECALL, RECALL, ("a", "b"), 5), "several checkpoints"),
            (FoldPoint(0, "a", None), Step(0, Family.READ), "before and after a fold"),
        ],
    )
    def test_what_is_not_recorded_is_not_zero(self, point: FoldPoint, step: Step, why: str) -> None:
        made = regret_at([point], [step], 1)
        assert isinstance(made, Requested)
        assert why in (made.undefined or "")

    def test_a_fold_without_id_is_no_matter_where_nothing_is_recalled(self) -> None:
        made = regret_at([FoldPoint(0, None, 5)], [Step(0, Family.READ)], 3)
        assert made == Ratio(0, 5, 0)

    def test_recall_cost_counts_every_return_and_each_checkpoint_once(self) -> None:
        search = RecallKind.SEARCH
        uses = [
            Step(0, Family.RECALL, RECALL, ("a",), 10),
            Step(1, Family.RECALL, RECALL, ("a", "b"), 10),
            Step(2, Family.SEARCH, search, (), 5),
            Step(3, Family.READ),
        ]
        made = recall_cost(uses)
        assert (made.recalls, made.searches, made.returned, made.checkpoints) == (2, 1, 25, 2)
        assert recall_cost([Step(0, Family.RECALL, RECALL, ("a",), None)]).returned is None

    def test_a_window_has_at_least_one_action(self) -> None:
        with pytest.raises(ValueError, match="at least one action"):
            window([], 0, 0)


class TestAfterFold:
    STEPS = (Step(0, Family.READ), Step(1, Family.TEST), Step(2, Family.READ))

    def test_censored_folds_stay_in_and_are_counted(self) -> None:
        made = after_fold([FoldPoint(0, None, 1), FoldPoint(2, None, 1)], self.STEPS, Family.TEST, 3)
        assert (made.rate.value, made.eligible, made.censored) == (0.5, 2, 1)

    def test_a_fold_that_nothing_follows_is_not_asked(self) -> None:
        made = after_fold([FoldPoint(3, None, 1)], self.STEPS, Family.READ, 1)
        assert (made.rate.value, made.eligible, made.censored) == (None, 0, 0)


class TestRecall:
    RUNS = (
        RecallRun(True, True, True, True),
        RecallRun(True, True, False, False),
        RecallRun(True, False, False, False),
        RecallRun(False, True, True, True),
        RecallRun(True, True, True, False),
    )

    def test_two_rates_that_never_merge(self) -> None:
        assert trigger_rate(self.RUNS).value == 0.5
        assert success_given_trigger(self.RUNS).value == pytest.approx(1 / 3)
        assert gratuitous_recalls(self.RUNS) == 1

    def test_not_asking_fails_the_one_and_leaves_the_other_without_value(self) -> None:
        silent = [RecallRun(True, False, False, False)]
        assert (trigger_rate(silent).value, success_given_trigger(silent).value) == (0, None)
        assert trigger_rate([self.RUNS[3]]).value is None

    @pytest.mark.parametrize(
        ("fact", "link"),
        [
            (FactTrace(True, False, False, False, False), Link.PASS),
            (FactTrace(False, False, False, False, False), Link.NO_SEARCH),
            (FactTrace(False, True, False, False, False), Link.SEARCH_MISS),
            (FactTrace(False, True, False, True, False), Link.RECALL_MISS),
            (FactTrace(False, False, False, True, False), Link.RECALL_MISS),
            (FactTrace(False, True, True, False, False), Link.SEARCH_HIT_NO_RECALL),
            (FactTrace(False, True, True, True, False), Link.RETURNED_BUT_MISSED),
            (FactTrace(False, False, False, True, True), Link.RETURNED_BUT_MISSED),
        ],
    )
    def test_the_first_link_that_broke(self, fact: FactTrace, link: Link) -> None:
        assert broken_link(fact) is link

    def test_the_headline_is_the_worst(self) -> None:
        assert headline([Link.PASS, Link.SEARCH_MISS, Link.NO_SEARCH]) is Link.NO_SEARCH
        assert headline([Link.PASS]) is Link.PASS
        assert headline([]) is None


def test_efficiency_is_the_score_over_one_more_than_the_actions() -> None:
    assert trajectory_efficiency(1, 0).value == 1
    assert trajectory_efficiency(0.5, 4).value == 0.1
    assert trajectory_efficiency(None, 4).value is None
