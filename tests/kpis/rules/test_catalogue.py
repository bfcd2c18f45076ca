"""What the fifteen rules declare of themselves."""

from __future__ import annotations

from kpis.rules.catalogue import BUILT_IN
from kpis.terms.evaluation_words import Bundle

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


def test_every_rule_is_of_its_first_version_and_nobodys_own() -> None:
    assert {(rule.facts.version, rule.facts.custom, rule.facts.rule_id) for rule in BUILT_IN} == {(1, False, None)}


def test_the_weights_of_the_bundles() -> None:
    weights = {bundle.value: sum(r.facts.weight for r in BUILT_IN if r.facts.bundle is bundle) for bundle in Bundle}
    assert weights == {"completeness": 5, "relevance": 2, "safety": 10, "cost": 2.5, "custom": 0}
