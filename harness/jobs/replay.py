"""Replay: recorded runs in, their numbers out. Finds the files, reads run after run, and adds up what each contributes.

Runs are read in the order in which they began, and a request that an earlier run counts is not counted again. With
several processes the result is the same to the digit: a worker says which requests its run holds, and a run that
shares one with an earlier run is read once more here.
"""

from __future__ import annotations

import gc
import os
from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from harness.formats.run_build import key_of, mark_copied
from harness.jobs.replay_find import find
from harness.jobs.replay_group import Group, sort_files
from harness.jobs.replay_judged import judged, unmatched
from harness.jobs.replay_open import archives_closed
from harness.jobs.replay_oracles import Oracles
from harness.jobs.replay_read import LIMITS, read_group
from harness.record.replay import Replayed, RunResult
from harness.record.replay_cache import Answer, FileFacts, ReplayCache
from kpis.formulas.recorded.carried import CarriedParts, by_kind, carried_parts
from kpis.formulas.recorded.evaluate import RunParts, evaluate, total_of
from kpis.formulas.recorded.ledger import turn_ledgers
from kpis.formulas.recorded.parts import total
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.trust import TrustParts
from kpis.formulas.recorded.view import view_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import RunFacts, Severity

if TYPE_CHECKING:
    from harness.record.replay_context import ContextResult

__all__ = ["Asked", "replay", "runs_of"]

_POOL_BYTES = 64 << 20
"""Below this much a pool costs more than it saves: a process of it takes a third of a second to begin."""

_MOST_PROCESSES = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compute: costs by ``table``; the time ledger where ``ledger``; attribution where ``by`` names a key.

    ``oracles`` are an evaluator's verdicts, which take the place of a recording's own word. ``judge`` is what evaluates
    each run, where that is asked for.
    """

    table: PriceTable
    ledger: bool = False
    by: str | None = None
    oracles: Oracles = field(default_factory=dict)
    judge: Callable[[RecordedRun, RunParts], bytes] | None = None


Step = Callable[[Group, int, int], None]


def replay(
    paths: Sequence[str],
    asked: Asked,
    *,
    forced: str | None = None,
    processes: int | None = None,
    cache: ReplayCache | None = None,
    on_step: Step = lambda _group, _done, _total: None,
) -> Replayed:
    """The numbers of every recorded run among ``paths`` and below.

    ``forced`` names the format of all files. ``processes`` is how many read side by side (default: as many as there
    are cores, where there is enough to read). ``cache`` has what was read before and takes what is read now.
    ``on_step`` hears which run is next, and bytes done and in all.

    Raises:
        KeyError: ``forced`` is no format.
    """
    with archives_closed():
        sorted_files = sort_files(find(paths), LIMITS, forced)
        groups = sorted_files.groups
        result = Replayed(issues=sorted_files.issues, passed_over=sorted_files.passed_over)
        everything, done = sum(group.bytes for group in groups), 0
        seen: set[int] = set()
        for group, answer in _answers(groups, asked, processes, cache):
            on_step(group, done, everything)
            done += group.bytes
            if answer is None or not seen.isdisjoint(answer[1]):
                answer = _measure(group, asked, seen)  # noqa: PLW2901 - the worker's answer did not know of earlier runs
            run, keys = answer
            if cache is not None:
                cache.put(_files(group), answer)
            seen.update(keys)
            result.runs.append(run)
        if cache is not None:
            cache.save()
    if asked.oracles and (missed := unmatched(asked.oracles, result.runs)) is not None:
        result.issues.append(missed)
    lost = TrustParts(unopened=sum(issue.severity is Severity.ERROR for issue in result.issues))
    result.parts = total_of([*(run.parts for run in result.runs), RunParts(trust=lost)])
    if asked.by is not None:
        result.carried = total((run.carried for run in result.runs if run.carried is not None), CarriedParts())
        if asked.by == "agent" and len(result.runs) > 1:
            result.carried = by_kind(result.carried)
    return result


def runs_of(paths: Sequence[str], forced: str | None = None) -> Iterator[RecordedRun]:
    """The runs themselves, one after the other, copies marked: for what needs more of them than sums."""
    seen: set[int] = set()
    with archives_closed():
        for group in sort_files(find(paths), LIMITS, forced).groups:
            run, keys = _known(read_group(group), seen)
            seen.update(keys)
            yield run


def _known(run: RecordedRun, seen: Set[int]) -> tuple[RecordedRun, array[int]]:
    """``run`` with its requests that are in ``seen`` marked as copied, and the keys of all that travel.

    An id with a ``#`` was made up by its reader and means nothing in another run.
    """
    keys = array("Q", sorted({key_of(name) for each in run.requests if "#" not in (name := each.request_id)}))
    if seen and not seen.isdisjoint(keys):
        run = mark_copied(run, lambda name: "#" not in name and key_of(name) in seen)
    return run, keys


def _answers(
    groups: Sequence[Group], asked: Asked, processes: int | None, cache: ReplayCache | None
) -> Iterator[tuple[Group, Answer | None]]:
    """Each group with an answer that knows of no other run: the one of before, or a worker's.

    None where there is none and the group is to be measured here.
    """
    before = [cache.get(_files(group)) if cache is not None else None for group in groups]
    missing = [group for group, answer in zip(groups, before, strict=True) if answer is None]
    cores = processes if processes is not None else os.cpu_count() or 1
    wanted = min(cores, len(missing), _MOST_PROCESSES)
    if wanted < 2 or (processes is None and sum(group.bytes for group in missing) < _POOL_BYTES):
        yield from zip(groups, before, strict=True)
        return
    # Only who needs a pool pays for its imports.
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(wanted, mp_context=get_context("spawn")) as pool:
        try:
            work = partial(_measure, asked=asked, seen=frozenset())
            fresh = pool.map(work, missing, chunksize=max(1, min(16, len(missing) // (4 * wanted))))
            for group, answer in zip(groups, before, strict=True):
                yield group, next(fresh) if answer is None else answer
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _files(group: Group) -> list[FileFacts]:
    found = [(piece.found, piece.member) for piece in group.pieces]
    return [
        (file.name, member, file.size, file.mtime_ns, file.ctime_ns, file.inode, file.device) for file, member in found
    ]


def _measure(group: Group, asked: Asked, seen: Set[int]) -> Answer:
    """One run, its requests that are in ``seen`` left out of all sums; and the keys of its requests.

    The collector waits until the run is gone: looking through its requests over and over takes a twentieth of the time
    and finds nothing, because readers make no cycles.
    """
    waits = gc.isenabled()
    gc.disable()
    try:
        return _measured(group, asked, seen)
    finally:
        if waits:
            gc.collect(0)
            gc.enable()


def _measured(group: Group, asked: Asked, seen: Set[int]) -> Answer:
    run, keys = _known(read_group(group), seen)
    if asked.oracles:
        run = judged(run, asked.oracles)
    result = RunResult(
        run.run_id,
        run.source_format,
        run.recordings,
        run.threads,
        tuple(_told(each) for each in run.facts),
        run.issues,
        evaluate(run, asked.table, ledger=asked.ledger),
        carried_parts(view_of(run), asked.table, asked.by) if asked.by is not None else None,
        sum(request.copied for request in run.requests),
        _contexts(run),
        turns=tuple(turn_ledgers(view_of(run))) if asked.ledger else (),
    )
    if asked.judge is not None:
        result.evaluation = asked.judge(run, result.parts)
    return result, keys


def _told(facts: RunFacts) -> RunFacts:
    """``facts`` as they are told: without where each number came from, which readers share and no process hands on."""
    models = tuple(replace(each, tokens=replace(each.tokens, provenance={})) for each in facts.by_model)
    return replace(facts, by_model=models)


def _contexts(run: RecordedRun) -> tuple[ContextResult, ...]:
    if not run.contexts:
        return ()
    from harness.jobs.replay_context import context_results  # here, since few recordings need its formulas

    return context_results(run)
