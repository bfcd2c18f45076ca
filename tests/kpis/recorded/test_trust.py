"""Trust is the worst of its reasons."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.trust import Trust
from kpis.terms.trace import Issue, IssueCode, Recording, Severity, Thread, ThreadKind, Tokens
from tests.kpis.recorded.runs import PLACEHOLDER, parts, request, run

HELD = request(0, tokens=Tokens(1, 1, out_total=2, provenance=PLACEHOLDER))


def test_a_healthy_recording_is_ok_and_has_no_reason() -> None:
    found = parts(run([request(0, read=1, out=1)])).trust
    assert found.level is Trust.OK
    assert not list(found.reasons())


def test_no_output_at_all_is_not_recorded() -> None:
    found = parts(run([HELD]))
    assert found.trust.level is Trust.NOT_RECORDED
    assert metrics(found)["output_observed_ratio"].value == 0
    assert "1 of 1 request holds an output that its client never updated." in found.trust.reasons()


def test_some_output_is_a_lower_bound() -> None:
    found = parts(run([HELD, request(1, read=1, out=1)]))
    assert found.trust.level is Trust.LOWER_BOUND
    assert metrics(found)["output_observed_ratio"].value == 0.5


@pytest.mark.parametrize(
    "code", [IssueCode.E_TORN_LINE, IssueCode.E_LONG_LINE, IssueCode.E_UNREADABLE, IssueCode.E_BAD_NUMBER]
)
def test_one_thing_unread_is_a_reason(code: IssueCode) -> None:
    found = parts(run([request(0, read=1, out=1)], issues=[Issue(Severity.ERROR, code, "x", 3, "a.jsonl")])).trust
    assert found.level is Trust.LOWER_BOUND
    assert len(list(found.reasons())) == 1


def test_a_bad_line_and_its_issue_are_one_reason() -> None:
    issue = Issue(Severity.ERROR, IssueCode.E_BAD_LINE, "x", 3, "a.jsonl")
    recordings = (Recording("test", file="a.jsonl", bad_lines=1),)
    found = parts(run([request(0, out=1)], recordings=recordings, issues=[issue])).trust
    assert list(found.reasons()) == ["1 line could not be read."]


def test_notes_and_warnings_alone_take_nothing_away() -> None:
    issue = Issue(Severity.WARNING, IssueCode.W_ORPHAN_RESULT, "x")
    assert parts(run([request(0, out=1)], issues=[issue])).trust.level is Trust.OK


def test_a_parent_that_is_missing_and_a_price_that_is_are_reasons() -> None:
    threads = (Thread("side", ThreadKind.SUBAGENT, "main"),)
    found = parts(run([request(0, out=1, thread_id="side", model="nobody")], threads=threads)).trust
    assert found.level is Trust.LOWER_BOUND
    assert len(list(found.reasons())) == 2


def test_one_bad_run_is_seen_among_many() -> None:
    good, bad = parts(run([request(0, out=1)])), parts(run([HELD]))
    assert (good + good + bad).trust.level is Trust.LOWER_BOUND
    assert (bad + bad).trust.level is Trust.NOT_RECORDED
