"""Which rules run, what they saw, and what the settings make of them."""

from __future__ import annotations

import pytest

from kpis.rules.catalogue import BUILT_IN, NAMES
from kpis.rules.criticality import CriticalityError, checked
from kpis.rules.presence import present
from kpis.rules.run import findings
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case, RuleClaim, Skip
from kpis.terms.evaluation_case import ABSENT, TokenCounts, ToolCall
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import BUNDLES, Bundle, Need, SkipClass


def test_all_bundles_run_in_turn() -> None:
    assert [found.rule for found in findings(Case("x"))] == [rule.facts for rule in BUILT_IN]


@pytest.mark.parametrize("bundle", BUNDLES)
def test_one_bundle_runs_alone(bundle: Bundle) -> None:
    assert {found.rule.bundle for found in findings(Case("x", eval_type=bundle))} <= {bundle}


def test_a_rule_saw_what_it_needs_of_what_was_there() -> None:
    saw = {found.rule.name: found.saw for found in findings(Case("x", input="y", cost=1))}
    assert saw["keyword_overlap"] == (Need.OUTPUT, Need.INPUT)
    assert saw["expected_coverage"] == (Need.OUTPUT,)
    assert saw["cost_under_threshold"] == (Need.COST,)
    assert saw["no_tool_loop"] == ()


def test_what_is_there() -> None:
    assert [need for need, there in present(Case("")).items() if there] == [Need.OUTPUT]
    assert list(present(Case(""))) == list(Need)
    full = Case(
        "x",
        input="i",
        expected="e",
        tool_calls=(ToolCall("t", output=None),),
        cost=0,
        tokens=TokenCounts(total=3),
    )
    absent = {need for need, there in present(full).items() if not there}
    assert absent == {Need.TOOLS_CATALOGUE, Need.CITATIONS}
    assert not present(Case("x", tool_calls=(ToolCall("t", output=ABSENT),)))[Need.TOOL_OUTPUTS]
    assert not present(Case("x", tool_calls=()))[Need.TOOL_CALLS]
    assert not present(Case("x", tokens=TokenCounts()))[Need.TOKENS]


@pytest.mark.parametrize(("field", "need"), [("input", Need.INPUT), ("expected", Need.EXPECTED)])
def test_a_blank_text_is_none_and_the_reference_takes_it_for_one(field: str, need: Need) -> None:
    case = Case("x", **{field: " "})
    assert not present(case)[need]
    assert present(Case("x", settings=Settings(corrections=frozenset()), **{field: " "}))[need]


def test_a_cost_below_nothing_is_not_there() -> None:
    assert not present(Case("x", cost=-1))[Need.COST]
    assert present(Case("x", cost=-1, settings=Settings(corrections=frozenset())))[Need.COST]


def test_the_lists_promote_and_demote() -> None:
    settings = Settings(critical_rules=["sentence_count"], non_critical_rules=["no_pii", "min_output_length"])
    found = {one.rule.name: (one.critical, one.critical_by_config) for one in findings(Case("x", settings=settings))}
    assert found["sentence_count"] == (True, True)
    assert found["no_pii"] == found["min_output_length"] == (False, True)
    assert found["no_injection_patterns"] == (True, False)
    assert found["no_stub_output"] == (False, False)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(critical_rules="no_pii"), ["criticalRules must be a list"]),
        (Settings(critical_rules=["  ", 5]), ["'  '", "5"]),
        (
            Settings(non_critical_rules=["token_efficiency"]),
            ["nonCriticalRules names 'token_efficiency'", "verbosity_ratio"],
        ),
        (Settings(critical_rules=["no_pii", "x"], non_critical_rules=["no_pii"]), ["'x'", "'no_pii' is in both"]),
    ],
)
def test_a_wrong_list_is_refused_naming_every_place(settings: Settings, told: list[str]) -> None:
    with pytest.raises(CriticalityError) as refusal:
        checked(settings, NAMES)
    assert all(part in str(refusal.value) for part in told)
    with pytest.raises(CriticalityError):
        findings(Case("x", settings=settings))


def test_a_threshold_that_is_no_number_leaves_its_rule_without_an_answer() -> None:
    settings = Settings(rule_thresholds={"cost_threshold": "0.5"})
    found = next(
        one for one in findings(Case("x", cost=9, settings=settings)) if one.rule.name == "cost_under_threshold"
    )
    assert found.claim.skip is not None
    assert found.claim.skip.skip_class is SkipClass.CONFIG_INVALID
    assert "cost_threshold" in found.claim.note


def test_the_same_case_has_the_same_findings() -> None:
    case = Case("TODO: call 415-867-5309.", input="how", tool_calls=(ToolCall("t", {"b": 1, "a": 2}),))
    assert findings(case) == findings(case)


def test_a_claim_that_is_unknown_says_why_and_no_other_does() -> None:
    with pytest.raises(ValueError, match="why"):
        RuleClaim(ClaimState.UNKNOWN, 0.0, "")
    with pytest.raises(ValueError, match="why"):
        RuleClaim(ClaimState.QUIET, 1.0, "", skip=Skip(SkipClass.DEFEATED, ""))
