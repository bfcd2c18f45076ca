"""Where the time of a run went: every millisecond of its wall belongs to one category, and none to two.

The wall is the time between the first and the last thing that the recording dates. Main conversations are divided; what
a sub-agent does is its parent's wait. An instant that several categories claim belongs to the first of
:class:`Spent`. Times of log lines are upper bounds: a tool's span holds the approval that nobody wrote down. Parallel
tools and agents overlap; how much is a number of its own and is never added. What no line explains is unattributed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kpis.formulas.recorded.intervals import Span, clipped, owned, union
from kpis.formulas.recorded.ledger_spans import Dated, Spent, dated_of, end_of
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView

__all__ = ["LedgerParts", "Spent", "TurnLedger", "ledger_parts", "turn_ledgers"]


@dataclass(frozen=True, slots=True)
class LedgerParts(Summed):
    """What one run adds, in milliseconds; the nine categories sum to ``wall``. ``untimed`` requests have no time."""

    wall: int = 0
    approval: int = 0
    hook: int = 0
    retry: int = 0
    tool: int = 0
    model: int = 0
    subagent_wait: int = 0
    user_idle: int = 0
    harness: int = 0
    unattributed: int = 0
    tool_overlap: int = 0
    agent_overlap: int = 0
    runs: int = 0
    runs_timed: int = 0
    untimed: int = 0


@dataclass(frozen=True, slots=True)
class TurnLedger:
    """One stretch of a run: from one input of a person to the next. ``index`` -1 is what came before the first."""

    index: int
    start: int
    parts: LedgerParts


def _overlap(spans: Iterable[Span], start: int, end: int) -> int:
    inside = clipped(spans, start, end)
    return sum(b - a for a, b in inside) - sum(b - a for a, b in union(inside))


def _between(dated: Dated, start: int, end: int) -> LedgerParts:
    spent = dict(zip((each.value for each in Spent), owned(dated.claims, start, end), strict=True))
    tools, agents = _overlap(dated.tools, start, end), _overlap(dated.agents, start, end)
    return LedgerParts(wall=end - start, tool_overlap=tools, agent_overlap=agents, **spent)


def ledger_parts(view: RunView) -> LedgerParts:
    """The time ledger of one run. Without any time in the recording its wall is not known, and ``runs_timed`` is 0."""
    dated = dated_of(view)
    untimed = sum(end_of(request) is None for request in view.billed)
    if dated is None:
        return LedgerParts(runs=1, untimed=untimed)
    return _between(dated, dated.start, dated.end) + LedgerParts(runs=1, runs_timed=1, untimed=untimed)


def turn_ledgers(view: RunView) -> list[TurnLedger]:
    """The ledger cut at every input of a person; the walls of the pieces add up to that of the run."""
    dated = dated_of(view)
    if dated is None:
        return []
    cuts = sorted({dated.start, *(spoke for spoke in dated.inputs if spoke > dated.start)})
    first = 0 if dated.inputs and dated.inputs[0] <= dated.start else -1
    ends = [*cuts[1:], dated.end]
    return [
        TurnLedger(first + number, start, _between(dated, start, end))
        for number, (start, end) in enumerate(zip(cuts, ends, strict=True))
    ]
