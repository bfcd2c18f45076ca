"""Everything that one recorded run contributes, in one value that adds up, and the metrics of any sum of such values.

``evaluate`` is what a page needs at once. The time ledger walks every interval of a run and is made where asked for;
the attribution of carried cost (:mod:`kpis.formulas.recorded.carried`) is apart for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kpis.formulas.recorded.cache import CacheParts, cache_breaks, cache_parts
from kpis.formulas.recorded.compaction import CompactionParts, compaction_parts
from kpis.formulas.recorded.cost import CostParts, cost_parts
from kpis.formulas.recorded.duplicates import DuplicateParts, duplicate_parts
from kpis.formulas.recorded.efficiency import EfficiencyParts, efficiency_parts
from kpis.formulas.recorded.ledger import LedgerParts, ledger_parts
from kpis.formulas.recorded.loops import LoopParts, loop_parts
from kpis.formulas.recorded.metrics_context import cache_metrics, compaction_metrics
from kpis.formulas.recorded.metrics_money import cost_metrics, ledger_metrics, trust_metrics
from kpis.formulas.recorded.metrics_outcome import outcome_metrics
from kpis.formulas.recorded.metrics_tokens import token_metrics
from kpis.formulas.recorded.metrics_work import repeat_metrics, verdict_metrics, waste_metrics
from kpis.formulas.recorded.parts import Summed, total
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.reread import RereadParts, reread_parts
from kpis.formulas.recorded.tokens import TokenParts, token_parts
from kpis.formulas.recorded.trust import TrustParts, trust_parts
from kpis.formulas.recorded.verdicts import VerdictParts, verdict_parts
from kpis.formulas.recorded.view import view_of
from kpis.formulas.recorded.waste import WasteParts, waste_parts
from kpis.terms.metric import Metric
from kpis.terms.recorded import RecordedRun

__all__ = ["RunParts", "evaluate", "metric_ids", "metrics", "total_of"]


@dataclass(frozen=True, slots=True)
class RunParts(Summed):
    """All parts of one run, or of many. ``ledger`` has no runs where it was not asked for."""

    runs: int = 0
    tokens: TokenParts = field(default_factory=TokenParts)
    cache: CacheParts = field(default_factory=CacheParts)
    compaction: CompactionParts = field(default_factory=CompactionParts)
    reread: RereadParts = field(default_factory=RereadParts)
    loops: LoopParts = field(default_factory=LoopParts)
    duplicates: DuplicateParts = field(default_factory=DuplicateParts)
    verdicts: VerdictParts = field(default_factory=VerdictParts)
    waste: WasteParts = field(default_factory=WasteParts)
    efficiency: EfficiencyParts = field(default_factory=EfficiencyParts)
    cost: CostParts = field(default_factory=CostParts)
    trust: TrustParts = field(default_factory=TrustParts)
    ledger: LedgerParts = field(default_factory=LedgerParts)


def evaluate(run: RecordedRun, table: PriceTable, *, ledger: bool = False) -> RunParts:
    """What ``run`` contributes, its cost by ``table``; with its time ledger where asked for."""
    view = view_of(run)
    breaks = list(cache_breaks(view))
    cost = cost_parts(view, table, breaks)
    return RunParts(
        runs=1,
        tokens=token_parts(view),
        cache=cache_parts(view, breaks),
        compaction=compaction_parts(view),
        reread=reread_parts(view),
        loops=loop_parts(view),
        duplicates=duplicate_parts(view),
        verdicts=verdict_parts(view),
        waste=waste_parts(view),
        efficiency=efficiency_parts(view),
        cost=cost,
        trust=trust_parts(view, sum(cost.unpriced.values())),
        ledger=ledger_parts(view) if ledger else LedgerParts(),
    )


def total_of(parts: Iterable[RunParts]) -> RunParts:
    """The sum over runs, the same in any order."""
    return total(parts, RunParts())


def metrics(parts: RunParts) -> dict[str, Metric]:
    """Every metric of ``parts`` by id, in the order of a page."""
    found = [
        *token_metrics(parts.tokens),
        *cache_metrics(parts.cache),
        *cost_metrics(parts.cost, parts.cache, parts.compaction),
        *compaction_metrics(parts.compaction, parts.reread),
        *verdict_metrics(parts.verdicts),
        *outcome_metrics(parts.efficiency, parts.tokens),
        *repeat_metrics(parts.loops, parts.duplicates),
        *waste_metrics(parts.waste),
        *trust_metrics(parts.trust),
    ]
    if parts.ledger.runs:
        found += ledger_metrics(parts.ledger)
    return {metric.id: metric for metric in found}


def metric_ids() -> tuple[str, ...]:
    """The id of every metric that a transcript may give, in the order of a page, those of the time ledger last."""
    return tuple(metrics(RunParts(ledger=LedgerParts(runs=1))))
