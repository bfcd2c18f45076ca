"""A run that was recorded for its context, said in the words of the neutral trace.

A session is a thread, and what was asked beside it (compaction, sub-agents, the rest) a thread of its own. This module
refuses to tell of folds that failed: nothing was compacted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from harness.formats.context_kept import times_of
from harness.formats.context_tokens import tokens_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import canonical
from kpis.formulas.context.evaluate_behaviour import succeeded
from kpis.formulas.recorded.compaction import BYTES_PER_TOKEN
from kpis.terms.context_run import Action, ContextRequest, ContextRun, Fold
from kpis.terms.context_words import Family, FoldMode, Purpose
from kpis.terms.trace import (
    Event,
    EventKind,
    Issue,
    IssueCode,
    Outcome,
    Request,
    RequestStatus,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    TimeBasis,
    ToolCall,
    ToolOp,
    TraceEvent,
)

__all__ = ["trace_of"]

_THREADS = {
    Purpose.MAIN: ThreadKind.MAIN,
    Purpose.COMPACTION: ThreadKind.SUMMARISER,
    Purpose.RATIONALE: ThreadKind.SUMMARISER,
    Purpose.SUBAGENT: ThreadKind.SUBAGENT,
    Purpose.OTHER: ThreadKind.SIDE_MODEL,
}
_OPS = {
    Family.READ: ToolOp.READ,
    Family.SEARCH: ToolOp.SEARCH,
    Family.TEST: ToolOp.TEST,
    Family.EDIT: ToolOp.WRITE,
    Family.BUILD: ToolOp.EXEC,
    Family.RECALL: ToolOp.RECALL,
    Family.DELEGATE: ToolOp.SPAWN,
    Family.OTHER: ToolOp.OTHER,
}
_HARMLESS = (Family.READ, Family.SEARCH, Family.RECALL)


def trace_of(run: ContextRun, name: str) -> Iterator[TraceEvent | Issue]:
    """Threads, requests, calls, compactions and facts of ``run``; ``name`` stands before the names of its threads."""
    yield from _Telling(run, name).events()


class _Telling:
    def __init__(self, run: ContextRun, name: str) -> None:
        self.run = run
        self.name = name
        self.key = _digest(repr(run.header))
        self.sessions = sorted({request.session for request in run.requests} | set(run.header.sessions))
        self.kinds: dict[str, ThreadKind] = {}
        self.place: dict[str, tuple[str, str]] = {}  # thread and id in the trace, by a request's own id
        self.next: dict[tuple[type, str], int] = {}
        mains = [request.session for request in run.requests if request.purpose is Purpose.MAIN]
        self.main = self._thread((mains or list(run.header.sessions) or [""])[0], ThreadKind.MAIN)

    def _thread(self, session: str, kind: ThreadKind) -> str:
        own = self.name if len(self.sessions) < 2 else f"{self.name}:{safe_id(session)}"
        thread = own if kind is ThreadKind.MAIN else f"{own}:{kind.value}"
        self.kinds.setdefault(thread, kind)
        return thread

    def _index(self, kind: type, thread: str) -> int:
        at = self.next.get((kind, thread), 0)
        self.next[kind, thread] = at + 1
        return at

    def _where(self, seq: int) -> tuple[str | None, int | None]:
        return self.run.places.get(seq, (None, None))

    def _request_id(self, told: ContextRequest) -> str:
        """The same for the same request wherever the run is shown again, and for no other one."""
        return f"{self.key}:{_digest(repr((told.seq, told.request_id, told.usage, told.t_start, told.t_end)))}"

    def events(self) -> Iterator[TraceEvent | Issue]:
        yield from [self._request(request) for request in self.run.requests]
        calls = [self._call(action) for action in self.run.actions]
        yield from calls
        yield from (self._fold(fold) for fold in self.run.folds if fold.ok)
        for thread, kind in self.kinds.items():
            parent = None if kind is ThreadKind.MAIN else self.main
            yield Thread(thread, kind, parent_thread_id=parent)
        astray = [call for call in calls if call.request_id is None]
        if astray:
            said = f"{len(astray):,} actions name a request that is not recorded; they count, and belong to none."
            yield Issue(Severity.NOTE, IssueCode.W_PHANTOM_PARENT, said, astray[0].line, astray[0].file)
        yield self._facts()

    def _request(self, told: ContextRequest) -> Request:
        thread = self._thread(told.session, _THREADS[told.purpose])
        request_id = self._request_id(told)
        self.place.setdefault(told.request_id, (thread, request_id))
        first, last = times_of(told.t_start, told.t_end)
        file, line = self._where(told.seq)
        return Request(
            request_id,
            thread,
            0,
            self._index(Request, thread),
            tokens_of(told, self.run.header.tokenizer.basis),
            model=self.run.header.model,
            status=RequestStatus.OK if told.ok else RequestStatus.ERROR,
            t_first=first,
            t_last=last,
            provider=self.run.header.provider,
            duration_ms=_between(first, last),
            context_window=self.run.header.window_tokens,
            file=file,
            line=line,
        )

    def _call(self, told: Action) -> ToolCall:
        thread, request_id = self.place.get(told.request_id, (self.main, None))
        first, last = times_of(told.t_start, told.t_end)
        file, line = self._where(told.seq)
        args = None if told.args is None else canonical(told.args)
        mutates = True if told.family.mutates else False if told.family in _HARMLESS else None
        return ToolCall(
            f"{self.key}:{told.seq}",
            request_id,
            thread,
            self._index(ToolCall, thread),
            safe_name(told.tool),
            _OPS[told.family],
            Outcome.OK if told.ok else Outcome.ERROR,
            arg_bytes=None if args is None else len(args),
            arg_digest=_digest(f"{told.family.value}:{told.args_hash}"),
            t_start=first,
            t_end=last,
            result_bytes=_bytes_of(told),
            time_basis=TimeBasis.MEASURED,
            duration_ms=_between(first, last),
            target=told.target,
            mutates=mutates,
            polling=True if told.time_sensitive else None,
            environment_before=None if told.env_before is None else _digest(told.env_before),
            environment_after=None if told.env_after is None else _digest(told.env_after),
            file=file,
            line=line,
        )

    def _fold(self, told: Fold) -> Event:
        file, line = self._where(told.seq)
        owner = _owner(told, self.run.requests)
        return Event(
            EventKind.COMPACTION,
            self.main if owner is None else self._thread(owner.session, ThreadKind.MAIN),
            t=None if owner is None else times_of(owner.t_end)[0],
            trigger=told.mode.value,
            pre_tokens=told.tokens_before,
            post_tokens=told.tokens_after,
            line=line,
            file=file,
            implicit=told.mode is FoldMode.IMPLICIT,
        )

    def _facts(self) -> RunFacts:
        header, end = self.run.header, self.run.end
        outcome = succeeded(self.run).value
        return RunFacts(
            duration_ms=None if end is None or end.wall_s is None else round(end.wall_s * 1_000),
            turns=None if end is None else end.turns,
            outcome=None if end is None else end.outcome.value,
            success=None if outcome is None else outcome == 1,
            score=None if end is None else end.score,
            case_id=header.case_id,
            arm=header.arm,
            replicate=header.replicate,
            file=next((file for file, _ in self.run.places.values()), None),
        )


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _bytes_of(told: Action) -> int | None:
    """What a recall brought back is counted in tokens; a trace says sizes in bytes, and divides them again."""
    tokens = None if told.recall is None else told.recall.returned_tokens
    return None if tokens is None else tokens * BYTES_PER_TOKEN


def _between(first: int | None, last: int | None) -> int | None:
    return None if first is None or last is None or last < first else last - first


def _owner(fold: Fold, requests: Sequence[ContextRequest]) -> ContextRequest | None:
    """The main request before the fold whose prompt it folded: the last one that held a part of it, else the last."""
    replaced = frozenset(fold.replaced or ())
    before = [each for each in requests if each.purpose is Purpose.MAIN and each.seq < fold.seq]
    shows = (each for each in reversed(before) if any(node.id in replaced for node in each.nodes or ()))
    last = before[-1] if before else None
    return next(shows, last) if replaced else last
