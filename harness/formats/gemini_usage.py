"""Usage as the Gemini API and its command line count it, as disjoint token parts.

Cached tokens are part of the prompt; thoughts stand beside the output and are output all the same; what a server-side
tool adds to the prompt stands beside both. There is no counter of cache writes, so they are unknown. The API leaves out
a counter that is zero. This module refuses to clamp: numbers that contradict each other are told.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from harness.formats.usage_findings import Said, UsageFindings, derived
from harness.formats.whole_json import as_count, as_dict
from kpis.terms.trace import IssueCode, Severity, Tokens

__all__ = ["GeminiUsage"]

_SAID: Said = MappingProxyType(
    {
        "absent": (
            Severity.WARNING,
            IssueCode.W_NO_USAGE,
            "no usage is recorded. Its tokens are unknown and no sum holds them.",
        ),
        "inside": (
            Severity.NOTE,
            IssueCode.W_USAGE_MEANING,
            "the total shows that thoughts are part of the output. They were not added.",
        ),
        "beside": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "more cached tokens than input: they stand beside it, although this format puts them inside. Nothing was"
            " subtracted.",
        ),
        "unnamed": (
            Severity.NOTE,
            IssueCode.W_USAGE_MEANING,
            "the total holds more than input and output, as thoughts would be. It is kept as unattributed.",
        ),
        "more": (
            Severity.WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            "the total is larger than its parts. The difference is kept as unattributed.",
        ),
        "less": (
            Severity.WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            "the total is smaller than its parts. The parts were taken.",
        ),
    }
)

_SESSION = ("input", "output", "cached", "thoughts", "tool", "total")
_API = (
    "promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount",
    "toolUsePromptTokenCount", "totalTokenCount",
)  # fmt: skip
_METRICS = ("prompt", "candidates", "cached", "thoughts", "tool", "total")


class GeminiUsage(UsageFindings):
    """Reads the usage of one file's requests and remembers what a reader of the sums must know."""

    __slots__ = ()

    said = _SAID

    def of_message(self, told: Any, line: int) -> Tokens:
        """The usage of a message of a session."""
        return self._tokens(told, _SESSION, line, proto=False)

    def of_response(self, told: Any, line: int) -> Tokens:
        """The usage metadata of a response of the API, which leaves out what is zero."""
        return self._tokens(told, _API, line, proto=True)

    def of_metrics(self, told: Any, line: int) -> Tokens:
        """The tokens of one model in the metrics of a whole run."""
        return self._tokens(told, _METRICS, line, proto=False)

    def of_stats(self, told: Any, line: int) -> Tokens:
        """The statistics that end a stream: ``input`` is without cached tokens, ``input_tokens`` with them.

        Nothing names the thoughts, so what the total has beyond input and output is unattributed.
        """
        stats = as_dict(told)
        given, out = as_count(stats.get("input_tokens")), as_count(stats.get("output_tokens"))
        cached, fresh, total = (as_count(stats.get(key)) for key in ("cached", "input", "total_tokens"))
        if given is None and out is None:
            self.note("absent", line)
            return Tokens()
        tokens = Tokens(cache_read=cached, out_total=out)
        made: list[str] = []
        if fresh is not None and cached is not None and fresh + cached == given:
            tokens.fresh_in = fresh
        elif given is not None:
            self._prompt(tokens, given, cached, made, line)
        if total is not None and given is not None and out is not None and total > given + out:
            tokens.unattributed = total - given - out + (tokens.unattributed or 0)
            made.append("unattributed")
            self.note("unnamed", line)
        tokens.provenance = derived(*made) if made else {}
        return tokens

    def _tokens(self, told: Any, keys: tuple[str, ...], line: int, *, proto: bool) -> Tokens:
        usage = as_dict(told)
        given, out, cached, thoughts, tool, total = (as_count(usage.get(key)) for key in keys)
        if given is None and out is None:
            self.note("absent", line)
            return Tokens()
        made: list[str] = []
        if proto:
            made.extend(part for part, each in (("cache_read", cached), ("out_visible", out)) if each is None)
            out, cached, thoughts = out or 0, cached or 0, thoughts or 0
        tokens = Tokens(cache_read=cached, out_total=out)
        parts = (given or 0) + (out or 0)
        if out is not None and thoughts is not None:
            if total == parts and 0 < thoughts <= out:
                tokens.out_visible, tokens.out_reasoning = out - thoughts, thoughts
                self.note("inside", line)
            else:
                tokens.out_visible, tokens.out_reasoning, tokens.out_total = out, thoughts, out + thoughts
                parts += thoughts
            made.append("out_total")
        if given is not None:
            if tool and total == parts + tool:
                given += tool
                parts += tool
            self._prompt(tokens, given, cached, made, line)
        if total and total != parts:
            self.note("more" if total > parts else "less", line)
            if total > parts and tokens.unattributed is None:
                tokens.unattributed = total - parts
                made.append("unattributed")
        tokens.provenance = derived(*made) if made else {}
        return tokens

    def _prompt(self, tokens: Tokens, given: int, cached: int | None, made: list[str], line: int) -> None:
        if cached is None:
            tokens.unattributed = given
        elif cached > given:
            tokens.fresh_in = given
            self.note("beside", line)
        else:
            tokens.fresh_in = given - cached
            made.append("fresh_in")
