"""Findings made by hand, of rules as the built-in ones declare themselves, and the reference's accuracy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.judge.evaluation.accuracy import AccuracyTable
from harness.record.accuracy import REFERENCE, named_table
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Count, Finding, RuleClaim, RuleFacts, Skip
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import (
    Bundle,
    FailureClass,
    Mechanism,
    Need,
    Question,
    RuleKind,
    SkipClass,
    ThresholdSource,
)

TABLE: AccuracyTable = named_table(REFERENCE, Path())
AS_REFERENCE = Settings(corrections=frozenset())

_SAFE, _TOOLS = Question.SAFE_OUTPUT, Question.TOOL_USE_CORRECT
_PII = (FailureClass.PII_LEAK, FailureClass.CREDENTIAL_LEAK)


def facts(
    name: str,
    kind: RuleKind = RuleKind.DETECTION,
    classes: tuple[FailureClass, ...] = (),
    *,
    bundle: Bundle = Bundle.SAFETY,
    weight: float = 1.0,
    question: Question | None = _SAFE,
    needs: tuple[Need, ...] = (Need.OUTPUT,),
    critical: bool = False,
    custom: bool = False,
) -> RuleFacts:
    """A rule."""
    return RuleFacts(
        name, bundle, weight, kind, Mechanism.PATTERN, needs, question, classes, critical=critical, custom=custom
    )


DETECTORS = {
    "pii": facts("no_pii", classes=_PII, weight=2, critical=True),
    "injection": facts("no_injection_patterns", classes=(FailureClass.INJECTION,), weight=2, critical=True),
    "stub": facts("no_stub_output", RuleKind.INFERENCE, (FailureClass.STUB,), weight=1.5, question=Question.COMPLETE),
    "fabrication": facts(
        "no_hallucination_markers", RuleKind.INFERENCE, (FailureClass.FABRICATION,), question=Question.GROUNDED
    ),
    "silent": facts(
        "no_silent_tool_failure",
        RuleKind.INFERENCE,
        (FailureClass.SILENT_TOOL_FAILURE,),
        weight=1.5,
        question=_TOOLS,
        needs=(Need.TOOL_CALLS, Need.OUTPUT),
    ),
    "loop": facts(
        "no_tool_loop", classes=(FailureClass.TOOL_LOOP,), bundle=Bundle.COST, question=_TOOLS, needs=(Need.TOOL_CALLS,)
    ),
}
"""The detectors in running order: of a text the first four, with a trajectory the first five, of all bundles all."""

COST = facts(
    "cost_under_threshold",
    RuleKind.POLICY,
    (FailureClass.OVER_BUDGET,),
    bundle=Bundle.COST,
    question=Question.WITHIN_BUDGET,
    needs=(Need.COST,),
)
LENGTH = facts(
    "min_output_length",
    RuleKind.MEASUREMENT,
    (FailureClass.FORMAT,),
    bundle=Bundle.COMPLETENESS,
    question=Question.COMPLETE,
)


def quiet(rule: RuleFacts, *, critical: bool | None = None) -> Finding:
    """The rule saw nothing."""
    return _finding(rule, RuleClaim(ClaimState.QUIET, 1.0, "nothing"), critical)


def fired(
    rule: RuleFacts, *, score: float = 0.0, source: ThresholdSource | None = None, critical: bool | None = None
) -> Finding:
    """The rule fired; ``source`` says who set the number that it was held against."""
    evidence = () if source is None else (Count("cost", "usd", 1.33, 0.1, source),)
    return _finding(rule, RuleClaim(ClaimState.FIRED, score, "something", evidence=evidence), critical)


def skipped(
    rule: RuleFacts,
    skip_class: SkipClass = SkipClass.NOT_APPLICABLE,
    reason: str = "not sent",
    *,
    critical: bool = False,
) -> Finding:
    """The rule gave no answer, and saw nothing beside the output."""
    claim = RuleClaim(ClaimState.UNKNOWN, 0.0, reason, skip=Skip(skip_class, reason))
    return replace(_finding(rule, claim, critical), saw=())


def _finding(rule: RuleFacts, claim: RuleClaim, critical: bool | None) -> Finding:
    effective = rule.critical if critical is None else critical
    return Finding(rule, claim, effective, critical is not None, rule.needs)


def detectors(count: int, *firing: str) -> list[Finding]:
    """The first ``count`` detectors, none of them critical, of which ``firing`` fired."""
    return [
        fired(rule, critical=False) if name in firing else quiet(rule, critical=False)
        for name, rule in list(DETECTORS.items())[:count]
    ]
