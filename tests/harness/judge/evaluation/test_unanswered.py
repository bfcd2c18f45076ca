"""Rules that were asked and had no answer: no pass is left, and a fail stays one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.judge.evaluation.judge import Evaluation, judge
from harness.judge.evaluation.unanswered import left_open
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle, Need
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
