"""Where the time of a run went: every millisecond of its wall belongs to one category, and none to two.

The wall is the time between the first and the last thing that the recording dates. Main conversations are divided; what
a sub-agent does is its parent's wait. An instant that several categories claim belongs to the first of
:class:`Spent`. Times of log lines are upper bounds: a tool's span holds the approval that nobody wrote down. Parallel
tools and agents overlap; how much is a number of its own and is never added. What no line explains is unattributed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kpis.formulas.recorded.intervals import Span, owned, union
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
    """One stretch of a run: from one input of a person to the next. ``index`` -1 is what came before the first.

    ``start`` is in Unix milliseconds. ``file`` and ``line`` are those of the first answer or call in it, None where
    there is none.
    """

    index: int
    start: int
    parts: LedgerParts
    file: str | None = None
    line: int | None = None


def _overlap(spans: Sequence[Span]) -> int:
    return sum(b - a for a, b in spans) - sum(b - a for a, b in union(spans))


def _between(
    claims: Sequence[Sequence[Span]], tools: Sequence[Span], agents: Sequence[Span], start: int, end: int
) -> LedgerParts:
    spent = dict(zip((each.value for each in Spent), owned(claims, start, end), strict=True))
    return LedgerParts(wall=end - start, tool_overlap=_overlap(tools), agent_overlap=_overlap(agents), **spent)


def _whole(dated: Dated) -> LedgerParts:
    tools, agents = (_cut(spans, [dated.start, dated.end])[0] for spans in (dated.tools, dated.agents))
    return _between(dated.claims, tools, agents, dated.start, dated.end)


def _cut(spans: Iterable[Span], edges: Sequence[int]) -> list[list[Span]]:
    """What of ``spans`` lies in each stretch between two of the rising ``edges``."""
    pieces: list[list[Span]] = [[] for _ in range(len(edges) - 1)]
    for a, b in spans:
        at = max(0, bisect_right(edges, a) - 1)
        while at < len(pieces) and edges[at] < b:
            start, end = max(a, edges[at]), min(b, edges[at + 1])
            if end > start:
                pieces[at].append((start, end))
            at += 1
    return pieces


def ledger_parts(view: RunView) -> LedgerParts:
    """The time ledger of one run. Without any time in the recording its wall is not known, and ``runs_timed`` is 0."""
    dated = dated_of(view)
    untimed = sum(end_of(request) is None for request in view.billed)
    if dated is None:
        return LedgerParts(runs=1, untimed=untimed)
    return _whole(dated) + LedgerParts(runs=1, runs_timed=1, untimed=untimed)


def turn_ledgers(view: RunView) -> list[TurnLedger]:
    """The ledger cut at every input of a person; the walls of the pieces add up to that of the run."""
    dated = dated_of(view)
    if dated is None:
        return []
    cuts = sorted({dated.start, *(spoke for spoke in dated.inputs if spoke > dated.start)})
    first = 0 if dated.inputs and dated.inputs[0] <= dated.start else -1
    edges = [*cuts, dated.end]
    claims = list(zip(*(_cut(union(spans), edges) for spans in dated.claims), strict=True))
    tools, agents = _cut(dated.tools, edges), _cut(dated.agents, edges)
    written = sorted(_written(view), key=lambda each: each[0])
    times = [when for when, _, _ in written]
    turns = []
    for number, start in enumerate(cuts):
        end = edges[number + 1]
        parts = _between(claims[number], tools[number], agents[number], start, end)
        at = bisect_left(times, start)
        inside = at < len(times) and (times[at] < end or number == len(cuts) - 1)
        file, line = written[at][1:] if inside else (None, None)
        turns.append(TurnLedger(first + number, start, parts, file, line))
    return turns


def _written(view: RunView) -> Iterator[tuple[int, str | None, int | None]]:
    """When each answer and call was first written, and where."""
    for request in view.billed:
        when = request.t_first if request.t_first is not None else request.t_last
        if when is not None:
            yield when, request.file, request.line
    for call in view.calls:
        when = call.t_start if call.t_start is not None else call.t_end
        if when is not None:
            yield when, call.file, call.line
