"""What a case carried, need by need."""

from __future__ import annotations

from kpis.rules.subject import Subject
from kpis.terms.evaluation import ABSENT, Case
from kpis.terms.evaluation_words import Correction, Need

__all__ = ["present"]


def present(case: Case) -> dict[Need, bool]:
    """Whether the case carried each need, in canonical order. An output always is there, blank or not.

    A catalogue of tools and looked-up citations are no part of a case yet: no rule here needs them.
    """
    subject = Subject(case)
    calls = case.tool_calls or ()
    tokens = case.tokens
    cost = case.cost is not None and not (case.cost < 0 and subject.has(Correction.NEGATIVE_COST_IS_ABSENT))
    return {
        Need.OUTPUT: True,
        Need.INPUT: subject.given(case.input),
        Need.EXPECTED: subject.given(case.expected),
        Need.TOOL_CALLS: bool(calls),
        Need.TOOL_OUTPUTS: any(call.output is not ABSENT for call in calls),
        Need.TOOLS_CATALOGUE: False,
        Need.COST: cost,
        Need.TOKENS: tokens is not None and not (tokens.prompt is tokens.completion is tokens.total is None),
        Need.CITATIONS: False,
    }
