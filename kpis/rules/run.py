"""Run the rules that a case asks for, in order, and say of each what the settings make of it."""

from __future__ import annotations

from functools import lru_cache

from kpis.rules.catalogue import BUILT_IN, NAMES
from kpis.rules.claims import skipped
from kpis.rules.criticality import checked, effective
from kpis.rules.custom import custom_rule
from kpis.rules.presence import present
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import ThresholdError
from kpis.terms.evaluation import Case, Finding, RuleClaim
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import BUNDLES, Bundle, Correction, SkipClass

__all__ = ["asked", "findings", "told_version"]

_OF_REFERENCE = 1
"""The version of every rule of the reference."""


@lru_cache(maxsize=len(Bundle))
def _built_in(bundle: Bundle) -> tuple[Rule, ...]:
    return tuple(rule for rule in BUILT_IN if rule.facts.bundle is bundle)


def asked(case: Case) -> tuple[Rule, ...]:
    """The rules of the bundle that the case names, or of all in turn; in each bundle the built-in ones come first."""
    rules: list[Rule] = []
    for bundle in BUNDLES if case.eval_type is None else (case.eval_type,):
        rules += _built_in(bundle)
        rules += [custom_rule(written) for written in case.custom_rules if written.bundle is bundle]
    return tuple(rules)


def told_version(settings: Settings) -> int | None:
    """The version that an answer names for every rule; None: each its own."""
    return None if settings.has(Correction.VERSION_IS_OURS) else _OF_REFERENCE


def _claim(rule: Rule, subject: Subject) -> RuleClaim:
    try:
        return rule.evaluate(subject)
    except ThresholdError as error:
        return skipped(str(error), SkipClass.CONFIG_INVALID)


def findings(case: Case) -> tuple[Finding, ...]:
    """What each rule found in the case, in the order in which they ran.

    Raises:
        CriticalityError: a criticality list of the settings is wrong.
    """
    promoted, demoted = checked(case.settings, NAMES)
    there = present(case)
    subject = Subject(case)
    told = told_version(case.settings)
    found: list[Finding] = []
    for rule in asked(case):
        facts = rule.facts
        critical, by_config = effective(facts, promoted, demoted)
        saw = tuple([need for need in facts.needs if there[need]])
        found.append(Finding(facts, _claim(rule, subject), critical, by_config, saw, told))
    return tuple(found)
