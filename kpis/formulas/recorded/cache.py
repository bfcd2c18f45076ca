"""The provider's prefix cache as usage shows it: how much was read from it, where it broke, and why.

A request can be served from cache as far as the one before it in its thread reached. What it did not read of that is a
break: prompt(t-1) - cache_read(t), counted above 2,000 tokens and a tenth of the earlier prompt, since a provider
caches in blocks and drops a tail. Each break has one cause, so that a pause of the user's is not blamed on the agent.
Refuses to follow a branch that was abandoned as if it were the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from kpis.formulas.recorded.chains import Chain
from kpis.formulas.recorded.folds import halved
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView, prompt_of
from kpis.terms.trace import Request

__all__ = [
    "LEAST_BREAK",
    "LIFETIME_1H_MS",
    "LIFETIME_5M_MS",
    "BreakCause",
    "CacheBreak",
    "CacheParts",
    "cache_breaks",
    "cache_parts",
]

LEAST_BREAK = 2_000
"""Tokens that a prefix may lose without being called broken: caches hold blocks of up to 1,024 tokens, and a message
that was still being written when the entry was made is sent anew."""

LIFETIME_5M_MS = 300_000
LIFETIME_1H_MS = 3_600_000


class BreakCause(Enum):
    """Why a prefix had to be sent anew. What is recorded comes before what is inferred."""

    THREAD_START = "thread_start"  # the request before it is another run's, of which this one is a copy
    COMPACTION = "compaction"
    MODEL_CHANGE = "model_change"
    PAUSE = "pause"  # longer than the cache keeps an entry of the tier that the thread last wrote
    IMPLICIT_COMPACTION = "implicit_compaction"  # a prompt that fell by more than half, with no line to say so
    MUTATION = "mutation"  # a prompt that fell: something was taken out of the history
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class CacheBreak:
    """One break: ``tokens`` of the prefix were lost between two requests, ``gap_ms`` apart where times are known."""

    request: Request
    before: Request
    tokens: int
    cause: BreakCause
    gap_ms: int | None


@dataclass(frozen=True, slots=True)
class CacheParts(Summed):
    """What one run adds. ``read`` over ``prompt`` is the hit ratio, of requests that say what was read from cache.

    ``rewritten`` is at most the tokens lost: what of them the breaking request sent anew, which after a compaction is
    less; ``unsized`` are breaks of which that is not known. ``pairs`` are requests with one before them, and rows that
    stand for a whole thread; ``uncompared`` those of them in which no break can be seen.
    """

    requests: int = 0
    unsaid: int = 0
    read: int = 0
    prompt: int = 0
    breaks: int = 0
    tokens: int = 0
    rewritten: int = 0
    unsized: int = 0
    pairs: int = 0
    uncompared: int = 0
    breaks_by_cause: dict[str, int] = field(default_factory=dict)
    tokens_by_cause: dict[str, int] = field(default_factory=dict)


def _gap(before: Request, after: Request) -> int | None:
    """Milliseconds between the two prompts: both clocks start when the first block of an answer came."""
    first = before.t_first if before.t_first is not None else before.t_last
    then = after.t_first if after.t_first is not None else after.t_last
    return None if first is None or then is None else then - first


def _lifetime(chain: Chain, at: int) -> int:
    """How long the cache keeps what was last written before request ``at``; 5 minutes where no tier is recorded."""
    for request in reversed(chain.requests[:at]):
        tokens = request.tokens
        if tokens.cache_write_1h or tokens.cache_write_5m:
            return LIFETIME_1H_MS if tokens.cache_write_1h and not tokens.cache_write_5m else LIFETIME_5M_MS
    return LIFETIME_5M_MS


def _cause(chain: Chain, at: int, gap: int | None) -> BreakCause:
    before, request = chain.requests[at - 1], chain.requests[at]
    folded = [fold for fold in chain.folds if fold.at == at]
    if before.copied:
        return BreakCause.THREAD_START
    if any(not fold.implicit for fold in folded):
        return BreakCause.COMPACTION
    if before.model != request.model:
        return BreakCause.MODEL_CHANGE
    if gap is not None and gap > _lifetime(chain, at):
        return BreakCause.PAUSE
    if folded or halved(chain.prompts[at - 1], chain.prompts[at]):
        return BreakCause.IMPLICIT_COMPACTION
    earlier, now = chain.prompts[at - 1], chain.prompts[at]
    return BreakCause.MUTATION if earlier is not None and now is not None and now < earlier else BreakCause.UNEXPLAINED


def cache_breaks(view: RunView) -> Iterator[CacheBreak]:
    """Every break of the run, thread by thread in the order of the conversation."""
    for chain in view.chains:
        requests = chain.requests
        reads = [request.tokens.cache_read for request in requests]
        for at, (earlier, read) in enumerate(zip(chain.prompts, reads[1:], strict=False), start=1):
            if earlier is None or read is None:
                continue
            lost = earlier - read
            if lost > LEAST_BREAK and 10 * lost > earlier and not requests[at].copied:
                gap = _gap(requests[at - 1], requests[at])
                yield CacheBreak(requests[at], requests[at - 1], lost, _cause(chain, at, gap), gap)


def cache_parts(view: RunView, breaks: Sequence[CacheBreak]) -> CacheParts:
    """The cache parts of one run, whose breaks are ``breaks``."""
    reads: Sequence[int | None] = [tokens.cache_read for tokens in view.tokens]
    shown = view.prompts
    if view.coarse:
        reads = [*reads, *(row.tokens.cache_read for row in view.coarse)]
        shown = [*shown, *(prompt_of(row.tokens) for row in view.coarse)]
    rows = len(reads) - len(view.covered)
    if None in reads or None in shown:
        both = [(p, r) for p, r in zip(shown, reads, strict=True) if p is not None and r is not None]
        shown, reads = [p for p, _ in both], [r for _, r in both]
    counts: dict[str, int] = {}
    lost: dict[str, int] = {}
    pairs, uncompared = _pairs(view)
    for found in breaks:
        cause = found.cause.value
        counts[cause] = counts.get(cause, 0) + 1
        lost[cause] = lost.get(cause, 0) + found.tokens
    return CacheParts(
        requests=len(reads),
        unsaid=max(0, rows - len(reads)),
        read=sum(filter(None, reads)),
        prompt=sum(filter(None, shown)),
        breaks=len(breaks),
        tokens=sum(lost.values()),
        rewritten=sum(rewritten_of(found) for found in breaks),
        unsized=sum(found.request.tokens.fresh_in is None for found in breaks),
        pairs=pairs + len(view.coarse),
        uncompared=uncompared + len(view.coarse),
        breaks_by_cause=counts,
        tokens_by_cause=lost,
    )


def _pairs(view: RunView) -> tuple[int, int]:
    """Requests with another before them in their chain, and those of them that cannot be held against it."""
    whole = sum(len(chain.requests) for chain in view.chains)
    if whole == len(view.billed) and not (view.sums.no_prompt or view.sums.no_cache_read):
        return whole - len(view.chains), 0
    pairs = uncompared = 0
    for chain in view.chains:
        for request, earlier in zip(chain.requests[1:], chain.prompts, strict=False):
            if not request.copied:
                pairs += 1
                uncompared += earlier is None or request.tokens.cache_read is None
    return pairs, uncompared


def rewritten_of(found: CacheBreak) -> int:
    """The tokens that the breaking request sent anew in place of the lost prefix: no more than it sent uncached."""
    tokens = found.request.tokens
    return min(found.tokens, (tokens.fresh_in or 0) + (tokens.cache_write or 0))
