"""Judge and word once what many cases come to alike: most outputs are clean, and clean in the same way.

The judge sees no text: what it makes of a case follows from what the rules claim of it, from what the case carried, and
from the deployment. Two cases that agree in all of these have the same answer but for the names and the time in it.
Where a case brings rules or settings of its own, or a rule measured something, that is not looked for. Bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.jobs.evaluate_config import Deployment
from harness.judge.evaluation.judge import Evaluation, judge
from harness.record.evaluation_write import response
from kpis.terms.evaluation import Case, Finding, RuleClaim
from kpis.terms.evaluation_words import Bundle, Correction, Need

__all__ = ["Answered", "Once"]

_EVERYTHING = "No eval_type was named, so every bundle ran."
_MOST = 256
"""Answers that are kept; when there are more, all are forgotten."""

_Key = tuple[Bundle | None, bool, frozenset[Need], tuple[RuleClaim, ...]]


class Answered(NamedTuple):
    """An evaluation and the answer that it is, without id, name of the case and time. Neither may be changed."""

    evaluation: Evaluation
    document: dict[str, Any]


class Once:
    """The judge and the writer of one deployment."""

    def __init__(self, deployment: Deployment, engine: str) -> None:
        self._deployment = deployment
        self._engine = engine
        self._known: dict[_Key, Answered] = {}

    def answered(self, case: Case, found: Sequence[Finding], present: frozenset[Need]) -> Answered:
        """What becomes of a case that carried ``present`` and of which the rules ``found`` this.

        Raises:
            NotFiniteError: its numbers lead to one that JSON cannot hold.
        """
        claims = tuple([item.claim for item in found])
        if (
            case.custom_rules
            or case.notes
            or case.settings is not self._deployment.settings
            or any(claim.value is not None for claim in claims)
        ):
            return self._answer(case, found, present)
        key = case.eval_type, case.named_type, present, claims
        known = self._known.get(key)
        if known is None:
            known = self._answer(case, found, present)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = known
        return known

    def _answer(self, case: Case, found: Sequence[Finding], present: frozenset[Need]) -> Answered:
        evaluation = judge(found, present, case.settings, self._deployment.table, case.eval_type)
        document = response(
            evaluation,
            ident="",
            case="",
            judged_at="",
            engine=f"{self._engine} as the reference" if self._deployment.is_reference else self._engine,
            note=" ".join((*case.notes, *(() if case.named_type else (_EVERYTHING,)))) or None,
            counted=case.settings.has(Correction.COVERAGE_IS_COUNTED),
        )
        return Answered(evaluation, document)
