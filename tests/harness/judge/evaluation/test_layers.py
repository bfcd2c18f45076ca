"""The order of the layers, the lines between them, and who gets the blame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.judge.evaluation.judge import Evaluation, judge
from harness.judge.evaluation.layers import Consulted, by_prior, compose, tau
from harness.judge.evaluation.risk import RiskEstimate
from kpis.terms.claim import Confidence, VerdictBasis, VerdictState
from kpis.terms.evaluation import Finding, RuleFacts
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import (
    Bundle,
    Correction,
    FailureClass,
    Need,
    RuleKind,
    SkipClass,
    ThresholdSource,
)
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

PASS, FAIL, UNKNOWN = VerdictState.PASS, VerdictState.FAIL, VerdictState.UNKNOWN
BLOCKLIST = facts("no_blocklist_words", RuleKind.POLICY, critical=True)
EMPTY = facts("non_empty_output", RuleKind.POLICY)
KEYWORDS = facts("my_keywords", RuleKind.POLICY, custom=True)

GATE = fired(BLOCKLIST)
VETO = fired(DETECTORS["pii"])
OPEN = skipped(replace(KEYWORDS, name="my_regex"), SkipClass.CONFIG_INVALID, "the pattern is too long", critical=True)
RISKY = fired(DETECTORS["fabrication"])
CLEAN = quiet(DETECTORS["stub"])


def judged(findings: list[Finding], settings: Settings = AS_REFERENCE, **chosen: Any) -> Evaluation:
    return judge(findings, frozenset({Need.OUTPUT}), replace(settings, **chosen), TABLE)


def said(
    findings: list[Finding], settings: Settings = AS_REFERENCE, **chosen: Any
) -> tuple[object, str, tuple[str, ...]]:
    verdict = judged(findings, settings, **chosen).verdict
    return verdict.state, verdict.basis.value, verdict.by


def test_each_layer_beats_all_below_it() -> None:
    needed = (Need.COST,)
    assert said([RISKY, OPEN, VETO, GATE], required_evidence=needed) == (FAIL, "policy_gate", ("no_blocklist_words",))
    assert said([RISKY, OPEN, VETO], required_evidence=needed) == (FAIL, "detector_veto", ("no_pii",))
    assert said([RISKY, OPEN], required_evidence=needed) == (UNKNOWN, "critical_unknown", ("my_regex",))
    assert said([RISKY], required_evidence=needed) == (UNKNOWN, "required_evidence_missing", ("cost",))
    assert said([RISKY]) == (FAIL, "risk_over_loss", ("fabrication",))
    assert said([CLEAN]) == (PASS, "clean", ())
    assert said([skipped(LENGTH)]) == said([]) == (UNKNOWN, "no_rules", ())


def test_only_where_the_risk_was_consulted_is_it_told() -> None:
    for findings, told in (([RISKY, GATE], False), ([RISKY, VETO], False), ([RISKY, OPEN], False), ([RISKY], True)):
        verdict = judged(findings).verdict
        assert (verdict.risk is not None) is (verdict.confidence is not None) is told
    assert judged([quiet(LENGTH)]).verdict.risk is None, "nothing that is quiet about a class was asked"


@pytest.mark.parametrize("skip", [SkipClass.DEFEATED, SkipClass.CONFIG_INVALID])
@pytest.mark.parametrize(
    ("choice", "state", "basis"),
    [("unknown", UNKNOWN, "critical_unknown"), ("fail", FAIL, "critical_unknown"), ("pass", PASS, "clean")],
)
def test_a_critical_rule_that_could_not_answer(skip: SkipClass, choice: str, state: object, basis: str) -> None:
    silent = skipped(DETECTORS["pii"], skip, critical=True)
    found = judged([silent, CLEAN], on_critical_skipped=choice)
    assert (found.verdict.state, found.verdict.basis.value) == (state, basis)
    assert found.tally.critical_skipped == ("no_pii",)
    assert [item.severity for item in found.interpretations if item.rule == "no_pii"] == (
        [] if choice == "pass" else ["block"]
    )


@pytest.mark.parametrize("choice", ["unknown", "fail", "pass"])
def test_a_rule_that_does_not_apply_was_not_asked(choice: str) -> None:
    found = judged([skipped(COST, critical=True), CLEAN], on_critical_skipped=choice)
    assert found.verdict.state is PASS
    assert found.tally.critical_skipped == ("cost_under_threshold",), "it is named all the same"


def test_a_rule_that_is_not_critical_may_be_broken() -> None:
    assert said([replace(OPEN, critical=False), CLEAN]) == (PASS, "clean", ())


def test_a_shipped_threshold_advises_and_a_chosen_one_decides() -> None:
    shipped, chosen = fired(COST, source=ThresholdSource.DEFAULT), fired(COST, source=ThresholdSource.CONFIG)
    assert said([shipped]) == (PASS, "clean", ())
    assert said([chosen]) == said([shipped], defaults_gate=True) == (FAIL, "policy_gate", ("cost_under_threshold",))
    assert said([fired(COST, source=ThresholdSource.CALL)])[1] == "policy_gate"
    assert said([replace(shipped, critical=True)])[1] == "policy_gate"
    assert said([fired(EMPTY)]) == (FAIL, "policy_gate", ("non_empty_output",)), "it has no number that was shipped"
    assert [(each.severity, each.rule, each.setting) for each in judged([shipped]).interpretations] == [
        ("warn", "cost_under_threshold", "defaultsGate")
    ]


def test_a_custom_rule_advises_unless_it_is_critical() -> None:
    assert said([fired(KEYWORDS)]) == (PASS, "clean", ())
    assert said([fired(KEYWORDS)], defaults_gate=True)[1] == "policy_gate"
    assert said([fired(KEYWORDS, critical=True)])[1] == "policy_gate"
    assert said([fired(BLOCKLIST, critical=False)])[1] == "policy_gate", "demoted, it still has no shipped number"


def test_a_judgment_decides_and_a_measurement_only_when_promoted() -> None:
    assert said([fired(facts("model_says", RuleKind.JUDGMENT))])[1] == "policy_gate"
    assert said([fired(LENGTH, source=ThresholdSource.CONFIG)]) == (PASS, "clean", ())
    assert said([fired(LENGTH, critical=True)]) == (FAIL, "detector_veto", ("min_output_length",))
    assert [(each.severity, each.rule) for each in judged([fired(LENGTH)]).interpretations] == [
        ("note", "min_output_length")
    ]


def test_measurements_and_policies_never_change_the_risk() -> None:
    alone = judged(detectors(4)).verdict.risk
    beside = judged([*detectors(4), fired(LENGTH), fired(COST, source=ThresholdSource.DEFAULT), fired(KEYWORDS)])
    assert beside.verdict.risk == alone


def _risk(p_bad: float, low: float, high: float) -> Consulted:
    chances = dict.fromkeys(FailureClass, None) | {FailureClass.STUB: p_bad}
    return Consulted(frozenset(), RiskEstimate(p_bad, low, high, chances, ()), borne_out=True)


@pytest.mark.parametrize(
    ("p_bad", "low", "high", "state", "confidence"),
    [
        (0.5, 0.4, 0.6, PASS, Confidence.MARGINAL),  # at the line is not over it
        (0.5001, 0.4, 0.6, FAIL, Confidence.MARGINAL),
        (0.6, 0.5, 0.7, FAIL, Confidence.MARGINAL),  # the ends belong to the interval
        (0.6, 0.5001, 0.7, FAIL, Confidence.DECISIVE),
        (0.4, 0.3, 0.5, PASS, Confidence.MARGINAL),
        (0.4, 0.3, 0.4999, PASS, Confidence.DECISIVE),
    ],
)
def test_over_the_line_is_strict_and_marginal_is_inclusive(
    p_bad: float, low: float, high: float, state: object, confidence: object
) -> None:
    verdict = compose([CLEAN], AS_REFERENCE, _risk(p_bad, low, high))
    assert (verdict.state, verdict.confidence) == (state, confidence)


def test_what_a_false_pass_costs_moves_the_line() -> None:
    assert (tau(1), tau(0), tau(19)) == (0.5, 1, 0.05)
    stub = detectors(4, "stub")
    assert said(stub) == (FAIL, "risk_over_loss", ())
    assert said(stub, false_pass_cost=0.05) == (PASS, "clean", ())
    assert said(detectors(4), false_pass_cost=19)[:2] == (FAIL, "risk_over_loss")


def test_the_composer_of_old() -> None:
    old = replace(AS_REFERENCE, composer="legacy")
    assert said([VETO, GATE], old) == (FAIL, "detector_veto", ("no_pii", "no_blocklist_words"))
    assert said([GATE], old) == (FAIL, "policy_gate", ("no_blocklist_words",))
    assert said([RISKY, CLEAN], old) == (FAIL, "score_below_threshold", ("no_hallucination_markers",))
    assert said([RISKY, CLEAN], old, threshold=0.6) == (PASS, "clean", ()), "the score is 0.6 exactly"
    assert said([skipped(LENGTH)], old) == (UNKNOWN, "no_rules", ())
    assert judged([CLEAN], old).verdict.risk is None


OWN = Settings()


def test_correction_blame_is_named() -> None:
    stub = detectors(4, "stub")
    assert said(stub, OWN) == (FAIL, "risk_over_loss", ("stub",))
    quiet_but_costly = said(detectors(4), OWN, false_pass_cost=19)
    assert quiet_but_costly == (FAIL, "risk_over_loss", ("stub",)), "nothing fired: the likeliest class is named"
    assert said(detectors(6), OWN, prior_mode="per-class")[2] != ()


def test_correction_decisive_needs_a_fire() -> None:
    for chosen in ({"prior": 0.99}, {"prior": 0.9, "prior_mode": "per-class"}):
        theirs, ours = judged(detectors(4), **chosen), judged(detectors(4), OWN, **chosen)
        assert theirs.verdict.basis is ours.verdict.basis is VerdictBasis.RISK_OVER_LOSS
        assert theirs.verdict.confidence is Confidence.DECISIVE
        assert ours.verdict == replace(theirs.verdict, confidence=Confidence.MARGINAL, by=ours.verdict.by)
        assert [(each.severity, each.rule, each.setting) for each in ours.interpretations] == [("note", None, "prior")]
        beside = [*detectors(4), fired(LENGTH), fired(COST, source=ThresholdSource.DEFAULT)]
        assert judged(beside, OWN, **chosen).verdict == ours.verdict, "a measurement is no sign of what is blamed"
        assert judged(detectors(4, "stub"), OWN, **chosen).verdict.confidence is Confidence.DECISIVE


def test_which_verdict_is_the_prior_s() -> None:
    quiet_ones, stub = detectors(4), detectors(4, "stub")
    assert by_prior(quiet_ones, judged(quiet_ones, prior=0.99).verdict)
    assert not by_prior(stub, judged(stub, prior=0.99).verdict)
    assert not by_prior(quiet_ones, judged(quiet_ones).verdict), "a pass"
    assert not by_prior([GATE], judged([GATE], prior=0.99).verdict)


def test_correction_decisive_needs_labels() -> None:
    assert judged(detectors(4)).verdict.confidence is Confidence.DECISIVE
    assert judged(detectors(4), OWN).verdict.confidence is Confidence.MARGINAL
    assert judged(detectors(4, "fabrication"), OWN).verdict.confidence is Confidence.DECISIVE


def test_correction_asked_evidence_counts() -> None:
    carried = frozenset({Need.OUTPUT, Need.TOOL_CALLS, Need.TOOL_OUTPUTS})
    loop = quiet(DETECTORS["loop"])
    wanted = {"required_evidence": (Need.TOOL_CALLS, Need.TOOL_OUTPUTS)}
    before = judge([loop], carried, replace(AS_REFERENCE, **wanted), TABLE).verdict
    assert (before.basis, before.by) == (VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("tool_outputs",))
    assert judge([loop], carried, replace(OWN, **wanted), TABLE).verdict.passed
    unsent = judge([loop], carried - {Need.TOOL_OUTPUTS}, replace(OWN, **wanted), TABLE).verdict
    assert unsent.by == ("tool_outputs",)
    unseen = [skipped(DETECTORS["loop"], SkipClass.DEFEATED), CLEAN]
    gave_up = judge(unseen, carried, replace(OWN, **wanted), TABLE).verdict
    assert gave_up.by == ("tool_calls", "no_tool_loop"), "the one rule that could have used them gave up"


@pytest.mark.parametrize("skip", [SkipClass.DEFEATED, SkipClass.CONFIG_INVALID])
@pytest.mark.parametrize(
    ("silent", "chosen", "waits"),
    [
        (COST, {}, True),
        (BLOCKLIST, {}, True),
        (DETECTORS["stub"], {}, True),
        (DETECTORS["loop"], {}, True),
        (DETECTORS["loop"], {"on_critical_skipped": "pass"}, True),
        (facts("model_says", RuleKind.JUDGMENT), {}, True),
        (KEYWORDS, {}, False),
        (KEYWORDS, {"defaults_gate": True}, True),
        (LENGTH, {}, False),
    ],
)
def test_correction_unanswered_is_not_clean(
    silent: RuleFacts, chosen: dict[str, Any], waits: bool, skip: SkipClass
) -> None:
    findings = [CLEAN, skipped(silent, skip)]
    waiting = (UNKNOWN, "required_evidence_missing", (silent.name,))
    assert said(findings, OWN, **chosen) == (waiting if waits else (PASS, "clean", ()))
    assert said(findings, **chosen) == (PASS, "clean", ())
    assert said([CLEAN, skipped(silent)], OWN, **chosen) == (PASS, "clean", ()), "it was not asked"
    assert said([*findings, VETO], OWN, **chosen) == (FAIL, "detector_veto", ("no_pii",))
    assert said([*findings, RISKY], OWN, **chosen)[:2] == (FAIL, "risk_over_loss"), "a fail waits for nothing"


def test_a_bundle_waits_for_its_own_rules_only() -> None:
    elsewhere = replace(quiet(DETECTORS["stub"]), rule=replace(DETECTORS["stub"], bundle=Bundle.CUSTOM))
    found = judged([CLEAN, elsewhere, skipped(DETECTORS["pii"], SkipClass.DEFEATED)], OWN)
    assert found.categories is not None
    assert {name: each.passed for name, each in found.categories.items()} == {
        Bundle.SAFETY: False,
        Bundle.CUSTOM: True,
    }
    assert found.verdict.risk is not None, "what is known is told"


def test_correction_unmeasured_is_not_clean() -> None:
    stub = detectors(4, "stub")
    for settings, verdict in (
        (AS_REFERENCE, (PASS, "clean", ())),
        (OWN, (UNKNOWN, "required_evidence_missing", ("no_stub_output",))),
    ):
        found = judge(stub, frozenset({Need.OUTPUT}), settings, None).verdict
        assert (found.state, found.basis.value, found.by) == verdict
        assert found.risk is None
    assert judge(detectors(4), frozenset({Need.OUTPUT}), OWN, None).verdict.passed, "silence needs no accuracy"


def test_without_a_correction_the_verdict_is_the_reference_s() -> None:
    assert not AS_REFERENCE.corrections
    assert OWN.corrections == frozenset(Correction)
