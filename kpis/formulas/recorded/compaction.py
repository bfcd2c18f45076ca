"""Compactions: what they took out of the next prompt, and what the summarising call must at least have cost.

``reclaimed_tokens_across_steps`` compares the prompts of the requests on both sides, so growth in the same step hides
part of it; it is not the R of a fold measured inside. Folds without a line of their own are inferred and stand apart.
The summarising call is in few logs: its cost is then modelled from below, never observed as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kpis.formulas.recorded.chains import Chain
from kpis.formulas.recorded.folds import Fold
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import Request, ThreadKind

__all__ = ["BYTES_PER_TOKEN", "CompactionParts", "Reclaimed", "compaction_parts", "compactions", "implicit_folds"]

BYTES_PER_TOKEN = 4
"""The usual rule of thumb for English text and code; what is estimated with it is a model and says so."""


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """One compaction of a conversation: the requests around it, and what the prompt lost (None: not known)."""

    chain: Chain
    fold: Fold
    before: Request | None
    after: Request | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class CompactionParts(Summed):
    """What one run adds. ``grown`` folds made the prompt no smaller; they reclaim 0, not less.

    ``aux_*`` model the summarising calls that the log does not hold; ``aux_logged`` counts those that it does.
    ``unpaired`` of ``pairs`` requests cannot be held against the one before them, so that no fold is inferred there.
    """

    folds: int = 0
    measured: int = 0
    grown: int = 0
    reclaimed: int = 0
    implicit: int = 0
    implicit_reclaimed: int = 0
    pairs: int = 0
    unpaired: int = 0
    aux_logged: int = 0
    aux_modelled: int = 0
    aux_in: int = 0
    aux_out: int = 0
    aux_unsized: int = 0


def compactions(view: RunView) -> Iterator[Reclaimed]:
    """Every recorded compaction, those that are inferred apart (:func:`implicit_folds`)."""
    for chain in view.chains:
        for fold in chain.folds:
            if not fold.implicit:
                yield _reclaimed(chain, fold)


def _reclaimed(chain: Chain, fold: Fold) -> Reclaimed:
    before = chain.requests[fold.at - 1] if fold.at > 0 else None
    after = chain.requests[fold.at] if fold.at < len(chain.requests) else None
    shown = chain.prompts[fold.at - 1] if before else None
    then = chain.prompts[fold.at] if after else None
    return Reclaimed(chain, fold, before, after, None if shown is None or then is None else max(0, shown - then))


def implicit_folds(view: RunView) -> Iterator[tuple[Request, Request, int]]:
    """(before, after, tokens) of each prompt of a conversation that fell by more than half with no line to say why."""
    for chain in view.chains:
        if not chain.conversation:
            continue
        told = {fold.at for fold in chain.folds if not fold.implicit}
        for at in range(1, len(chain.prompts)):
            earlier, now = chain.prompts[at - 1], chain.prompts[at]
            if earlier is not None and now is not None and 2 * now < earlier:
                request = chain.requests[at]
                if at not in told and not request.copied and request.model == chain.requests[at - 1].model:
                    yield chain.requests[at - 1], request, earlier - now


def compaction_parts(view: RunView) -> CompactionParts:
    """The compaction parts of one run."""
    folds = list(compactions(view))
    guessed = list(implicit_folds(view))
    talks = [chain for chain in view.chains if chain.conversation]
    logged = 0
    if folds and ThreadKind.SUMMARISER in view.kinds.values():
        logged = sum(view.kind_of(request.thread_id) is ThreadKind.SUMMARISER for request in view.billed)
    known = [found.tokens for found in folds if found.tokens is not None]
    modelled = [aux_of(found) for found in folds] if not logged else []
    return CompactionParts(
        folds=len(folds),
        measured=len(known),
        grown=sum(tokens == 0 for tokens in known),
        reclaimed=sum(known),
        implicit=len(guessed),
        implicit_reclaimed=sum(tokens for _, _, tokens in guessed),
        pairs=sum(len(chain.prompts) - 1 for chain in talks) + len(view.coarse),
        unpaired=sum(_unpaired(chain.prompts) for chain in talks) + len(view.coarse),
        aux_logged=logged,
        aux_modelled=len(modelled),
        aux_in=sum(read for read, _ in modelled if read is not None),
        aux_out=sum(written for _, written in modelled if written is not None),
        aux_unsized=sum(read is None or written is None for read, written in modelled),
    )


def _unpaired(prompts: Sequence[int | None]) -> int:
    """Neighbours of which one is not known."""
    if None not in prompts:
        return 0
    return sum(one is None or other is None for one, other in pairwise(prompts))


def aux_of(found: Reclaimed) -> tuple[int | None, int | None]:
    """(input, output) tokens of the summarising call at least: the prompt read from cache, the summary's bytes / 4."""
    event = found.fold.event
    read = event.pre_tokens
    if read is None and found.before is not None:
        read = found.chain.prompts[found.fold.at - 1]
    return read, None if event.summary_bytes is None else event.summary_bytes // BYTES_PER_TOKEN
