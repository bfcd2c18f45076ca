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
from kpis.terms.trace import Provenance, RunFacts, ThreadKind

__all__ = ["TokenParts", "token_parts"]


@dataclass(frozen=True, slots=True)
class TokenParts(Summed):
    """What one run adds. ``coarse`` are rows that count a whole thread or run; prompts are pooled by thread kind.

    ``covered`` requests say nothing themselves, and a coarse row counts them. Their prompts are not pooled, nor are any
    that are not known: ``main_unknown`` and ``other_unknown`` count them all, and placeholders. ``naive_prompt`` and
    ``naive_out`` are what adding up the lines of the log gives: each request as often as the log repeats it.
    ``reported_out`` and ``reported_prompt`` are the recording's own totals of the runs that have any, and
    ``logged_out``, ``logged_prompt`` what the requests of just these runs say.
    """

    sums: TokenSums = field(default_factory=TokenSums)
    coarse: TokenSums = field(default_factory=TokenSums)
    main_prompts: tuple[int, ...] = ()
    other_prompts: tuple[int, ...] = ()
    main_unknown: int = 0
    other_unknown: int = 0
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
    def rows(self) -> int:
        """Rows of usage, and no request that another row counts."""
        return self.sums.rows - self.covered + self.coarse.rows

    @property
    def prompt_gaps(self) -> int:
        """Of them, those that do not say their whole prompt."""
        sums, coarse = self.sums, self.coarse
        return sums.no_prompt - self.covered + sums.placeholder_in + coarse.no_prompt + coarse.placeholder_in

    @property
    def out_gaps(self) -> int:
        """Of them, those that do not say their output, or hold a placeholder."""
        return self.sums.no_out - self.covered + self.sums.placeholder_out + self.coarse.no_out

    @property
    def naive_lines(self) -> int:
        """What a sum over lines gives for prompt and output together."""
        return self.naive_prompt + self.naive_out


def token_parts(view: RunView) -> TokenParts:
    """The token parts of one run."""
    sums = view.sums
    coarse = sums_of([row.tokens for row in view.coarse])
    main, other = _by_kind(view)
    copies = [request.n_lines for request in view.billed]
    reporting = _reported(view.facts)
    return TokenParts(
        sums=sums,
        coarse=coarse,
        main_prompts=pooled(main.known),
        other_prompts=pooled(other.known),
        main_unknown=main.unknown,
        other_unknown=other.unknown,
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


@dataclass(slots=True)
class _Prompts:
    known: list[int] = field(default_factory=list)
    unknown: int = 0


def _by_kind(view: RunView) -> tuple[_Prompts, _Prompts]:
    """The prompts of main conversations, and of all others; a thread that nothing describes is a main one."""
    main, other = _Prompts(), _Prompts()
    others = {name for name, kind in view.kinds.items() if kind is not ThreadKind.MAIN}
    if not others and not view.sums.no_prompt:
        main.known = [prompt for prompt in view.prompts if prompt is not None]
    else:
        for request, prompt in zip(view.billed, view.prompts, strict=True):
            mine = other if request.thread_id in others else main
            if prompt is None:
                mine.unknown += 1
            else:
                mine.known.append(prompt)
    stubs = [
        request
        for request in (view.billed if view.sums.placeholder_in else ())
        if request.tokens.provenance_of("fresh_in") is Provenance.PLACEHOLDER
    ]
    for row in (*stubs, *view.coarse):
        (other if row.thread_id in others else main).unknown += 1
    return main, other


def _product(values: Sequence[int | None], copies: Iterable[int]) -> int:
    return sum(map(mul, [value or 0 for value in values], copies))


def _reported(told: Sequence[RunFacts]) -> TokenSums | None:
    """The recording's own total by model, added up; None where it has none."""
    rows = [usage.tokens for facts in told for usage in facts.by_model]
    return sums_of(rows) if rows else None
