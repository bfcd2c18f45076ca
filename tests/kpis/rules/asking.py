"""What the tests of the rules ask with: a case in few words, and one rule's claim."""

from __future__ import annotations

from typing import Any

from kpis.rules.catalogue import BUILT_IN
from kpis.rules.run import findings
from kpis.rules.subject import Subject
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case, Finding, RuleClaim, Span
from kpis.terms.evaluation_case import CustomRule, ToolCall
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle, Correction

RULES = {rule.facts.name: rule for rule in BUILT_IN}
REFERENCE: frozenset[Correction] = frozenset()


def claim(rule: str, output: str = "", *, reference: bool = False, **case: Any) -> RuleClaim:
    """What ``rule`` finds; thresholds of the deployment and of the call are ``deployment`` and ``call``."""
    settings = Settings(
        rule_thresholds=case.pop("deployment", {}),
        per_call=case.pop("call", {}),
        corrections=REFERENCE if reference else frozenset(Correction),
    )
    return RULES[rule].evaluate(Subject(Case(output, settings=settings, **case)))


def fires(rule: str, output: str, **case: Any) -> bool:
    """Whether ``rule`` fires on ``output``; a skip is a mistake of the test."""
    found = claim(rule, output, **case)
    assert found.state is not ClaimState.UNKNOWN, found.note
    return found.state is ClaimState.FIRED


def spans(found: RuleClaim) -> list[tuple[int, int, str]]:
    """The spans of a claim."""
    return [(item.start, item.end, item.label) for item in found.evidence if isinstance(item, Span)]


def custom(output: str, kind: str, config: dict[str, object], *, reference: bool = False, **case: Any) -> Finding:
    """What a rule of type ``kind`` that somebody wrote finds."""
    settings = Settings(corrections=REFERENCE if reference else frozenset(Correction))
    rule = CustomRule("theirs", kind, config)
    asked = Case(output, eval_type=Bundle.CUSTOM, custom_rules=(rule,), settings=settings, **case)
    return findings(asked)[0]


def calls(word: str, **every: Any) -> tuple[ToolCall, ...]:
    """A trajectory of one call a letter, whose input the letter is."""
    return tuple(ToolCall("ls", {"p": letter}, **every) for letter in word)
