"""Tokens that came to nothing: answers that only failed, branches that were left, sub-agents whose result nobody read.

A request is wasted where it failed or was aborted itself, or where every call that it made was answered and none with
an ok result. A call that was never answered says nothing: it may be the last of a recording, or answered out of its
sight. What a request cost in new tokens is its output and its fresh input; what it read from cache is not counted. A
sub-agent's result is read where the parent's conversation has a request after the call that brought it. Refuses to
guess the parent of a thread that names none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.sums import TokenSums, sums_of
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import Outcome, Provenance, Request, RequestStatus, Thread, ThreadKind, Tokens, ToolCall

__all__ = ["Spawned", "WasteParts", "spawned", "waste_parts", "wasted_requests"]

_FAILED = (RequestStatus.ERROR, RequestStatus.ABORTED)


@dataclass(frozen=True, slots=True)
class Spawned:
    """A sub-agent's thread, the call that started it, and whether its result was read (None: no call is known).

    ``sized``: its requests say all their tokens, and there is one.
    """

    thread: Thread
    call: ToolCall | None
    read: bool | None
    tokens: int
    sized: bool = True


@dataclass(frozen=True, slots=True)
class WasteParts(Summed):
    """What one run adds, in requests and tokens. ``new_tokens`` is the base: output and fresh input of all requests.

    ``*_unsized`` count requests and sub-agents that do not say all of the tokens that are summed beside them.
    """

    requests: int = 0
    wasted_requests: int = 0
    wasted_tokens: int = 0
    wasted_unsized: int = 0
    new_tokens: int = 0
    new_unsized: int = 0
    abandoned_requests: int = 0
    abandoned_tokens: int = 0
    abandoned_unsized: int = 0
    subagents: int = 0
    subagents_read: int = 0
    subagents_unread: int = 0
    subagent_tokens: int = 0
    unread_tokens: int = 0
    unread_unsized: int = 0


def wasted_requests(view: RunView) -> Iterator[Request]:
    """Requests that failed, or of whose calls some did and none is ok or open."""
    good, rest, unknown = Outcome.OK, Outcome.ORPHAN, Outcome.UNANSWERED
    bad = {call.request_id for call in view.calls if call.outcome not in (good, rest, unknown)}
    if bad:
        bad -= {call.request_id for call in view.calls if call.outcome in (good, unknown)}
    for request in view.billed:
        if request.status in _FAILED or request.request_id in bad:
            yield request


def spawned(view: RunView) -> Iterator[Spawned]:
    """Every sub-agent of the run."""
    threads = [thread for thread in view.run.threads if thread.kind is ThreadKind.SUBAGENT]
    if not threads:
        return
    starts = {call.spawned_thread: call for call in view.run.calls if call.spawned_thread is not None}
    by_id = {call.call_id: call for call in view.run.calls}
    last = {chain.thread_id: chain.requests[-1].request_id for chain in view.chains if chain.conversation}
    known = {request.request_id for chain in view.chains for request in chain.requests}
    rows: dict[str, list[Request]] = {}
    covered = {id(request) for request in view.covered}
    for request in (*view.billed, *view.coarse):
        if id(request) not in covered:
            rows.setdefault(request.thread_id, []).append(request)
    for thread in threads:
        call = starts.get(thread.thread_id) or by_id.get(thread.spawned_by or "")
        sums = sums_of([request.tokens for request in rows.get(thread.thread_id, [])])
        read: bool | None = None
        if call is not None and call.request_id in known:
            lost = call.outcome in (Outcome.UNANSWERED, Outcome.INTERRUPTED, Outcome.DENIED)
            read = call.in_conversation and not lost and last.get(call.thread_id) != call.request_id
        yield Spawned(thread, call, read, sums.prompt + sums.out_total, sums.rows > 0 and sums.all_known)


def waste_parts(view: RunView) -> WasteParts:
    """The waste parts of one run."""
    lost = [request.tokens for request in wasted_requests(view)]
    wasted, whole = sums_of(lost), view.sums
    kept = [request.in_conversation for request in view.billed]
    shed = [request.tokens for request in view.billed if not request.in_conversation] if False in kept else []
    left = sums_of(shed)
    agents = list(spawned(view))
    return WasteParts(
        requests=whole.rows,
        wasted_requests=wasted.rows,
        wasted_tokens=wasted.out_total + wasted.fresh_in,
        wasted_unsized=_unsized(lost, wasted),
        new_tokens=whole.out_total + whole.fresh_in,
        new_unsized=max(0, _unsized(view.tokens, whole) - len(view.covered)),
        abandoned_requests=left.rows,
        abandoned_tokens=left.prompt + left.out_total,
        abandoned_unsized=0 if left.all_known else sum(not sums_of([row]).all_known for row in shed),
        subagents=len(agents),
        subagents_read=sum(agent.read is True for agent in agents),
        subagents_unread=sum(agent.read is False for agent in agents),
        subagent_tokens=sum(agent.tokens for agent in agents),
        unread_tokens=sum(agent.tokens for agent in agents if agent.read is False),
        unread_unsized=sum(agent.read is False and not agent.sized for agent in agents),
    )


def _unsized(rows: Sequence[Tokens], sums: TokenSums) -> int:
    """Rows, whose sums are ``sums``, that lack their output or fresh input, or hold a placeholder for it."""
    if not (sums.no_out or sums.no_fresh or sums.placeholder_out or sums.placeholder_in):
        return 0
    stub = Provenance.PLACEHOLDER
    return sum(
        row.out_total is None or row.fresh_in is None or stub in map(row.provenance.get, ("out_total", "fresh_in"))
        for row in rows
    )
