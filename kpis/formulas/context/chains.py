"""The requests of a run as chains of consecutive prompts, and what stood between two of them.

Pairs are formed within one session, among answered main requests; folds and recalls belong to the pair in whose gap
they are recorded. A fold that says which nodes it replaced belongs to a session that showed one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kpis.formulas.context.locality import Surface, prefix, shared_nodes
from kpis.formulas.context.provider import RequestClass
from kpis.terms.context_run import ContextRequest, ContextRun, Fold
from kpis.terms.context_words import FoldMode, RecallKind

__all__ = ["Pair", "RunLocality", "classes_of", "main_requests", "pairs_of", "run_locality"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two consecutive requests, and the folds between them that took place."""

    earlier: ContextRequest
    later: ContextRequest
    folds: tuple[Fold, ...]


@dataclass(frozen=True, slots=True)
class RunLocality:
    """Sums over all pairs of a run. ``spn`` is None where a prompt is not known, tokens also where one has no price."""

    pairs: int
    spn: int | None
    spt: int | None
    ist: int | None
    ist_fold_pairs: int | None


def main_requests(run: ContextRun) -> list[ContextRequest]:
    """The answered main requests of all sessions, in order of ``seq``."""
    return sorted((request for chain in run.main_chains() for request in chain), key=lambda request: request.seq)


def pairs_of(run: ContextRun) -> Iterator[Pair]:
    """Every consecutive pair, session by session."""
    for chain in run.main_chains():
        for earlier, later in pairwise(chain):
            yield Pair(earlier, later, tuple(fold for fold in run.folds if _between(fold, earlier, later)))


def _between(fold: Fold, earlier: ContextRequest, later: ContextRequest) -> bool:
    if not fold.ok or not earlier.seq < fold.seq < later.seq:
        return False
    if fold.replaced is None or earlier.nodes is None:
        return True
    return any(node.id in fold.replaced for node in earlier.nodes)


def run_locality(run: ContextRun) -> RunLocality:
    """Shared prefixes and invalidated suffixes over all pairs."""
    count = spn = spt = ist = fold_ist = 0
    rebuilt = priced = True
    for pair in pairs_of(run):
        count += 1
        if pair.earlier.nodes is None or pair.later.nodes is None:
            rebuilt = priced = False
            continue
        ids = [[node.id for node in request.nodes or ()] for request in (pair.earlier, pair.later)]
        spn += shared_nodes(*ids)
        prices = pair.earlier.node_tokens
        if prices is None:
            priced = False
            continue
        made = prefix(Surface(ids[0], prices).nodes, prices, ids[1])
        spt += int(made.spt)
        ist += int(made.ist)
        fold_ist += int(made.ist) if pair.folds else 0
    if not priced:
        return RunLocality(count, spn if rebuilt else None, None, None, None)
    return RunLocality(count, spn, spt, ist, fold_ist)


def classes_of(run: ContextRun) -> Iterator[tuple[RequestClass, ContextRequest]]:
    """Each answered main request with what came just before it: a root fold, another fold, a recall, or nothing."""
    for chain in run.main_chains():
        for request in chain[:1]:
            yield RequestClass.NORMAL, request
    for pair in pairs_of(run):
        yield _class_of(pair, run), pair.later


def _class_of(pair: Pair, run: ContextRun) -> RequestClass:
    if any(fold.mode is FoldMode.ROOT for fold in pair.folds):
        return RequestClass.AFTER_ROOT
    if pair.folds:
        return RequestClass.AFTER_LEAF
    recalled = any(
        pair.earlier.seq < action.seq < pair.later.seq
        and action.recall is not None
        and action.recall.kind is RecallKind.RECALL
        for action in run.actions
    )
    return RequestClass.AFTER_RECALL if recalled else RequestClass.NORMAL
