"""The fifteen built-in rules, in the order in which they run."""

from __future__ import annotations

from kpis.rules.blocklist import NO_BLOCKLIST
from kpis.rules.budget import COST, VERBOSITY
from kpis.rules.completeness import COMPLETENESS
from kpis.rules.hallucination import NO_HALLUCINATION
from kpis.rules.injection import NO_INJECTION
from kpis.rules.pii import NO_PII
from kpis.rules.relevance import RELEVANCE
from kpis.rules.stub import NO_STUB
from kpis.rules.subject import Rule
from kpis.rules.tool_failure import TOOL_FAILURE
from kpis.rules.tool_loop import TOOL_LOOP

__all__ = ["BUILT_IN", "NAMES"]

BUILT_IN: tuple[Rule, ...] = (
    *COMPLETENESS,
    *RELEVANCE,
    NO_PII,
    NO_BLOCKLIST,
    NO_INJECTION,
    NO_STUB,
    NO_HALLUCINATION,
    TOOL_FAILURE,
    COST,
    VERBOSITY,
    TOOL_LOOP,
)

NAMES = frozenset(rule.facts.name for rule in BUILT_IN)
