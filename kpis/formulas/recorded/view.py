"""A recorded run laid out for counting: who is billed, which requests continue one another, where a context was folded.

Every formula of this package reads a :class:`RunView`, so that the rules of what counts stand once: a request that
another file or thread counts already (``copied``) is context and never a count; a synthetic one is an error message and
no answer of a model; one from a cache of the client cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from kpis.formulas.recorded.chains import Chain, chains_of, compactions_of
from kpis.formulas.recorded.sums import TokenSums, is_undivided, sums_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Request, RequestStatus, RunFacts, ThreadKind, Tokens, ToolCall, UsageScope

__all__ = ["Chain", "RunView", "prompt_of", "view_of"]

_THREAD = attrgetter("thread_id")


@dataclass(frozen=True, slots=True)
class RunView:
    """One run laid out. ``billed``, ``tokens`` and ``prompts`` are columns of one table, in the run's own order.

    ``sums`` are theirs. ``coarse`` are rows of usage that stand for a whole thread or run, and ``covered`` the requests
    of it, which say nothing themselves. ``calls`` leave out what is copied, and ``facts`` those of a file that only
    shows again what somebody else counts.
    """

    run: RecordedRun
    billed: Sequence[Request]
    tokens: Sequence[Tokens]
    prompts: Sequence[int | None]
    chains: tuple[Chain, ...]
    calls: Sequence[ToolCall]
    sums: TokenSums
    kinds: dict[str, ThreadKind]
    facts: Sequence[RunFacts] = ()
    coarse: tuple[Request, ...] = ()
    covered: tuple[Request, ...] = ()
    synthetic: tuple[Request, ...] = ()
    local: tuple[Request, ...] = ()

    def kind_of(self, thread_id: str) -> ThreadKind:
        """What kind of thread it is: the main one where the recording names none."""
        return self.kinds.get(thread_id, ThreadKind.MAIN)

    def calls_by_thread(self, *, copied: bool = False) -> Iterator[tuple[str, list[ToolCall]]]:
        """The calls of the conversation, thread by thread in order, with the ``copied`` ones only where asked."""
        calls = self.run.calls if copied else self.calls
        for thread_id, group in groupby(calls, _THREAD):
            yield thread_id, [call for call in group if call.in_conversation]


def prompt_of(tokens: Tokens) -> int | None:
    """What the model was shown, in tokens; None where a part of it is unknown.

    Where a recording gives the prompt as one number without its cached part, that number is ``unattributed`` beside a
    known output, and it is the prompt.
    """
    if is_undivided(tokens):
        known = (tokens.unattributed, tokens.fresh_in, tokens.cache_read, tokens.cache_write)
        return sum(part for part in known if part is not None)
    return tokens.prompt


def view_of(run: RecordedRun) -> RunView:
    """Lay ``run`` out. One pass over its requests, one over its calls."""
    rows: list[Request] = []
    coarse: list[Request] = []
    synthetic: list[Request] = []
    local: list[Request] = []
    plain, usual = RequestStatus.SYNTHETIC, UsageScope.REQUEST
    for request in run.requests:
        if request.status is plain:
            if not request.copied:
                synthetic.append(request)
        elif request.scope is not usual:
            if not request.copied:
                coarse.append(request)
        elif request.local_cache:
            if not request.copied:
                local.append(request)
        else:
            rows.append(request)
    kinds = {thread.thread_id: thread.kind for thread in run.threads}
    prompts: list[int | None] = []
    for request in rows:
        tokens = request.tokens
        fresh, read = tokens.fresh_in, tokens.cache_read
        if fresh is None or read is None:
            prompts.append(prompt_of(tokens))
        else:  # Tokens.prompt, without two calls for every request of a large tree
            writes = (tokens.cache_write_5m or 0) + (tokens.cache_write_1h or 0) + (tokens.cache_write_other or 0)
            prompts.append(fresh + read + writes)
    billed, shown = rows, prompts
    if any(request.copied for request in rows):
        kept = [at for at, request in enumerate(rows) if not request.copied]
        billed, shown = [rows[at] for at in kept], [prompts[at] for at in kept]
    calls: Sequence[ToolCall] = run.calls
    if any(call.copied for call in calls):
        calls = [call for call in calls if not call.copied]
    columns = [request.tokens for request in billed]
    return RunView(
        run=run,
        billed=billed,
        tokens=columns,
        sums=sums_of(columns),
        prompts=shown,
        chains=tuple(chains_of(rows, prompts, kinds, compactions_of(run))),
        calls=calls,
        kinds=kinds,
        facts=_own_facts(run),
        coarse=tuple(coarse),
        covered=tuple(_covered(billed, coarse)),
        synthetic=tuple(synthetic),
        local=tuple(local),
    )


def _own_facts(run: RecordedRun) -> Sequence[RunFacts]:
    """The facts of the run without those of a file all of whose requests somebody else counts, cost and verdict too."""
    if not run.facts or not any(request.copied for request in run.requests):
        return run.facts
    own = {request.file for request in run.requests if not request.copied}
    again = {request.file for request in run.requests} - own
    return [facts for facts in run.facts if facts.file not in again and (own or facts.file is not None)]


def _covered(billed: Sequence[Request], coarse: Sequence[Request]) -> Iterator[Request]:
    """Requests without usage whose thread or run has a row that counts prompt and output for all of them."""
    whole = [row for row in coarse if prompt_of(row.tokens) is not None and row.tokens.out_total is not None]
    if not whole:
        return
    anywhere = any(row.scope is UsageScope.RUN for row in whole)
    threads = {row.thread_id for row in whole}
    for request in billed:
        silent = request.tokens.out_total is None and prompt_of(request.tokens) is None
        if silent and (anywhere or request.thread_id in threads):
            yield request
