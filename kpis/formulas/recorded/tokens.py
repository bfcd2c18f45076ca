"""Tokens of recorded runs: disjoint totals, what the model was shown request by request, and the usual wrong sum.

A total is a lower bound where a request says nothing of a part, or holds a number that its client never updated; the
counts of such requests stand beside the sums. Refuses to fill a gap in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import mul

from kpis.formulas.recorded.parts import Summed, pooled
from kpis.formulas.recorded.sums import TokenSums, sums_of
from kpis.formulas.recorded.view import RunView
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import ThreadKind

__all__ = ["TokenParts", "token_parts"]


@dataclass(frozen=True, slots=True)
class TokenParts(Summed):
    """What one run adds. ``coarse`` are rows that count a whole thread or run; prompts are pooled by thread kind.

    ``covered`` requests say nothing themselves, and a coarse row counts them. ``naive_prompt`` and ``naive_out`` are
    what adding up the lines of the log gives: each request as often as the log repeats it. ``reported_out`` and
    ``reported_prompt`` are the recording's own totals of the runs that have any, and ``logged_out``, ``logged_prompt``
    what the requests of just these runs say.
    """

    sums: TokenSums = field(default_factory=TokenSums)
    coarse: TokenSums = field(default_factory=TokenSums)
    main_prompts: tuple[int, ...] = ()
    other_prompts: tuple[int, ...] = ()
    covered: int = 0
    naive_prompt: int = 0
    naive_out: int = 0
    lines: int = 0
    synthetic: int = 0
    local_cache: int = 0
    runs_reporting: int = 0
    reported_prompt: int = 0
    reported_out: int = 0
    logged_prompt: int = 0
    logged_out: int = 0

    @property
    def prompt(self) -> int:
        """All prompt tokens that are known, those of whole-thread rows too."""
        return self.sums.prompt + self.coarse.prompt

    @property
    def out(self) -> int:
        """All output tokens that are known."""
        return self.sums.out_total + self.coarse.out_total

    @property
    def naive_lines(self) -> int:
        """What a sum over lines gives for prompt and output together."""
        return self.naive_prompt + self.naive_out


def token_parts(view: RunView) -> TokenParts:
    """The token parts of one run."""
    sums = view.sums
    coarse = sums_of([row.tokens for row in view.coarse])
    main: list[int] = []
    other: list[int] = []
    if len(view.run.threads) > 1:
        is_main = {thread.thread_id: thread.kind is ThreadKind.MAIN for thread in view.run.threads}
        for request, prompt in zip(view.billed, view.prompts, strict=True):
            if prompt is not None:
                (main if is_main.get(request.thread_id, True) else other).append(prompt)
    else:
        known = [prompt for prompt in view.prompts if prompt is not None]
        (main if not view.run.threads or view.run.threads[0].kind is ThreadKind.MAIN else other).extend(known)
    copies = [request.n_lines for request in view.billed]
    reporting = _reported(view.run)
    return TokenParts(
        sums=sums,
        coarse=coarse,
        main_prompts=pooled(main),
        other_prompts=pooled(other),
        covered=len(view.covered),
        naive_prompt=_product(view.prompts, copies),
        naive_out=_product([tokens.out_total for tokens in view.tokens], copies),
        lines=sum(copies),
        synthetic=len(view.synthetic),
        local_cache=len(view.local),
        runs_reporting=int(reporting is not None),
        reported_prompt=reporting.prompt if reporting else 0,
        reported_out=reporting.out_total if reporting else 0,
        logged_prompt=sums.prompt + coarse.prompt if reporting else 0,
        logged_out=sums.out_total + coarse.out_total if reporting else 0,
    )


def _product(values: Sequence[int | None], copies: Iterable[int]) -> int:
    return sum(map(mul, [value or 0 for value in values], copies))


def _reported(run: RecordedRun) -> TokenSums | None:
    """The recording's own total by model, added up; None where it has none."""
    rows = [usage.tokens for facts in run.facts for usage in facts.by_model]
    return sums_of(rows) if rows else None
