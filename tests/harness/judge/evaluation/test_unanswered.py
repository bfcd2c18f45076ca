"""Rules that were asked and had no answer: no pass is left, and a fail stays one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.judge.evaluation.judge import Evaluation, judge
from harness.judge.evaluation.unanswered import left_open
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle, Need, SkipClass
from tests.harness.judge.evaluation.made import DETECTORS, TABLE, fired, quiet, skipped

OPEN = "no_silent_tool_failure"


def judged(*findings: Finding, settings: Settings | None = None) -> Evaluation:
    return judge(findings, frozenset({Need.OUTPUT}), settings or Settings(), TABLE)


SILENT, STUB = skipped(DETECTORS["silent"]), quiet(DETECTORS["stub"])


def test_a_pass_is_left_open() -> None:
    clean = judged(STUB, SILENT)
    assert clean.verdict.passed
    left = left_open(clean, [OPEN], Settings())
    assert (left.verdict.state, left.verdict.basis, left.verdict.by) == (
        VerdictState.UNKNOWN,
        VerdictBasis.REQUIRED_EVIDENCE_MISSING,
        (OPEN,),
    )
    assert left.verdict.risk == clean.verdict.risk
    assert left.categories is not None
    assert left.categories[Bundle.SAFETY].passed is False


def test_a_pass_by_score_is_left_open_too() -> None:
    settings = Settings(composer="legacy")
    assert not left_open(judged(STUB, settings=settings), [OPEN], settings).verdict.passed


def test_a_fail_stays_one() -> None:
    failed = judged(fired(DETECTORS["pii"]), SILENT)
    left = left_open(failed, [OPEN], Settings())
    assert left.verdict == failed.verdict
    assert left.verdict.state is VerdictState.FAIL


@pytest.mark.parametrize(
    ("settings", "basis", "before"),
    [
        (Settings(required_evidence=(Need.COST,)), VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("cost",)),
        (Settings(), VerdictBasis.NO_RULES, ()),
    ],
)
def test_what_is_open_already_says_so_too(settings: Settings, basis: VerdictBasis, before: tuple[str, ...]) -> None:
    rules = [SILENT] if basis is VerdictBasis.NO_RULES else [STUB, SILENT]
    left = left_open(judged(*rules, settings=settings), [OPEN], settings)
    assert (left.verdict.state, left.verdict.basis, left.verdict.by) == (VerdictState.UNKNOWN, basis, (*before, OPEN))


def test_where_all_was_answered_nothing_changes() -> None:
    clean = judged(STUB)
    assert left_open(clean, [], Settings()) is clean


def test_a_bundle_that_asked_nothing_of_it_keeps_its_word() -> None:
    other = replace(STUB, rule=replace(DETECTORS["stub"], bundle=Bundle.COST))
    left = left_open(judged(other, SILENT), [OPEN], Settings())
    assert left.categories is not None
    assert (left.categories[Bundle.COST].passed, left.categories[Bundle.SAFETY].passed) == (True, None)


CRITICAL = skipped(DETECTORS["silent"], critical=True)
STATES = {"unknown": VerdictState.UNKNOWN, "fail": VerdictState.FAIL}


@pytest.mark.parametrize("choice", STATES)
def test_a_critical_rule_among_them_decides_as_the_settings_say(choice: str) -> None:
    settings = Settings(on_critical_skipped=choice)
    risky = fired(DETECTORS["fabrication"])
    for findings in ([STUB, CRITICAL], [STUB, risky, CRITICAL]):
        left = left_open(judged(*findings, settings=settings), [OPEN, "no_tool_loop"], settings)
        assert (left.verdict.state, left.verdict.basis) == (STATES[choice], VerdictBasis.CRITICAL_UNKNOWN)
        assert (left.verdict.by, left.verdict.risk) == ((OPEN,), None), "the layer of the risk was not reached"
        assert [(each.rule, each.setting) for each in left.interpretations if each.severity == "block"] == [
            (OPEN, "onCriticalSkipped")
        ]
        assert left.categories is not None
        assert left.categories[Bundle.SAFETY].passed is False


def test_a_layer_above_that_of_a_critical_rule_has_decided() -> None:
    settings = Settings(on_critical_skipped="unknown")
    veto = left_open(judged(fired(DETECTORS["pii"]), CRITICAL, settings=settings), [OPEN], settings).verdict
    assert (veto.state, veto.basis, veto.by) == (VerdictState.FAIL, VerdictBasis.DETECTOR_VETO, ("no_pii",))
    nothing = left_open(judged(CRITICAL, settings=settings), [OPEN], settings).verdict
    assert (nothing.state, nothing.basis) == (VerdictState.UNKNOWN, VerdictBasis.NO_RULES)


def test_what_is_critical_and_open_already_is_joined() -> None:
    settings = Settings()
    broken = skipped(DETECTORS["pii"], SkipClass.DEFEATED, critical=True)
    left = left_open(judged(STUB, broken, CRITICAL, settings=settings), [OPEN], settings).verdict
    assert (left.basis, left.by) == (VerdictBasis.CRITICAL_UNKNOWN, ("no_pii", OPEN))


def test_where_critical_rules_may_be_silent_the_others_may_not() -> None:
    settings = Settings(on_critical_skipped="pass")
    clean = judged(STUB, CRITICAL, settings=settings)
    assert left_open(clean, [OPEN], settings) is clean
    left = left_open(clean, [OPEN, "no_tool_loop"], settings).verdict
    assert (left.basis, left.by) == (VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("no_tool_loop",))
