"""The lines behind the numbers of tokens, cache, compactions, money and trust: file, line, and what stands there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import nlargest

from kpis.formulas.recorded.bills import break_cost, compaction_cost
from kpis.formulas.recorded.cache import cache_breaks
from kpis.formulas.recorded.compaction import compactions, implicit_folds
from kpis.formulas.recorded.cost import UNNAMED, request_cost
from kpis.formulas.recorded.pricing import PICO, PriceTable
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import Provenance, Request, ThreadKind, Tokens

__all__ = [
    "Line",
    "breaks",
    "costs",
    "folds",
    "gaps",
    "guessed_folds",
    "largest",
    "merged",
    "peaks",
    "ranked",
    "reported",
]

Line = tuple[str | None, int | None, str]
"""File, line from 1, and a sentence."""

_MOST = 20  # of the largest prompts and costs: the rest add little and would hide them


def _at(request: Request, said: str) -> Line:
    return request.file, request.line, said


def merged(view: RunView) -> Iterator[Line]:
    """Requests that the log repeats, those that are no answers, and those that somebody else counts."""
    for request in view.billed:
        if request.n_lines > 1:
            yield _at(request, f"{request.n_lines} lines are one answer and repeat its usage; it is counted once.")
    for request in view.synthetic:
        yield _at(request, "A message that the client wrote itself; it is no request.")
    for request in view.local:
        yield _at(request, "Served by a cache of the client; it cost nothing and is no request.")
    for request in view.run.requests:
        if request.copied:
            yield _at(request, "Another file or thread counts this request already.")


def _prompts(view: RunView, main: bool | None) -> list[tuple[int, int]]:
    """The known prompts of main threads, of all others, or of both, each with its place among the requests."""
    every = zip(view.prompts, view.billed, strict=True)
    return [
        (prompt, at)
        for at, (prompt, request) in enumerate(every)
        if prompt is not None and (main is None or (view.kind_of(request.thread_id) is ThreadKind.MAIN) is main)
    ]


def _prompt(view: RunView, prompt: int, at: int, more: str = "") -> Line:
    request = view.billed[at]
    return _at(request, f"A prompt of {prompt:,} tokens in a {view.kind_of(request.thread_id).value} thread{more}.")


def peaks(view: RunView, main: bool | None) -> Iterator[Line]:
    """The largest prompts of main threads, of all others, or of both."""
    for prompt, at in nlargest(_MOST, _prompts(view, main)):
        yield _prompt(view, prompt, at)


def ranked(view: RunView, main: bool, percent: int) -> Iterator[Line]:
    """The one or two prompts of the run between which the percentile lies."""
    known = sorted(_prompts(view, main))
    if known:
        low, rest = divmod(percent * (len(known) - 1), 100)
        for rank in range(low, low + 1 + bool(rest)):
            yield _prompt(view, *known[rank], f", number {rank + 1:,} of {len(known):,} by size in this run")


def largest(view: RunView, of: Callable[[Tokens], int | None], what: str) -> Iterator[Line]:
    """The requests with the most tokens of one kind."""
    known = ((n, -at) for at, tokens in enumerate(view.tokens) if (n := of(tokens)))
    for n, at in nlargest(_MOST, known):
        yield _at(view.billed[-at], f"{n:,} tokens {what}.")


def gaps(view: RunView) -> Iterator[Line]:
    """Requests that do not say all their tokens, and what of the recording could not be read."""
    covered = {id(request) for request in view.covered}
    for request, prompt in zip(view.billed, view.prompts, strict=True):
        tokens = request.tokens
        if id(request) in covered:
            continue
        if tokens.provenance_of("out_total") is Provenance.PLACEHOLDER:
            yield _at(request, f"The output, {tokens.out_total:,}, was never updated by the client.")
        elif tokens.out_total is None:
            yield _at(request, "The output is not recorded.")
        if prompt is None:
            yield _at(request, "A part of the prompt is not recorded.")
    for issue in view.run.issues:
        yield issue.file, issue.line, f"{issue.code.value}: {issue.message}"


def _minutes(gap: int | None) -> str:
    return "an unknown time" if gap is None else f"{gap / 60_000:.1f} min"


def breaks(view: RunView, table: PriceTable | None) -> Iterator[Line]:
    """Each break of the cache with its cause, and what it cost above a read where a table is given."""
    for found in cache_breaks(view):
        said = f"{found.tokens:,} tokens of the prefix were not read from cache, {_minutes(found.gap_ms)} after the"
        said += f" request before: {found.cause.value.replace('_', ' ')}"
        cost = break_cost(found, table) if table is not None else None
        yield _at(found.request, f"{said}." if cost is None else f"{said}; ${cost / PICO:.4f} above a read.")


def folds(view: RunView, table: PriceTable | None) -> Iterator[Line]:
    """Each compaction: the prompts on both sides, and the modelled cost of the call where a table is given."""
    for found in compactions(view):
        event, at = found.fold.event, found.fold.at
        before = found.chain.prompts[at - 1] if found.before else None
        after = found.chain.prompts[at] if found.after else None
        if before is None or after is None:
            said = "A compaction without a known prompt on both sides"
        else:
            said = f"A compaction: the prompt went from {before:,} to {after:,} tokens, {max(0, before - after):,} less"
        cost = compaction_cost(found, table) if table is not None else None
        yield (
            event.file,
            event.line,
            f"{said}." if cost is None else f"{said}; its call cost at least ${cost / PICO:.4f}.",
        )


def guessed_folds(view: RunView) -> Iterator[Line]:
    """Each prompt that fell by more than half with no line to say why."""
    for _, after, tokens in implicit_folds(view):
        yield _at(after, f"The prompt fell by {tokens:,} tokens, more than half, and no line says why.")


def costs(view: RunView, table: PriceTable | None) -> Iterator[Line]:
    """Requests without a price, one line a model, then the dearest requests."""
    if table is None:
        return
    seen: set[str | None] = set()
    priced = []
    for at, request in enumerate((*view.billed, *view.coarse)):
        cost = request_cost(request, table)
        if cost is not None:
            priced.append((cost.low, -at, request))
        elif request.model not in seen:
            seen.add(request.model)
            yield _at(request, f"There is no price for {request.model or UNNAMED}.")
    for low, _, request in nlargest(_MOST, priced, key=lambda each: each[:2]):
        row = table.find(request.model)
        of = f", prices of {row.name} as of {row.as_of}" if row is not None else ""
        yield _at(request, f"${low / PICO:.4f}{of}.")


def reported(view: RunView) -> Iterator[Line]:
    """What the recording itself says that it cost or used."""
    for facts in view.facts:
        if facts.cost_usd is not None:
            yield facts.file, None, f"The recording reports ${facts.cost_usd:.4f} for the run."
        for usage in facts.by_model:
            cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
            parts = (("prompt", usage.tokens.prompt), ("output", usage.tokens.out_total))
            said = ", ".join(f"{name} {'unknown' if n is None else f'{n:,}'}" for name, n in parts)
            yield facts.file, None, f"The recording reports for {usage.model}: {said}{cost}."
