"""Usage as Inspect records it, as disjoint token parts.

What the counters mean is settled first (:mod:`harness.formats.inspect_meaning`). A prompt of which nobody says how much
was cached is ``unattributed``. This module refuses to clamp: what does not add up is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from harness.formats.inspect_meaning import Meaning, meaning_of, promised_by, version_of
from harness.formats.usage_findings import Said, derived
from harness.formats.whole_json import as_count, as_dict
from kpis.terms.trace import Issue, IssueCode, Severity, Tokens

__all__ = ["InspectUsage"]

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
        "other": (
            Severity.NOTE,
            IssueCode.W_USAGE_MEANING,
            "the total shows another meaning of input or output than the version of Inspect promises. The total was"
            " believed.",
        ),
        "unsettled": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "neither a total nor a known version of Inspect says whether cached tokens are part of the input. They were"
            " taken to stand beside it.",
        ),
        "beside": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "more cached tokens than input: they stand beside it, although this version puts them inside. Nothing was"
            " subtracted.",
        ),
        "doubtful": (
            Severity.WARNING,
            IssueCode.W_USAGE_MEANING,
            "more reasoning than output, and no total that explains it. The output was taken and not split.",
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


class InspectUsage:
    """Reads the usage of one log and remembers what a reader of the sums must know."""

    __slots__ = ("_file", "_found", "_version")

    def __init__(self, file: str, version: str | None) -> None:
        """``version`` is that of Inspect, as the log's list of packages has it."""
        self._version = version_of(version)
        self._file = file
        self._found: dict[str, tuple[int, int | None]] = {}

    def note(self, what: str, line: int | None) -> None:
        """``what`` (a key of the table above) holds of the row at ``line``."""
        count, first = self._found.get(what, (0, line))
        self._found[what] = count + 1, first

    def issues(self) -> Iterator[Issue]:
        """One issue a finding, at the first row that it holds of."""
        for what, (severity, code, said) in _SAID.items():
            if what in self._found:
                count, line = self._found[what]
                rows = f"{count:,} rows" if count != 1 else "1 row"
                yield Issue(severity, code, f"{rows} of usage: {said}", line, self._file)

    def tokens(self, usage: Any, model: str | None, line: int | None, raw: Any = None) -> Tokens:
        """The disjoint parts of one usage object; all None where there is none.

        ``model`` is its name with the provider's; ``raw`` is the provider's own usage, where the log keeps that.
        """
        told = as_dict(usage)
        given, out = as_count(told.get("input_tokens")), as_count(told.get("output_tokens"))
        if given is None and out is None:
            self.note("absent", line)
            return Tokens()
        read = as_count(told.get("input_tokens_cache_read"))
        write = as_count(told.get("input_tokens_cache_write"))
        reasoning = as_count(told.get("reasoning_tokens"))
        total = as_count(told.get("total_tokens")) or None
        promised = promised_by(self._version, model)
        cached = (read or 0) + (write or 0)
        meant, finding = meaning_of(given or 0, cached, out or 0, reasoning or 0, total, promised)
        if finding is not None:
            self.note(finding, line)
        tokens = Tokens(cache_read=read, cache_write_other=write, out_total=out)
        made: list[str] = []
        self._output(tokens, reasoning, meant, made, line)
        if given is not None:
            if read is None:
                self._unsplit(tokens, given, total, promised, made, line, raw)
            elif meant.inside:
                tokens.fresh_in = given - read - (write or 0)
                made.append("fresh_in")
            else:
                tokens.fresh_in = given
        self._total(tokens, total, made, line)
        if made:
            tokens.provenance = derived(*made)
        return tokens

    def _output(self, tokens: Tokens, reasoning: int | None, meant: Meaning, made: list[str], line: int | None) -> None:
        out = tokens.out_total
        if out is None or reasoning is None:
            return
        if meant.apart:
            tokens.out_visible, tokens.out_reasoning, tokens.out_total = out, reasoning, out + reasoning
            made.append("out_total")
        elif reasoning > out:
            self.note("doubtful", line)
        else:
            tokens.out_visible, tokens.out_reasoning = out - reasoning, reasoning
            made.append("out_visible")

    def _unsplit(
        self,
        tokens: Tokens,
        given: int,
        total: int | None,
        promised: bool | None,
        made: list[str],
        line: int | None,
        raw: Any,
    ) -> None:
        """A prompt without a count of what was read from a cache.

        Where cached tokens are counted beside the input and inside the total, a total that has no room for them says
        that there were none. Else the provider's own usage may say it.
        """
        write = tokens.cache_write_other or 0
        if promised is False and total == given + write + (tokens.out_total or 0):
            tokens.fresh_in, tokens.cache_read = given, 0
            made.append("cache_read")
            return
        told = as_dict(raw)
        into = as_dict(told.get("prompt_tokens_details")) or as_dict(told.get("input_tokens_details"))
        cached = as_count(into.get("cached_tokens"))
        whole = as_count(told.get("prompt_tokens")) or as_count(told.get("input_tokens"))
        if cached is not None and whole == given and cached + write <= given:
            tokens.fresh_in, tokens.cache_read = given - cached - write, cached
            made.append("fresh_in")
            return
        tokens.unattributed = given
        self.note("no split", line)

    def _total(self, tokens: Tokens, total: int | None, made: list[str], line: int | None) -> None:
        """Hold the parts against the total, where both are whole."""
        shown, out = tokens.prompt, tokens.out_total
        if total is None or shown is None or out is None or total == shown + out:
            return
        left = total - shown - out
        self.note("more" if left > 0 else "less", line)
        if left > 0:
            tokens.unattributed = left
            made.append("unattributed")
