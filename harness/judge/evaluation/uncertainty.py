"""How sure each result is, and from where that is known: its basis, with the numbers that the basis gives.

A policy is true because somebody set it, a measurement by its definition; a detection or an inference is as good as its
published accuracy, and without one it is unmeasured, which is said and never filled in.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.judge.evaluation.accuracy import HALF, AccuracyTable, Counts
from harness.judge.evaluation.deciding import SIGNS
from harness.judge.evaluation.predictive import Interval, miss_rate, ppv
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Finding, RuleFacts
from kpis.terms.evaluation_settings import DEFAULT_PRIOR, Settings
from kpis.terms.evaluation_words import Correction, RuleKind

__all__ = ["ByDefinition", "ByPolicy", "Published", "Uncertainty", "Unmeasured", "uncertainty_of", "unmeasured"]


@dataclass(frozen=True, slots=True)
class Published:
    """The accuracy of a table: of a fire the chance that it is right, of silence the chance that it is wrong."""

    fired: bool
    worth: Interval
    prior: float
    configured: bool
    counts: Counts
    table: AccuracyTable


@dataclass(frozen=True, slots=True)
class ByDefinition:
    """A measurement: in how many of ``n`` labelled cases its formula agreed with the label."""

    n: int
    matched: int


@dataclass(frozen=True, slots=True)
class ByPolicy:
    """A limit that somebody set is no estimate."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Nobody knows, and ``why``."""

    why: str


Uncertainty = Published | ByDefinition | ByPolicy | Unmeasured


def uncertainty_of(finding: Finding, settings: Settings, table: AccuracyTable | None) -> Uncertainty | None:
    """The uncertainty of one result; None for a rule that gave no answer."""
    if finding.claim.state is ClaimState.UNKNOWN:
        return None
    rule = finding.rule
    if rule.kind is RuleKind.POLICY:
        return ByPolicy()
    if rule.kind in (RuleKind.JUDGMENT, RuleKind.VERIFICATION):
        return Unmeasured(f"no labelled corpus holds what a {rule.kind.value} decides")
    if table is None:
        return Unmeasured("no accuracy table was given")
    if rule.kind is RuleKind.MEASUREMENT:
        row = table.row(rule.name, rule.version)
        if row is None:
            return _unknown(rule, table, "has no row for it")
        return ByDefinition(row.n, row.tp + row.tn)
    counts = table.of(rule.name, rule.version)
    if counts is None:
        one_sided = table.row(rule.name, rule.version) is not None
        return _unknown(rule, table, "lacks violations or clean cases for it" if one_sided else "has no row for it")
    configured = settings.has(Correction.PRIOR_FROM_CONFIG) and settings.prior is not None
    prior = settings.prior_chance if configured else DEFAULT_PRIOR
    half = HALF if settings.has(Correction.SMOOTHED_ACCURACY) else 0.0
    fired = finding.claim.state is ClaimState.FIRED
    worth = (ppv if fired else miss_rate)(rule.name, table.version, counts, prior, half)
    return Published(fired, worth, prior, configured, counts, table)


def _unknown(rule: RuleFacts, table: AccuracyTable, lacks: str) -> Unmeasured:
    """Why ``table`` gives nothing for the rule: it is for another version of it, else what it ``lacks``."""
    other = table.versions.get(rule.name, rule.version)
    if other != rule.version:
        lacks = f"is for version {other} of it, and version {rule.version} ran"
    return Unmeasured(f"the accuracy table {table.name} {lacks}")


def unmeasured(finding: Finding, table: AccuracyTable | None) -> bool:
    """Whether it is a sign whose error nobody knows: a detection or an inference without a row in ``table``."""
    rule = finding.rule
    return rule.kind in SIGNS and (table is None or table.of(rule.name, rule.version) is None)
