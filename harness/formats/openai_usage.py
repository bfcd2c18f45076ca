"""Usage as OpenAI and everything that speaks its dialect counts it, as disjoint token parts.

Cached and newly cached tokens stand inside the prompt, reasoning inside the completion. OpenRouter, LiteLLM, DeepSeek
and the Responses API use other keys for the same; Anthropic's own keys, which proxies pass on, stand beside the input.
Where the prompt is one number without its cached part, that number is ``unattributed``: it is the prompt, and nothing
of it is claimed to be fresh. This module refuses to clamp: numbers that contradict each other are told.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from harness.formats.usage_findings import Said, UsageFindings, derived
from harness.formats.whole_json import as_count, as_dict
from kpis.terms.trace import IssueCode, Severity, Tokens

__all__ = ["UsageLog"]

_SAID: Said = MappingProxyType(
    {
        "absent": (
            Severity.WARNING,
            IssueCode.W_NO_USAGE,
            "no usage is recorded. Its tokens are unknown and no sum holds them.",
        ),
        "no split": (
            Severity.NOTE,
            IssueCode.W_USAGE_MEANING,
            "the prompt is one number, without its cached part. It is counted as prompt, and none of it as fresh.",
        ),
        "beside": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "more cached tokens than prompt: they stand beside it, although this dialect puts them inside. Nothing was"
            " subtracted.",
        ),
        "outside": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "reasoning stands beside the completion, as the total shows. It was added.",
        ),
        "doubtful": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "more reasoning than completion, and no total that explains it. The completion was taken and not split.",
        ),
        "more": (
            Severity.WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            "the total is larger than prompt and completion together. The difference is kept as unattributed.",
        ),
        "less": (
            Severity.WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            "the total is smaller than prompt and completion together. The parts were taken.",
        ),
    }
)


def _first(*values: Any) -> int | None:
    return next((count for value in values if (count := as_count(value)) is not None), None)


class UsageLog(UsageFindings):
    """Reads the usage of one file's requests and remembers what a reader of the sums must know."""

    __slots__ = ()

    said = _SAID

    def tokens(self, usage: Any, line: int) -> Tokens:
        """The disjoint parts of one usage object; all None where there is none."""
        told = as_dict(usage)
        into = as_dict(told.get("prompt_tokens_details")) or as_dict(told.get("input_tokens_details"))
        out_of = as_dict(told.get("completion_tokens_details")) or as_dict(told.get("output_tokens_details"))
        prompt = _first(told.get("prompt_tokens"), told.get("input_tokens"))
        out = _first(told.get("completion_tokens"), told.get("output_tokens"))
        if prompt is None and out is None:
            self.note("absent", line)
            return Tokens()
        read = _first(
            into.get("cached_tokens"),
            told.get("cache_read_input_tokens"),
            told.get("cache_read_tokens"),
            told.get("prompt_cache_hit_tokens"),
            told.get("cached_tokens"),
        )
        write = _first(
            into.get("cache_write_tokens"),
            into.get("cache_creation_tokens"),
            told.get("cache_creation_input_tokens"),
            told.get("cache_write_tokens"),
        )
        reasoning = _first(out_of.get("reasoning_tokens"), told.get("reasoning_tokens"))
        total = as_count(told.get("total_tokens"))
        tokens = Tokens(cache_read=read, cache_write_other=write)
        made: list[str] = []
        self._prompt(tokens, prompt, made, line, apart="prompt_tokens" not in told and not into)
        self._output(tokens, out, reasoning, None if total is None or prompt is None else total - prompt, made, line)
        self._total(tokens, prompt, total, made, line)
        if made:
            tokens.provenance = derived(*made)
        return tokens

    def _prompt(self, tokens: Tokens, prompt: int | None, made: list[str], line: int, *, apart: bool) -> None:
        """Part the prompt. ``apart``: in Anthropic's keys, where cached tokens stand beside the input."""
        cached = (tokens.cache_read or 0) + (tokens.cache_write_other or 0)
        known = tokens.cache_read is not None
        if prompt is None:
            return
        if apart and (known or tokens.cache_write_other is not None):
            tokens.fresh_in = prompt
        elif cached > prompt:
            tokens.fresh_in = prompt
            self.note("beside", line)
        elif known:
            tokens.fresh_in = prompt - cached
            made.append("fresh_in")
        else:
            tokens.unattributed = prompt - cached
            self.note("no split", line)

    def _output(
        self, tokens: Tokens, out: int | None, reasoning: int | None, rest: int | None, made: list[str], line: int
    ) -> None:
        """Part the completion; ``rest`` is what the total leaves for it."""
        tokens.out_total = out
        if out is None or reasoning is None:
            return
        if reasoning and rest == out + reasoning:
            tokens.out_visible, tokens.out_reasoning, tokens.out_total = out, reasoning, out + reasoning
            made.append("out_total")
            self.note("outside", line)
        elif reasoning > out:
            self.note("doubtful", line)
        else:
            tokens.out_visible, tokens.out_reasoning = out - reasoning, reasoning
            made.append("out_visible")

    def _total(self, tokens: Tokens, prompt: int | None, total: int | None, made: list[str], line: int) -> None:
        """Hold the parts against the total, where both are whole."""
        shown, out = tokens.prompt, tokens.out_total
        if total is None or prompt is None or shown is None or out is None:
            return
        if total in (prompt + out, shown + out):  # one that leaves out what stands beside the prompt is no news
            return
        left = total - shown - out
        self.note("more" if left > 0 else "less", line)
        if left > 0:
            tokens.unattributed = left
            made.append("unattributed")
