"""From the findings of one case to its verdict: the first layer that matches wins, and unknown is never pass.

0. ``no_rules``: nothing was judged. Unknown.
1. ``policy_gate``: a policy that decides failed, or a judgment did. Fail.
2. ``detector_veto``: a critical rule of any other kind fired. Fail.
3. ``critical_unknown``: a critical rule had to answer and did not. Unknown, or what the settings say.
4. ``required_evidence_missing``: what has to be seen was not. Unknown.
5. ``risk_over_loss``: the risk lies above ``tau = 1 / (1 + cost of a false pass)``. Fail.
6. ``clean``. Pass; but where a rule that could have decided had no answer it is ``required_evidence_missing``.

Which rules decide is told in :mod:`harness.judge.evaluation.deciding`. A measurement does not unless it was promoted to
critical. The risk is told only where it was consulted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from harness.judge.evaluation.deciding import SIGNS, gates, unanswered, waited_for
from harness.judge.evaluation.risk import RiskEstimate
from harness.judge.evaluation.scores import evaluated, failed
from kpis.terms.claim import Confidence, VerdictBasis, VerdictState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Correction, Need, RuleKind

__all__ = [
    "PASSES",
    "Consulted",
    "EvaluationVerdict",
    "LegacyBasis",
    "by_prior",
    "compose",
    "critical_unknown",
    "open_for",
    "tau",
]

PASSES = "pass"
"""The choice that lets a case pass though a critical rule had to answer and did not."""
LIKELY = 0.5
"""A class likelier than not is what a fail by risk names."""


class LegacyBasis(Enum):
    """What only the composer kept for comparison with the reference decides by."""

    SCORE_BELOW_THRESHOLD = "score_below_threshold"


@dataclass(frozen=True, slots=True)
class EvaluationVerdict:
    """Pass, fail or unknown; the layer that decided; rules, needs or classes because of which; the risk, if asked."""

    state: VerdictState
    basis: VerdictBasis | LegacyBasis
    by: tuple[str, ...] = ()
    risk: RiskEstimate | None = None
    confidence: Confidence | None = None

    @property
    def passed(self) -> bool:
        """Whether the state is pass: unknown is not."""
        return self.state is VerdictState.PASS


@dataclass(frozen=True, slots=True)
class Consulted:
    """What the composer looks at beside the findings: what the case carried, the risk, what has no known accuracy.

    ``borne_out`` says that labels of people stand behind the accuracy that the risk rests on.
    """

    present: frozenset[Need]
    risk: RiskEstimate | None
    unmeasured: tuple[str, ...] = ()
    borne_out: bool = False


def tau(false_pass_cost: float) -> float:
    """The risk at which blocking and passing cost the same; a false pass costs ``false_pass_cost`` false blocks."""
    return 1 / (1 + false_pass_cost)


def by_prior(findings: Sequence[Finding], verdict: EvaluationVerdict) -> bool:
    """Whether ``verdict`` is a fail by risk for which no detector fired: the prior is what lies over the line."""
    return verdict.basis is VerdictBasis.RISK_OVER_LOSS and not any(
        item.rule.kind in SIGNS for item in failed(findings)
    )


def _names(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(item.rule.name for item in findings)


def _missing(findings: Sequence[Finding], settings: Settings, consulted: Consulted) -> tuple[str, ...]:
    """What had to be seen and was not: required evidence, in the order of the settings, and the accuracy of a fire."""
    missing: tuple[str, ...] = ()
    if settings.required_evidence:
        missing = _unseen(findings, settings, consulted)
    if settings.has(Correction.UNMEASURED_IS_NOT_CLEAN):
        missing += consulted.unmeasured
    return missing


def _unseen(findings: Sequence[Finding], settings: Settings, consulted: Consulted) -> tuple[str, ...]:
    seen = {need for item in evaluated(findings) for need in item.saw}
    if settings.has(Correction.ASKED_EVIDENCE_COUNTS):
        declared = {need for item in findings for need in item.rule.needs}
        # What was sent and no rule that ran looks at cannot be seen; whoever required it got what he asked for.
        seen |= {need for need in consulted.present if need not in declared}
    return tuple(need.value for need in settings.required_evidence if need not in seen)


def critical_unknown(names: tuple[str, ...], settings: Settings) -> EvaluationVerdict:
    """The verdict where critical rules, ``names``, had to answer and did not, and the settings do not let that pass."""
    state = VerdictState.FAIL if settings.on_critical_skipped == "fail" else VerdictState.UNKNOWN
    return EvaluationVerdict(state, VerdictBasis.CRITICAL_UNKNOWN, names)


def compose(findings: Sequence[Finding], settings: Settings, consulted: Consulted) -> EvaluationVerdict:
    """The verdict of one case, or of one bundle of it."""
    if not evaluated(findings):
        return EvaluationVerdict(VerdictState.UNKNOWN, VerdictBasis.NO_RULES)
    fired = failed(findings)
    deciding = [item for item in fired if gates(item, settings)]
    if deciding:
        return EvaluationVerdict(VerdictState.FAIL, VerdictBasis.POLICY_GATE, _names(deciding))
    vetoes = [item for item in fired if item.critical and item.rule.kind is not RuleKind.POLICY]
    if vetoes:
        return EvaluationVerdict(VerdictState.FAIL, VerdictBasis.DETECTOR_VETO, _names(vetoes))
    silent = unanswered(findings)
    critical = [item for item in silent if item.critical]
    if critical and settings.on_critical_skipped != PASSES:
        return critical_unknown(_names(critical), settings)
    missing = _missing(findings, settings, consulted)
    found = (
        EvaluationVerdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, missing)
        if missing
        else _by_risk(findings, settings, consulted)
    )
    if silent and settings.has(Correction.UNANSWERED_IS_NOT_CLEAN):
        return open_for(found, _names(waited_for(silent, settings)))
    return found


def open_for(verdict: EvaluationVerdict, names: tuple[str, ...]) -> EvaluationVerdict:
    """``verdict`` where the rules ``names`` were asked in vain: a fail stays one, and a pass waits for them."""
    missing = VerdictBasis.REQUIRED_EVIDENCE_MISSING
    if names and verdict.passed:
        return EvaluationVerdict(VerdictState.UNKNOWN, missing, names, verdict.risk)
    if verdict.basis in (missing, VerdictBasis.NO_RULES):
        return replace(verdict, by=(*verdict.by, *names))
    return verdict


def _by_risk(findings: Sequence[Finding], settings: Settings, consulted: Consulted) -> EvaluationVerdict:
    risk, line = consulted.risk, tau(settings.false_pass_cost)
    if risk is None:
        return EvaluationVerdict(VerdictState.PASS, VerdictBasis.CLEAN)
    sure = Confidence.MARGINAL if risk.low <= line <= risk.high else Confidence.DECISIVE
    if risk.p_bad > line:
        blamed = _blamed(findings, settings, risk)
        found = EvaluationVerdict(VerdictState.FAIL, VerdictBasis.RISK_OVER_LOSS, blamed, risk, sure)
        if settings.has(Correction.DECISIVE_NEEDS_A_FIRE) and by_prior(findings, found):
            return replace(found, confidence=Confidence.MARGINAL)
        return found
    if settings.has(Correction.DECISIVE_NEEDS_LABELS) and not consulted.borne_out:
        sure = Confidence.MARGINAL
    return EvaluationVerdict(VerdictState.PASS, VerdictBasis.CLEAN, (), risk, sure)


def _blamed(findings: Sequence[Finding], settings: Settings, risk: RiskEstimate) -> tuple[str, ...]:
    """The classes likelier than not; without one, those whose detectors fired, else the likeliest."""
    chances = {name: chance for name, chance in risk.per_class.items() if chance is not None}
    likely = [name for name, chance in chances.items() if chance > LIKELY]
    if not likely and settings.has(Correction.BLAME_IS_NAMED):
        suspected = {name for item in failed(findings) for name in item.rule.classes}
        likely = [name for name in chances if name in suspected]
        likely = likely or [name for name in chances if chances[name] == max(chances.values())]
    return tuple(name.value for name in likely)
