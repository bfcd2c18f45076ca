"""Scores, categories, coverage, roles, uncertainty and provenance of one evaluation."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.evaluation.accuracy import Counts, Labelling
from harness.judge.evaluation.coverage import Status
from harness.judge.evaluation.judge import Evaluation, Role, judge
from harness.judge.evaluation.provenance import config_hash, ruleset_hash
from harness.judge.evaluation.risk import detectors_of
from harness.judge.evaluation.scores import tally
from harness.judge.evaluation.uncertainty import ByDefinition, ByPolicy, Published, Unmeasured
from kpis.terms.claim import VerdictState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_settings import DEFAULT_PRIOR, PROFILES, Settings
from kpis.terms.evaluation_words import Bundle, Correction, Need, Question, RuleKind, SkipClass, ThresholdSource
from tests.harness.judge.evaluation.made import (
    AS_REFERENCE,
    COST,
    DETECTORS,
    LENGTH,
    TABLE,
    detectors,
    facts,
    fired,
    quiet,
    skipped,
)

OUTPUT = frozenset({Need.OUTPUT})


def all_of(findings: list[Finding], settings: Settings = AS_REFERENCE) -> Evaluation:
    return judge(findings, OUTPUT, settings, TABLE)


def test_a_skipped_rule_never_enters_the_score() -> None:
    counted = tally([quiet(LENGTH), fired(COST, score=0.5), skipped(facts("heavy", weight=100))])
    assert (counted.score, counted.evaluated, counted.skipped, counted.insufficient) == (0.75, 2, 1, False)


@pytest.mark.parametrize(("score", "shown"), [(float("nan"), 0.5), (float("inf"), 0.5), (0.0009, 0.5), (0.0011, 0.501)])
def test_a_score_is_rounded_upwards_and_what_is_no_number_counts_nought(score: float, shown: float) -> None:
    assert tally([quiet(LENGTH), fired(COST, score=score)]).score == shown


def test_without_weight_there_is_no_mean() -> None:
    assert tally([quiet(facts("light", weight=0))]).score == 0


def test_all_skipped_is_no_score_and_no_verdict() -> None:
    found = all_of([skipped(LENGTH), skipped(COST, reason="no cost was sent")])
    assert found.verdict.state is VerdictState.UNKNOWN
    assert (found.tally.score, found.tally.insufficient) == (0, True)
    assert found.categories is not None
    assert {name.value: each.passed for name, each in found.categories.items()} == {"completeness": None, "cost": None}
    assert found.suggestions[1:] == ("min_output_length: not sent", "cost_under_threshold: no cost was sent")


def test_categories_are_given_for_all_only_and_in_running_order() -> None:
    findings = [quiet(DETECTORS["loop"]), quiet(LENGTH), quiet(DETECTORS["pii"])]
    found = all_of(findings)
    assert found.categories is not None
    assert list(found.categories) == [Bundle.COMPLETENESS, Bundle.SAFETY, Bundle.COST]
    assert judge(findings, OUTPUT, AS_REFERENCE, TABLE, Bundle.SAFETY).categories is None


def test_correction_category_by_verdict() -> None:
    findings = [
        fired(COST, score=0.0, source=ThresholdSource.CONFIG),
        *[quiet(facts(f"r{i}", bundle=Bundle.COST)) for i in range(9)],
    ]
    for settings, passed in ((AS_REFERENCE, True), (Settings(), False)):
        found = all_of(findings, settings)
        assert found.categories is not None
        assert found.categories[Bundle.COST].tally.score == 0.9
        assert found.categories[Bundle.COST].passed is passed
    found = all_of([quiet(LENGTH)], replace(Settings(), required_evidence=(Need.COST,)))
    assert found.categories is not None
    assert found.categories[Bundle.COMPLETENESS].passed, "what the whole has to see is no matter of one bundle"


def test_a_critical_failure_beside_a_score_that_would_do() -> None:
    found = all_of([fired(facts("light", weight=0.1), critical=True), quiet(LENGTH)])
    assert found.tally.critical_failures == ("light",)
    assert found.tally.score > 0.7
    assert any("light is critical" in line for line in found.suggestions)
    assert found.categories is not None
    assert found.categories[Bundle.SAFETY].passed is False


def test_the_questions_in_their_order() -> None:
    findings = [
        quiet(DETECTORS["pii"]),
        skipped(facts("other", question=Question.SAFE_OUTPUT)),
        skipped(DETECTORS["loop"], reason="no trajectory"),
        skipped(DETECTORS["silent"], reason="no trajectory"),
        skipped(COST, SkipClass.CONFIG_INVALID, "bad"),
        skipped(facts("slow", question=Question.WITHIN_BUDGET), SkipClass.DEFEATED, "slow"),
    ]
    coverage = all_of(findings).coverage
    assert coverage is not None
    assert [asked.question for asked in coverage.questions] == list(Question)
    by_name = {asked.question: asked for asked in coverage.questions}
    safe, tools, budget = (
        by_name[name] for name in (Question.SAFE_OUTPUT, Question.TOOL_USE_CORRECT, Question.WITHIN_BUDGET)
    )
    assert (safe.status, safe.why, safe.evaluated, safe.of) == (Status.JUDGED, None, 1, 2)
    assert (tools.status, tools.why) == (Status.UNJUDGED, "no trajectory"), "the same reason once"
    assert budget.why == "slow reached its bound on work", "what was defeated is named first"
    assert by_name[Question.TASK_COMPLETED].status is Status.NOT_APPLICABLE
    assert coverage.inputs == {need: need is Need.OUTPUT for need in Need}
    broken = all_of([skipped(COST, SkipClass.CONFIG_INVALID), skipped(DETECTORS["loop"])]).coverage
    assert broken is not None
    assert broken.questions[-1].why == "cost_under_threshold is defined wrongly"


def test_no_rule_at_all() -> None:
    found = judge([], OUTPUT, AS_REFERENCE, TABLE, Bundle.CUSTOM)
    assert (found.coverage, found.provenance, found.results) == (None, None, ())
    assert found.verdict.state is VerdictState.UNKNOWN


def test_uncertainty_by_kind() -> None:
    findings = [
        fired(DETECTORS["pii"]),
        quiet(DETECTORS["stub"]),
        quiet(LENGTH),
        quiet(COST),
        quiet(facts("says_a_model", RuleKind.JUDGMENT)),
        quiet(facts("somebody_elses")),
        quiet(facts("theirs", RuleKind.MEASUREMENT)),
        skipped(DETECTORS["loop"]),
    ]
    known = [each.uncertainty for each in all_of(findings).results]
    fire, silence, length, cost, model, strange, theirs, nothing = known
    assert isinstance(fire, Published)
    assert fire.fired
    assert fire.worth.point == 0.8788
    assert isinstance(silence, Published)
    assert not silence.fired
    assert length == ByDefinition(29, 29)
    assert isinstance(cost, ByPolicy)
    assert nothing is None
    for unknown in (model, strange, theirs):
        assert isinstance(unknown, Unmeasured)
    without = judge(findings, OUTPUT, AS_REFERENCE, None)
    assert [isinstance(each.uncertainty, Unmeasured) for each in without.results] == [True] * 3 + [False] + [
        True
    ] * 3 + [False]
    assert without.verdict.risk is None


def test_correction_smoothed_accuracy_and_prior_from_config() -> None:
    rare = replace(Settings(), prior=0.1)
    for settings, point, prior, configured in (
        (replace(AS_REFERENCE, prior=0.1), 1.0, 0.5, False),
        (Settings(), 0.9703, 0.5, False),
        (rare, 0.7841, 0.1, True),
        (replace(Settings(), prior=DEFAULT_PRIOR), 0.9703, 0.5, True),  # somebody said so
    ):
        known = all_of([fired(DETECTORS["loop"])], settings).results[0].uncertainty
        assert isinstance(known, Published)
        assert (known.worth.point, known.prior, known.configured) == (point, prior, configured)


def test_correction_role_by_composer() -> None:
    findings = [
        quiet(DETECTORS["pii"]),
        quiet(DETECTORS["stub"]),
        quiet(facts("somebody_elses")),
        fired(COST, source=ThresholdSource.DEFAULT),
        fired(COST, source=ThresholdSource.CONFIG),
        quiet(facts("says_a_model", RuleKind.JUDGMENT)),
        quiet(LENGTH),
    ]
    assert [each.role for each in all_of(findings).results] == [Role.VETO, *[Role.TERM] * 6]
    assert [each.role for each in all_of(findings, Settings()).results] == [
        Role.VETO,
        Role.RISK,
        Role.ADVISORY,
        Role.ADVISORY,
        Role.GATE,
        Role.GATE,
        Role.TERM,
    ]


def test_labels_of_people_make_a_clean_pass_decisive() -> None:
    verified = replace(TABLE, labelling=Labelling.HUMAN_VERIFIED)
    found = judge(detectors(4), OUTPUT, Settings(), verified).verdict
    assert found.confidence is not None
    assert found.confidence.value == "decisive"


def test_labels_of_people_vouch_for_no_detector_without_a_row() -> None:
    """Pages of clean passes would rest on one verified row, whatever else ran."""
    rows = {"no_pii": TABLE.rows["no_pii"]}
    verified = replace(TABLE, labelling=Labelling.HUMAN_VERIFIED, rows=rows)
    skipping = [quiet(DETECTORS["pii"]), skipped(DETECTORS["loop"]), quiet(LENGTH), quiet(COST)]
    for findings, sure in (
        (detectors(4), "marginal"),
        (detectors(1), "decisive"),
        (skipping, "decisive"),
    ):
        confidence = judge(findings, OUTPUT, Settings(), verified).verdict.confidence
        assert confidence is not None
        assert confidence.value == sure


def test_a_table_says_what_it_lacks() -> None:
    one_sided = replace(TABLE, rows={"no_pii": Counts(tp=3, fp=0, fn=1, tn=0)})
    found = judge([quiet(DETECTORS["pii"]), quiet(DETECTORS["stub"])], OUTPUT, Settings(), one_sided)
    assert [each.uncertainty for each in found.results] == [
        Unmeasured("the accuracy table reference-0.10.0 lacks violations or clean cases for it"),
        Unmeasured("the accuracy table reference-0.10.0 has no row for it"),
    ]


def test_the_accuracy_of_another_version_is_none() -> None:
    newer = replace(TABLE, versions={"no_stub_output": 2, "min_output_length": 3, "no_pii": 1})
    findings = [quiet(DETECTORS["pii"]), fired(DETECTORS["stub"]), quiet(LENGTH)]
    found = judge(findings, OUTPUT, Settings(), newer)
    pii, stub, length = (each.uncertainty for each in found.results)
    assert isinstance(pii, Published)
    assert stub == Unmeasured("the accuracy table reference-0.10.0 is for version 2 of it, and version 1 ran")
    assert length == Unmeasured("the accuracy table reference-0.10.0 is for version 3 of it, and version 1 ran")
    assert (found.verdict.basis.value, found.verdict.by) == ("required_evidence_missing", ("no_stub_output",))
    assert found.results[1].role is Role.ADVISORY
    assert [each.name for each in detectors_of(findings, newer)] == ["no_pii"], "it does not enter the risk"
    second = replace(DETECTORS["stub"], version=2)
    assert [each.name for each in detectors_of([fired(second)], newer)] == ["no_stub_output"]
    assert detectors_of([fired(second)], TABLE) != (), "a table that states no version serves any"


def test_the_published_hash_of_settings() -> None:
    assert config_hash(AS_REFERENCE) == "514dc05948a2f8e7"
    assert config_hash(replace(AS_REFERENCE, rule_thresholds=PROFILES["server"])) == "e715657cfa3a9fe3"


@given(st.permutations(sorted(PROFILES["server"])), st.permutations(["a", "b", "c"]))
def test_the_hash_of_settings_knows_no_order(keys: list[str], names: list[str]) -> None:
    made = replace(AS_REFERENCE, rule_thresholds={key: PROFILES["server"][key] for key in keys}, critical_rules=names)
    assert config_hash(made) == config_hash(
        replace(AS_REFERENCE, rule_thresholds=PROFILES["server"], critical_rules=["c", "a", "b"])
    )


def test_the_hash_of_rules_knows_no_order_and_every_version() -> None:
    findings = detectors(6)
    shuffled = random.Random(7).sample(findings, 6)
    assert ruleset_hash(findings) == ruleset_hash(shuffled)
    newer = [replace(findings[0], rule=replace(findings[0].rule, version=2)), *findings[1:]]
    one, other = all_of(findings).provenance, all_of(newer).provenance
    assert one is not None
    assert other is not None
    assert one.ruleset != other.ruleset
    assert replace(one, ruleset=other.ruleset) == other, "nothing else moves"


def test_correction_composer_in_hash_and_accuracy_is_pinned() -> None:
    for change in ({"prior": 0.1}, {"per_call": {"min_output_length": 9}}, {"defaults_gate": True}):
        assert config_hash(replace(AS_REFERENCE, **change)) == config_hash(AS_REFERENCE)
        assert config_hash(replace(Settings(), **change)) != config_hash(Settings())
    before, pinned = all_of(detectors(4)).provenance, all_of(detectors(4), Settings()).provenance
    assert before is not None
    assert pinned is not None
    assert (before.table, before.composer) == (None, None)
    assert pinned.table == ("reference-0.10.0", TABLE.sha256)
    assert pinned.composer is not None
    assert pinned.composer["prior"] == 0.5


@given(
    st.lists(st.sampled_from(range(3)), min_size=6, max_size=6), st.sampled_from([frozenset(), frozenset(Correction)])
)
def test_passed_is_the_state_and_nothing_else(choices: list[int], corrections: frozenset[Correction]) -> None:
    makers = (quiet, fired, skipped)
    findings = [makers[choice](rule) for choice, rule in zip(choices, DETECTORS.values(), strict=True)]
    found = all_of(findings, Settings(corrections=corrections))
    assert found.verdict.passed is (found.verdict.state is VerdictState.PASS)
    if all(choice == 2 for choice in choices):
        assert not found.verdict.passed
    assert found.tally.evaluated + found.tally.skipped == 6


def test_correction_rules_in_hash() -> None:
    """A rule that somebody wrote has no version, and its name says nothing of its pattern."""
    mine = facts("mine", RuleKind.POLICY, custom=True)
    patterns = [CustomRule("mine", "regex_match", {"pattern": each}) for each in ("sweep", "zebra")]
    one, other = (quiet(replace(mine, definition=each.digest)) for each in patterns)
    told = {
        settings is AS_REFERENCE: [all_of([each], settings).provenance for each in (one, other)]
        for settings in (AS_REFERENCE, Settings())
    }
    first, second = told[False]
    assert first is not None
    assert second is not None
    assert first.ruleset != second.ruleset
    assert first == replace(second, ruleset=first.ruleset)
    assert told[True][0] == told[True][1]
