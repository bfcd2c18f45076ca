"""What the rules find in a recorded run, of which the texts are not known: trajectories and budgets are judged.

Rules that read a text are not asked: what is not carried is never taken for an empty one. But where somebody chose that
such a rule decides alone, it was asked. A rule that is asked and lacks what would decide has no answer, which is no
skip: whoever judges must leave the verdict open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kpis.rules.blocklist import NO_BLOCKLIST
from kpis.rules.budget import COST, VERBOSITY
from kpis.rules.catalogue import NAMES
from kpis.rules.claims import skipped
from kpis.rules.criticality import checked, effective
from kpis.rules.recorded_asking import Said, either, no_answer
from kpis.rules.recorded_steps import Step
from kpis.rules.recorded_trajectory import failures, loops
from kpis.rules.run import asked, told_version
from kpis.rules.subject import Rule
from kpis.rules.thresholds import chosen
from kpis.rules.tool_failure import TOOL_FAILURE
from kpis.rules.tool_loop import TOOL_LOOP
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case, CustomRule, Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Need

__all__ = ["Cost", "RecordedFindings", "recorded_findings"]

_NO_TEXT = "not carried: no text of a recording is kept"
_ASKED_OF_TEXT = "the text that it is to read"
_NO_LIMIT = "no limit on the cost of a run is set (cost_threshold)"
_MANY_ANSWERS = "not carried: which answer of the model made the output"


class Cost(NamedTuple):
    """What a run cost in dollars: between ``low`` and ``high``. No ``low``: unknown; no ``high``: no upper bound."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RecordedFindings:
    """What each rule found, in running order; what the run carried; and the rules that were asked and had no answer."""

    findings: tuple[Finding, ...]
    present: frozenset[Need]
    unanswered: tuple[str, ...]


def recorded_findings(
    steps: Sequence[Step], cost: Cost, settings: Settings, rules: tuple[CustomRule, ...] = (), *, lost: bool = False
) -> RecordedFindings:
    """What the built-in rules and ``rules`` found in a run of ``steps`` that cost ``cost``.

    ``lost``: a part of the recording could not be read, and nothing is quiet that may have been there.

    Raises:
        CriticalityError: a criticality list of the settings is wrong.
    """
    promoted, demoted = checked(settings, NAMES)
    carried = {
        Need.TOOL_CALLS: bool(steps),
        Need.TOOL_OUTPUTS: any(step.got is not None for step in steps),  # what came back, by its digest
        Need.COST: cost.low is not None,
    }
    present = frozenset(need for need, there in carried.items() if there)
    found: list[Finding] = []
    unanswered: list[str] = []
    for rule in asked(Case("", custom_rules=rules)):
        facts = rule.facts
        critical, by_config = effective(facts, promoted, demoted)
        chose = critical and (by_config or facts.custom or (rule is NO_BLOCKLIST and _lists(settings)))
        said = _ask(rule, steps, cost, settings, chose=chose)
        if lost and said.claim.state is ClaimState.QUIET:
            said = no_answer("a part of the recording, which could not be read")
        if said.unanswered:
            unanswered.append(facts.name)
        saw = tuple(need for need in facts.needs if need in present)
        found.append(Finding(facts, said.claim, critical, by_config, saw, told_version(settings)))
    return RecordedFindings(tuple(found), present, tuple(unanswered))


def _lists(settings: Settings) -> bool:
    """Whether somebody said what must not occur."""
    return chosen(settings, "blocklist") is not None


def _ask(rule: Rule, steps: Sequence[Step], cost: Cost, settings: Settings, *, chose: bool) -> Said:
    """``chose``: somebody chose that the rule decides alone."""
    if rule is TOOL_LOOP:
        return loops(steps, settings)
    if rule is TOOL_FAILURE:
        return failures(steps, settings)
    if rule is VERBOSITY:
        return no_answer("which answer of the model made the output") if chose else Said(skipped(_MANY_ANSWERS))
    if rule.facts.needs == (Need.COST,):
        return _cost(rule, cost, settings)
    return no_answer(_ASKED_OF_TEXT) if chose else Said(skipped(_NO_TEXT))


def _cost(rule: Rule, cost: Cost, settings: Settings) -> Said:
    """The limit that ships is for one output and says nothing of a run: only one that somebody set is asked about."""
    if rule is COST and not settings.defaults_gate and chosen(settings, "cost_threshold") is None:
        return Said(skipped(_NO_LIMIT))
    if cost.low is None:
        return no_answer("what the run cost")
    high = math.inf if cost.high is None else cost.high
    told = either(rule, Case("", cost=cost.low, settings=settings), Case("", cost=high, settings=settings))
    if told is not None:
        return Said(told)
    bounds = [("at least", cost.low or None), ("at most", cost.high)]
    known = " and ".join(f"{word} ${bound:.4f}" for word, bound in bounds if bound is not None)
    return no_answer(f"what the run cost{known and f', beyond that it was {known}'}")
