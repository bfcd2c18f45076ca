"""Tools that fail, and outputs that do not say so."""

from __future__ import annotations

import pytest

from kpis.rules.failed_call import failed
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import RuleClaim, ToolCallAt, Value
from kpis.terms.evaluation_case import ABSENT, ToolCall
from tests.kpis.rules.asking import claim

SILENT = "no_silent_tool_failure"


@pytest.mark.parametrize(
    "output",
    [
        "Error: no such host",
        "\n  fatal: not a git repository",
        "Traceback (most recent call last)\n...",
        "ValueError: bad",
        "java.lang.NullPointerException: x",
        "bash: foo: command not found",
        "ls: cannot access 'x': No such file or directory",
        "Segmentation fault (core dumped)",
        {"error": "boom"},
        {"error": {"code": 1}},
        {"error": 0},
        {"stderr": "warning"},
        {"ok": False},
        {"success": False},
        {"isError": True},
        {"is_error": True},
        {"status": "FAILED"},
        {"exit_code": 2},
        {"exitCode": -1},
        {"returncode": 1.5},
    ],
)
def test_what_a_failed_call_looks_like(output: object) -> None:
    assert failed(ToolCall("t", output=output)) is not None


@pytest.mark.parametrize(
    "output",
    [
        ABSENT,
        None,
        "",
        [],
        ["error: x"],
        "3 errors were fixed",
        "all good\nerror: in the second line",
        "a type error: x",
        "x" * 61 + "error: far off",
        " " * 400 + "error: beyond the head",
        {"error": None},
        {"error": False},
        {"error": "  "},
        {"stderr": "", "exit_code": 0},
        {"exit_code": True},
        {"exit_code": "1"},
        {"ok": None, "success": True, "isError": "true", "status": "ok"},
        {"status": 500},
    ],
)
def test_what_is_no_failure(output: object) -> None:
    assert failed(ToolCall("t", output=output)) is None


def test_an_error_text_is_a_failure_unless_blank() -> None:
    assert failed(ToolCall("t", output={"ok": True}, error="exit 1")) == "exit 1"
    assert failed(ToolCall("t", error=" \ufeff")) is None


def _claim(said: str, *made: ToolCall, reference: bool = False) -> RuleClaim:
    return claim(SILENT, said, tool_calls=made, reference=reference)


BAD = ToolCall("grep", "x", error="exit 1")


def test_a_failure_that_the_output_hides() -> None:
    found = _claim("All rows were counted.", BAD, ToolCall("ls", "y", output="a b"))
    assert (found.state, found.score, found.value) == (ClaimState.FIRED, 0.5, Value("failed_calls", "calls", 1))
    assert found.evidence == (ToolCallAt(0, "grep", "failed (unacknowledged)"),)
    assert _claim("All rows were counted.", BAD, BAD).score == 0.0


def test_the_reference_quotes_what_the_tool_said() -> None:
    found = _claim("Counted.", BAD, reference=True)
    assert found.evidence == (ToolCallAt(0, "grep", "failed: exit 1 (unacknowledged)"),)


def test_a_failure_that_the_output_owns_up_to() -> None:
    found = _claim("The search FAILED, so this is unverified.", BAD)
    assert (found.state, found.value) == (ClaimState.QUIET, Value("failed_calls", "calls", 1))
    assert found.evidence == (ToolCallAt(0, "grep", "failed (acknowledged)"),)
    assert _claim("y" * 20_000 + " failed", BAD).state is ClaimState.FIRED


def test_a_call_that_was_made_again_and_worked_hides_nothing() -> None:
    good = ToolCall("grep", "x", output="found it")
    assert _claim("Counted.", BAD, good).state is ClaimState.QUIET
    assert _claim("Counted.", good, BAD).state is ClaimState.FIRED
    assert _claim("Counted.", BAD, ToolCall("grep", "another", output="found it")).state is ClaimState.FIRED
    assert _claim("Counted.", BAD, good, reference=True).state is ClaimState.FIRED


def test_of_two_failures_one_that_was_recovered_leaves_one() -> None:
    good = ToolCall("grep", "x", output="found it")
    found = _claim("Counted.", BAD, ToolCall("cat", "z", error="no"), good)
    assert (found.state, found.score, found.value) == (ClaimState.FIRED, 0.5, Value("failed_calls", "calls", 2))


def test_evidence_reaches_the_twenty_fifth_call() -> None:
    assert len(_claim("Counted.", *[BAD] * 40).evidence) == 25


def test_none_failed_or_none_was_made() -> None:
    assert _claim("Counted.", ToolCall("ls")).value == Value("failed_calls", "calls", 0)
    assert _claim("Counted.").state is ClaimState.UNKNOWN
    assert claim(SILENT, "Counted.").state is ClaimState.UNKNOWN


def test_correction_is_error_is_seen() -> None:
    calls = (ToolCall("t", output={"is_error": True}),)
    assert claim(SILENT, "All is well.", tool_calls=calls).state is ClaimState.FIRED
    assert claim(SILENT, "All is well.", tool_calls=calls, reference=True).state is ClaimState.QUIET
    assert failed(ToolCall("t", output={"is_error": False})) is None
