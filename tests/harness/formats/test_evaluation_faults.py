"""What is wrong with a rule that somebody wrote is known when it is deployed, and told with what was meant."""

from __future__ import annotations

import pytest

from harness.formats.evaluation_faults import fault_of
from kpis.rules.custom import TYPES
from kpis.rules.custom_keys import CONFIG_KEYS
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_settings import Settings
from tests.kpis.rules.test_custom import BROKEN, EACH


@pytest.mark.parametrize(("kind", "config"), BROKEN)
def test_a_broken_rule_is_known_before_any_case(kind: str, config: dict[str, object]) -> None:
    assert fault_of(CustomRule("theirs", kind, config), Settings()) is not None


def test_a_rule_that_can_be_asked_has_no_fault() -> None:
    """Of every type, also one that would fire or skip on the case that is tried."""
    asked = [(kind, config) for _, kind, config, _, _ in EACH]
    asked += [("cost_threshold", {"max_cost": 0.5}), ("cost_threshold", {"max_usd": 0.5})]
    assert [fault_of(CustomRule("theirs", kind, config), Settings()) for kind, config in asked] == [None] * len(asked)
    assert {kind for kind, _ in asked} == CONFIG_KEYS.keys() == TYPES.keys()
    seen = {kind: {key for other, config in asked if other == kind for key in config} for kind in TYPES}
    unseen = {kind: set(keys) - seen[kind] for kind, keys in CONFIG_KEYS.items()}
    assert unseen == {kind: {"length"} if kind == "max_length" else set() for kind in TYPES}


@pytest.mark.parametrize(
    ("kind", "config", "said"),
    [
        (
            "contains_keywords",
            {"keywords": ["a"], "treshold": 0.5},
            "treshold' in its config (did you mean threshold?)",
        ),
        ("cost_threshold", {"max_usd": 1, "max-cost": 2}, "'max-cost' in its config (did you mean max_cost?)"),
        ("min_lenght", {"min": 1}, "'min_lenght' (did you mean min_length?); the types are regex_match, "),
        ("json_schema", {"schema": {"properties": {"a": {"$ref": "#/$defs/b"}}}}, "#/$defs/b leads nowhere"),
        ("max_length", {"max": "9"}, "theirs cannot be asked: max is '9', and has to be a number above nought"),
    ],
)
def test_a_fault_is_told_with_what_was_meant(kind: str, config: dict[str, object], said: str) -> None:
    fault = fault_of(CustomRule("theirs", kind, config), Settings())
    assert fault is not None
    assert said in fault


def test_a_fault_is_one_under_the_settings_that_are_chosen() -> None:
    rule = CustomRule("theirs", "regex_match", {"pattern": "(a+)+$"})
    assert fault_of(rule, Settings()) is None
    assert fault_of(rule, Settings(corrections=frozenset())) is not None
