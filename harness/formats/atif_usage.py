"""Usage as ATIF records it, as disjoint token parts: of one step, and what only a trajectory's totals tell of.

Cached tokens are part of the prompt. Totals are cumulative and hold what no step shows, such as the requests of a
summariser; the difference is a row of its own, so that the sums are the totals. This module refuses to make a row of a
negative difference: then totals and steps contradict each other, and that is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from harness.formats.usage_findings import Said, derived
from harness.formats.whole_json import as_amount, as_count, as_dict
from kpis.terms.trace import Issue, IssueCode, Severity, Tokens

__all__ = ["AtifUsage", "Counts", "counts_of", "final_of", "hidden_tokens", "sum_of"]

_SAID: Said = MappingProxyType(
    {
        "absent": (Severity.WARNING, IssueCode.W_NO_USAGE, "record no usage. Their tokens are unknown."),
        "no split": (
            Severity.NOTE,
            IssueCode.W_USAGE_MEANING,
            "record the prompt as one number, without its cached part. It counts as prompt, and none of it as fresh.",
        ),
        "beside": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "record more cached tokens than prompt: they stand beside it, although ATIF puts them inside. Nothing was"
            " subtracted.",
        ),
        "several": (
            Severity.NOTE,
            IssueCode.W_USAGE_MEANING,
            "stand for several model requests each; each is shown as one.",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Prompt, completion, cached tokens and US dollars; None is unknown."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cost: float | None = None

    def minus(self, other: Counts) -> Counts:
        """What is left, part by part; a part that either lacks is unknown."""

        def left(mine: int | None, others: int | None) -> int | None:
            return None if mine is None or others is None else mine - others

        cost = None if self.cost is None or other.cost is None else self.cost - other.cost
        if cost is not None and self.cost is not None and math.isclose(cost, 0, abs_tol=1e-9 * max(1, self.cost)):
            cost = 0.0
        return Counts(
            left(self.prompt, other.prompt),
            left(self.completion, other.completion),
            left(self.cached, other.cached),
            cost,
        )

    @property
    def possible(self) -> bool:
        """Whether nothing that is known is negative."""
        return min(self.prompt or 0, self.completion or 0, self.cached or 0) >= 0

    @property
    def empty(self) -> bool:
        """Whether nothing was spent, as far as it is known."""
        return not self.prompt and not self.completion


def counts_of(step: Mapping[str, Any]) -> Counts | None:
    """What a step records; None where it records no usage."""
    told = as_dict(step.get("metrics"))
    prompt, completion = as_count(told.get("prompt_tokens")), as_count(told.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    return Counts(prompt, completion, as_count(told.get("cached_tokens")), as_amount(told.get("cost_usd")))


def final_of(final: Mapping[str, Any]) -> Counts:
    """The totals of a trajectory."""
    return Counts(
        as_count(final.get("total_prompt_tokens")),
        as_count(final.get("total_completion_tokens")),
        as_count(final.get("total_cached_tokens")),
        as_amount(final.get("total_cost_usd")),
    )


def sum_of(rows: Iterable[Counts]) -> Counts:
    """The sum: of prompts, completions and cached tokens what is known, of costs only where each is known."""
    each = list(rows)
    costs = [row.cost for row in each if row.cost is not None]
    return Counts(
        sum(row.prompt or 0 for row in each),
        sum(row.completion or 0 for row in each),
        sum(row.cached or 0 for row in each),
        math.fsum(costs) if len(costs) == len(each) else None,
    )


def hidden_tokens(left: Counts) -> Tokens:
    """What no step tells of, as one row of disjoint parts; every part is derived."""
    prompt, cached = left.prompt, left.cached
    tokens = Tokens(out_total=left.completion)
    if prompt is not None and cached is not None and cached <= prompt:
        tokens.fresh_in, tokens.cache_read = prompt - cached, cached
    else:
        tokens.unattributed = prompt
    tokens.provenance = derived("fresh_in", "cache_read", "unattributed", "out_total")
    return tokens


class AtifUsage:
    """Reads the usage of a conversation's steps and remembers what a reader of the sums must know.

    ``all_cached``: the totals show that steps which record no cached tokens had none.
    """

    __slots__ = ("_file", "_found", "all_cached")

    def __init__(self, file: str, all_cached: bool) -> None:
        self._file = file
        self._found: dict[str, tuple[int, int]] = {}
        self.all_cached = all_cached

    def note(self, what: str, line: int) -> None:
        """``what`` (a key of the table above) holds of the step at ``line``."""
        count, first = self._found.get(what, (0, line))
        self._found[what] = count + 1, first

    def issues(self) -> Iterator[Issue]:
        """One issue a finding, at the first step that it holds of."""
        for what, (severity, code, said) in _SAID.items():
            if what in self._found:
                count, line = self._found[what]
                yield Issue(severity, code, f"Of the agent's steps {count:,} {said}", line, self._file)

    def tokens(self, step: Mapping[str, Any], line: int) -> Tokens:
        """The disjoint parts of one step's usage; all None where it records none."""
        counts = counts_of(step)
        if counts is None:
            self.note("absent", line)
            return Tokens()
        extra = as_dict(as_dict(step.get("metrics")).get("extra"))
        tokens, made = Tokens(out_total=counts.completion), ["fresh_in"]
        cached = counts.cached
        if cached is None and self.all_cached:
            cached = 0
            made.append("cache_read")
        tokens.cache_read = cached
        if counts.prompt is not None and cached is not None:
            self._prompt(tokens, counts.prompt, cached, extra, line)
        elif counts.prompt is not None:
            tokens.unattributed = counts.prompt
            self.note("no split", line)
        reasoning = as_count(extra.get("reasoning_tokens"))
        if reasoning is None:
            reasoning = as_count(extra.get("reasoning_output_tokens"))
        if reasoning is not None and counts.completion is not None and reasoning <= counts.completion:
            tokens.out_reasoning, tokens.out_visible = reasoning, counts.completion - reasoning
            made.append("out_visible")
        tokens.provenance = derived(*made)
        return tokens

    def _prompt(self, tokens: Tokens, prompt: int, cached: int, extra: Mapping[str, Any], line: int) -> None:
        """Part the prompt. New cache entries are taken out only where the step's own numbers prove them inside."""
        if cached > prompt:
            tokens.fresh_in = prompt
            self.note("beside", line)
            return
        tokens.fresh_in = prompt - cached
        write, fresh = as_count(extra.get("cache_creation_input_tokens")), as_count(extra.get("input_tokens"))
        if write is not None and fresh is not None and fresh + write + cached == prompt:
            tokens.fresh_in, tokens.cache_write_other = fresh, write
