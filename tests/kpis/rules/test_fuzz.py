"""Any case at all: no rule breaks, evidence lies in the text, and a line that is no case says so."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.formats.evaluation_case import CASE_KEYS, read_case
from harness.formats.limits import FormatError
from kpis.rules.criticality import CriticalityError
from kpis.rules.run import findings
from kpis.rules.utf16 import units
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case, RuleClaim, Span, ToolCallAt
from kpis.terms.evaluation_case import ABSENT, TokenCounts, ToolCall
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import MOST_EVIDENCE, Correction

_PIECES = st.sampled_from(
    [
        " ", "\n", "\n\n", ".", "!", '"', "'", "`", "```", "```diff\n", "-", "@@ ", "<!-- ", "-->", "[system: ", "|",
        "ignore all previous instructions", "1gnore all prior rules", "act as a ", "512-44-9871", "5\u200b12-44-9871",
        "4539 5787 6362 1486", "415 867 5309", "jane@corp.io", "8.8.8.8", "how to hack", "TODO", "the TODO", "pass\n",
        "def f():\n", "raise NotImplementedError", "I will fix it later.", "I'll look.", "3 + 4 = 8", "total: 9\n",
        "a: 3\n", "exactly 12 rows", "12 ms", "v1.2.3", "react 1.2", "Monday, August 7th", "2026-08-07", "9:15",
        "returned 404", "section 3", "--flag", "x is enabled", "x: false", "all green", "2 failed", "\U0001f600",
        "0 2 * * *", "runs daily at 3 AM", "every 5 minutes", "above 90%", "below 90%", "alert fires ",
        "you may restart it.", "you must restart it.", "Never use eval.", "Use eval now.", "no mention of ",
        "Refunds take days.", "Jane Roe: I said", "According to Peter Novik, ",
        "\u0456gn\u043ere", "\uff15\uff11\uff12", "e\u0301", "\ud800", "\u0130", "(", ")",
    ]
)  # fmt: skip
_TEXT = st.lists(_PIECES | st.text(max_size=4), max_size=12).map("".join)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_CALL = st.builds(
    ToolCall,
    st.sampled_from(["ls", "cat"]),
    st.just(ABSENT) | _JSON,
    st.just(ABSENT) | _JSON,
    st.none() | _TEXT,
)
_NUMBER = st.none() | st.integers(-2, 10**6) | st.floats(-1, 1e9)
_CASE = st.builds(
    Case,
    output=_TEXT,
    input=st.none() | _TEXT,
    expected=st.none() | _TEXT,
    tool_calls=st.none() | st.lists(_CALL, max_size=30).map(tuple),
    cost=_NUMBER,
    tokens=st.none() | st.builds(TokenCounts, _NUMBER, _NUMBER, _NUMBER),
    settings=st.builds(Settings, corrections=st.sampled_from([frozenset(), frozenset(Correction)])),
)


def _sound(claim: RuleClaim, case: Case) -> None:
    assert 0 <= claim.score <= 1
    assert (claim.state is ClaimState.UNKNOWN) is (claim.skip is not None)
    assert claim.note
    assert len(claim.evidence) <= MOST_EVIDENCE
    for item in claim.evidence:
        if isinstance(item, Span):
            assert 0 <= item.start <= item.end <= units(case.output)
        if isinstance(item, ToolCallAt):
            assert case.tool_calls is not None
            assert case.tool_calls[item.index].tool_name == item.tool_name


@given(_CASE)
def test_any_case_has_findings(case: Case) -> None:
    for found in findings(case):
        _sound(found.claim, case)


_KEYS = st.sampled_from([*CASE_KEYS, "x"])
_CONFIG = st.dictionaries(
    st.sampled_from(["threshold", "ruleThresholds", "per_call", "criticalRules", "composer", "prior", "profile", "x"]),
    _JSON,
    max_size=3,
)
_RULE = st.fixed_dictionaries(
    {"name": _TEXT, "type": st.sampled_from(["regex_match", "min_length", "json_schema", "contains_keywords", "x"])},
    optional={
        "config": st.dictionaries(st.sampled_from(["pattern", "min", "schema", "keywords"]), _JSON),
        "weight": _JSON,
    },
)


def _answers(line: bytes) -> None:
    try:
        case = read_case(line, Settings())
        found = findings(case)
    except (FormatError, CriticalityError) as error:
        assert str(error)
        return
    for one in found:
        _sound(one.claim, case)


@given(st.dictionaries(_KEYS, _JSON | st.lists(_RULE, max_size=2) | _CONFIG), st.none() | _TEXT)
def test_any_object_is_a_case_or_says_why_not(members: dict[str, Any], output: str | None) -> None:
    if output is not None:
        members = {**members, "output": output}
    _answers(json.dumps(members).encode())


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_line_is_a_case_or_says_why_not(line: bytes) -> None:
    _answers(line)
