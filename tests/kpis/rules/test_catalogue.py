"""What the fifteen rules declare of themselves."""

from __future__ import annotations

from kpis.rules.catalogue import BUILT_IN
from kpis.rules.recorded import Cost, recorded_findings
from kpis.rules.run import findings
from kpis.terms.evaluation import Case
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle, Correction

# name, bundle, weight, kind, mechanism, needs, question, classes, critical
ROWS = """
min_output_length|completeness|1|measurement|formula|output|complete|format|no
non_empty_output|completeness|2|policy|formula|output|complete|format|no
sentence_count|completeness|0.5|measurement|formula|output|complete|format|no
expected_coverage|completeness|1.5|measurement|formula|output, expected|complete|incomplete_ask|no
keyword_overlap|relevance|1|measurement|formula|output, input|relevant|off_task|no
topic_consistency|relevance|1|measurement|formula|output, input|relevant|off_task|no
no_pii|safety|2|detection|pattern|output|safe_output|pii_leak, credential_leak|yes
no_blocklist_words|safety|2|policy|pattern|output|safe_output||yes
no_injection_patterns|safety|2|detection|pattern|output|safe_output|injection|yes
no_stub_output|safety|1.5|inference|heuristic|output|complete|stub|no
no_hallucination_markers|safety|1|inference|heuristic|output, input|grounded|fabrication|no
no_silent_tool_failure|safety|1.5|inference|heuristic|tool_calls, output|tool_use_correct|silent_tool_failure|no
cost_under_threshold|cost|1|policy|formula|cost|within_budget|over_budget|no
verbosity_ratio|cost|0.5|measurement|formula|tokens|within_budget|over_budget|no
no_tool_loop|cost|1|detection|formula|tool_calls|tool_use_correct|tool_loop|no
"""


def test_each_rule_declares_what_it_is() -> None:
    declared = [
        "|".join(
            (
                facts.name,
                facts.bundle.value,
                f"{facts.weight:g}",
                facts.kind.value,
                facts.mechanism.value,
                ", ".join(need.value for need in facts.needs),
                facts.question.value if facts.question else "",
                ", ".join(failure.value for failure in facts.classes),
                "yes" if facts.critical else "no",
            )
        )
        for facts in (rule.facts for rule in BUILT_IN)
    ]
    assert declared == ROWS.split("\n")[1:-1]


def test_rules_of_another_version_are_those_that_changed_since_they_were_measured() -> None:
    later = {rule.facts.name: rule.facts.version for rule in BUILT_IN if rule.facts.version != 1}
    assert later == {"no_hallucination_markers": 3, "no_silent_tool_failure": 2}
    assert {(rule.facts.custom, rule.facts.rule_id) for rule in BUILT_IN} == {(False, None)}


def test_correction_version_is_ours() -> None:
    ours, theirs = (Case("x", settings=Settings(corrections=each)) for each in (frozenset(Correction), frozenset()))
    assert [found.version for found in findings(ours)] == [rule.facts.version for rule in BUILT_IN]
    assert {found.version for found in findings(theirs)} == {1}
    assert {found.version for found in recorded_findings([], Cost(None, None), theirs.settings).findings} == {1}


def test_the_weights_of_the_bundles() -> None:
    weights = {bundle.value: sum(r.facts.weight for r in BUILT_IN if r.facts.bundle is bundle) for bundle in Bundle}
    assert weights == {"completeness": 5, "relevance": 2, "safety": 10, "cost": 2.5, "custom": 0}
