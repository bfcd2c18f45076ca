"""The whole surface: what the rules found in one case, and the settings, become one evaluation. Pure and total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from harness.judge.evaluation.accuracy import AccuracyTable, Labelling
from harness.judge.evaluation.advice import Interpretation, interpretations, suggestions
from harness.judge.evaluation.coverage import Coverage, coverage_of
from harness.judge.evaluation.deciding import SIGNS, advises
from harness.judge.evaluation.layers import Consulted, EvaluationVerdict, compose
from harness.judge.evaluation.legacy import compose_by_score
from harness.judge.evaluation.provenance import Provenance, provenance_of
from harness.judge.evaluation.risk import detectors_of, estimate
from harness.judge.evaluation.scores import Tally, evaluated, failed, tally
from harness.judge.evaluation.uncertainty import Uncertainty, uncertainty_of, unmeasured
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import BUNDLES, Bundle, Correction, Need, RuleKind

__all__ = ["Category", "Evaluation", "Judged", "Role", "judge"]

LEGACY = "legacy"


class Role(Enum):
    """What a rule is to the verdict."""

    GATE = "gate"  # its failure is a fail
    VETO = "veto"  # critical: its firing is a fail
    RISK = "risk"  # it enters the risk
    ADVISORY = "advisory"  # it is told, and decides nothing
    TERM = "term"  # it enters the score alone


@dataclass(frozen=True, slots=True)
class Judged:
    """One result: what was found, its role, how sure it is (None where it gave no answer)."""

    finding: Finding
    role: Role
    uncertainty: Uncertainty | None


@dataclass(frozen=True, slots=True)
class Category:
    """One bundle by itself. ``passed`` is None where nothing was judged."""

    tally: Tally
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One case, judged. ``bundle`` None is all of them; ``categories`` are given for all, in running order.

    Where no rule ran at all there is neither coverage nor provenance.
    """

    bundle: Bundle | None
    verdict: EvaluationVerdict
    tally: Tally
    results: tuple[Judged, ...]
    suggestions: tuple[str, ...]
    interpretations: tuple[Interpretation, ...]
    coverage: Coverage | None
    provenance: Provenance | None
    categories: Mapping[Bundle, Category] | None


def _verdict(
    findings: Sequence[Finding], present: frozenset[Need], settings: Settings, table: AccuracyTable | None
) -> EvaluationVerdict:
    if settings.composer == LEGACY:
        return compose_by_score(findings, settings.threshold)
    detectors = detectors_of(findings, table)
    risk = None if table is None else estimate(detectors, table.version, settings.prior_chance, settings.prior_mode)
    doubtful = tuple(item.rule.name for item in failed(findings) if unmeasured(item, table))
    labelled = table is not None and table.labelling is Labelling.HUMAN_VERIFIED
    # One row that people labelled vouches for its own detector, and for none of the others that ran.
    borne_out = labelled and not any(unmeasured(item, table) for item in evaluated(findings))
    return compose(findings, settings, Consulted(present, risk, doubtful, borne_out))


def _role(finding: Finding, settings: Settings, table: AccuracyTable | None) -> Role:
    if not settings.has(Correction.ROLE_BY_COMPOSER):
        return Role.VETO if finding.critical else Role.TERM
    kind = finding.rule.kind
    if kind is RuleKind.POLICY:
        return Role.ADVISORY if advises(finding, settings) else Role.GATE
    if kind is RuleKind.JUDGMENT:
        return Role.GATE
    if finding.critical:
        return Role.VETO
    if kind in SIGNS:
        return Role.ADVISORY if unmeasured(finding, table) else Role.RISK
    return Role.TERM


def _categories(
    findings: Sequence[Finding], present: frozenset[Need], settings: Settings, table: AccuracyTable | None
) -> dict[Bundle, Category]:
    alone = replace(settings, required_evidence=())  # what the whole has to see is no matter of one bundle
    categories = {}
    for bundle in BUNDLES:
        members = [item for item in findings if item.rule.bundle is bundle]
        if not members:
            continue
        counted = tally(members)
        if counted.insufficient:
            passed = None
        elif settings.has(Correction.CATEGORY_BY_VERDICT):
            passed = _verdict(members, present, alone, table).passed
        else:
            passed = counted.reached(settings.threshold)
        categories[bundle] = Category(counted, passed)
    return categories


def judge(
    findings: Sequence[Finding],
    present: frozenset[Need],
    settings: Settings,
    table: AccuracyTable | None = None,
    bundle: Bundle | None = None,
) -> Evaluation:
    """The evaluation of a case that carried ``present``, from what all rules of ``bundle`` (None: of all) found.

    ``table`` is the accuracy that detectors are taken to have; without one they are unmeasured and there is no risk.
    """
    verdict = _verdict(findings, present, settings, table)
    counted = tally(findings)
    return Evaluation(
        bundle,
        verdict,
        counted,
        tuple(Judged(item, _role(item, settings, table), uncertainty_of(item, settings, table)) for item in findings),
        suggestions(findings, counted, settings.threshold),
        interpretations(findings, verdict, settings),
        coverage_of(findings, present) if findings else None,
        provenance_of(findings, settings, table) if findings else None,
        _categories(findings, present, settings, table) if bundle is None else None,
    )
