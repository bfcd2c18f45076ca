"""Facts of a workload as words: the ladder's turn is an agent step, and what is unknown is no zero."""

from __future__ import annotations

from typing import Any

import pytest

from harness.report.facts import facts_in_words

CALLS = {"calls_with_class": 0, "format": "calls", "tool_calls": 1247, "tools": 1, "world": "default"}
UNREPORTED = {"basis": "reported", "fresh_in": None, "out": None, "requests": 72, "requests_without_usage": 72}
REPORTED = {
    "basis": "reported",
    "fresh_in": 42,
    "cache_read": 506_652,
    "cache_write": None,
    "out": 6911,
    "messages_left_out": 0,
    "placeholder_outputs": 0,
    "requests_without_usage": 0,
}


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, ""),
        (CALLS, "format calls, 1,247 tool calls, 1 tool, world default"),
        (UNREPORTED, "72 requests; tokens unknown"),
        (REPORTED, "tokens reported: 42 fresh in, 506,652 read from cache, 6,911 out"),
        (
            {**REPORTED, "placeholder_outputs": 1, "requests_without_usage": 2},
            "tokens reported: at least 42 fresh in, 506,652 read from cache, 6,911 out "
            "(2 requests without usage, 1 placeholder output)",
        ),
        ({"format": "claude-code", "turns": 11, "steps": 23}, "format claude-code, 11 prompts, 23 turns (agent steps)"),
        ({"format": "jsonl-session", "turns": 72, "steps": 72}, "format jsonl-session, 72 turns (agent steps)"),
        ({"format": "claude-code", "turns": 1, "steps": 1}, "format claude-code, 1 prompt, 1 turn (agent step)"),
        ({"turns": 3}, "3 turns"),
        ({"threads": "many", "tool_calls": None, "spans": 1234}, "spans 1,234, threads many"),
    ],
)
def test_facts_are_words_and_what_is_unknown_is_no_zero(facts: dict[str, Any], text: str) -> None:
    assert facts_in_words(facts) == text
