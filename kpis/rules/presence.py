"""What a case carried, need by need."""

from __future__ import annotations

from kpis.rules.subject import Subject
from kpis.terms.evaluation import ABSENT, Case
from kpis.terms.evaluation_case import TokenCounts
from kpis.terms.evaluation_words import Correction, Need

__all__ = ["present"]


def present(case: Case) -> dict[Need, bool]:
    """Whether the case carried each need, in canonical order. An output always is there, blank or not.

    A catalogue of tools and looked-up citations are no part of a case yet: no rule here needs them.
    """
    subject = Subject(case)
    calls = case.tool_calls or ()
    cost = case.cost is not None and not (case.cost < 0 and subject.has(Correction.NEGATIVE_COST_IS_ABSENT))
    return {
        Need.OUTPUT: True,
        Need.INPUT: subject.given(case.input),
        Need.EXPECTED: subject.given(case.expected),
        Need.TOOL_CALLS: bool(calls),
        Need.TOOL_OUTPUTS: any(call.output is not ABSENT for call in calls),
        Need.TOOLS_CATALOGUE: False,
        Need.COST: cost,
        Need.TOKENS: case.tokens is not None and _counted(case.tokens, subject),
        Need.CITATIONS: False,
    }


def _counted(tokens: TokenCounts, subject: Subject) -> bool:
    """Whether any of the counts was sent and is one."""
    counts = [count for count in (tokens.prompt, tokens.completion, tokens.total) if count is not None]
    return bool(counts) and (max(counts) >= 0 or not subject.has(Correction.NEGATIVE_TOKENS_ARE_ABSENT))
