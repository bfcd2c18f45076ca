"""Which rules can decide a verdict alone, and which of those were asked and gave no answer.

A policy decides if it is critical, or if somebody set the number it is held against; a shipped number advises, and so
does a rule of one's own that is not critical. A sign decides by its risk, or leaves the verdict open. A measurement
does neither: it was never said that what falls short of it is bad.
"""

from __future__ import annotations

from collections.abc import Sequence

from kpis.terms.evaluation import Count, Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import RuleKind, SkipClass, ThresholdSource

__all__ = ["SIGNS", "advises", "gates", "unanswered", "waited_for"]

SIGNS = (RuleKind.DETECTION, RuleKind.INFERENCE)
"""The kinds of rules that may err, and whose accuracy counts."""

_ASKED = (SkipClass.DEFEATED, SkipClass.CONFIG_INVALID)


def advises(finding: Finding, settings: Settings) -> bool:
    """Whether a policy only advises: nobody asked for it by making it critical or by setting its number."""
    if finding.critical or settings.defaults_gate:
        return False
    if finding.rule.custom:
        return True
    return any(
        isinstance(item, Count) and item.threshold is not None and item.source is ThresholdSource.DEFAULT
        for item in finding.claim.evidence
    )


def gates(finding: Finding, settings: Settings) -> bool:
    """Whether the firing of the rule is a fail by itself, whatever it is right about."""
    kind = finding.rule.kind
    return kind is RuleKind.JUDGMENT or (kind is RuleKind.POLICY and not advises(finding, settings))


def unanswered(findings: Sequence[Finding]) -> list[Finding]:
    """Rules that were asked and could not answer; one that did not apply was not asked."""
    return [item for item in findings if item.claim.skip and item.claim.skip.skip_class in _ASKED]


def waited_for(silent: Sequence[Finding], settings: Settings) -> list[Finding]:
    """Those of the ``silent`` rules, none of them critical, without which nobody knows whether it would have passed.

    A built-in policy that was asked in vain is one whose limit or list somebody set: with its own it always answers.
    """
    return [item for item in silent if not item.critical and (item.rule.kind in SIGNS or gates(item, settings))]
