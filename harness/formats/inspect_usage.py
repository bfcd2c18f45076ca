"""Usage as Inspect records it, as disjoint token parts.

Whether cached tokens stand inside ``input_tokens`` has changed: since 0.3.184 (February 2026) they stand beside it, for
Google's models since 0.3.208 (April 2026); before, it depended on the provider. The total is the provider's own all
along, so where it is recorded its arithmetic decides, and the version only where the arithmetic fits both. A prompt of
which nobody says how much was cached is ``unattributed``. This module refuses to clamp: what does not add up is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.formats.usage_findings import Said, derived
from harness.formats.whole_json import as_count, as_dict
from kpis.terms.trace import Issue, IssueCode, Severity, Tokens

__all__ = ["InspectUsage", "provider_of"]

_BESIDE_SINCE = (0, 3, 184)
_GOOGLE_SINCE = (0, 3, 208)
_ALWAYS_BESIDE = frozenset(("anthropic", "bedrock"))
_GOOGLE = frozenset(("google", "vertex"))
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,6})")

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


class _Reading(NamedTuple):
    """What a usage may mean: cached tokens are part of the input; reasoning is not part of the output."""

    inside: bool
    apart: bool


_READINGS = tuple(_Reading(*each) for each in product((False, True), repeat=2))


def provider_of(model: str | None) -> str | None:
    """The provider in a model's name, ``provider/model``; None where there is none."""
    return model.partition("/")[0].lower() if model and "/" in model else None


class InspectUsage:
    """Reads the usage of one log and remembers what a reader of the sums must know."""

    __slots__ = ("_file", "_found", "_version")

    def __init__(self, file: str, version: str | None) -> None:
        """``version`` is that of Inspect, as the log's list of packages has it."""
        found = _VERSION.match(version or "")
        self._version = tuple(map(int, found.groups())) if found is not None else None
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
        meant = self._meaning(given or 0, (read or 0) + (write or 0), out or 0, reasoning or 0, total, model, line)
        tokens = Tokens(cache_read=read, cache_write_other=write, out_total=out)
        made: list[str] = []
        self._output(tokens, reasoning, meant, made, line)
        if given is not None:
            if read is None:
                self._unsplit(tokens, given, total, model, made, line, raw)
            elif meant.inside:
                tokens.fresh_in = given - read - (write or 0)
                made.append("fresh_in")
            else:
                tokens.fresh_in = given
        self._total(tokens, total, made, line)
        if made:
            tokens.provenance = derived(*made)
        return tokens

    def _promised(self, model: str | None) -> bool | None:
        """Whether cached tokens are part of the input, by version and provider; None where neither tells."""
        provider = provider_of(model)
        if provider in _ALWAYS_BESIDE:
            return False
        if self._version is None:
            return None
        return self._version < (_GOOGLE_SINCE if provider in _GOOGLE else _BESIDE_SINCE)

    def _meaning(
        self,
        given: int,
        cached: int,
        out: int,
        reasoning: int,
        total: int | None,
        model: str | None,
        line: int | None,
    ) -> _Reading:
        promised = self._promised(model)
        usual = _Reading(bool(promised), False)
        fitting = [
            each
            for each in _READINGS
            if given + out + (0 if each.inside else cached) + (reasoning if each.apart else 0) == total
            and not (each.inside and cached > given)
        ]
        if promised is not None and usual in fitting:
            return usual
        inside = {each.inside for each in fitting}
        if fitting:
            if cached and len(inside) > 1 and promised is None:
                self.note("unsettled", line)
                return fitting[0]
            kept = [each for each in fitting if each.inside == usual.inside] or fitting
            if promised is not None:
                self.note("other", line)
            return kept[0]
        if cached and promised is None:
            self.note("unsettled", line)
        elif promised and cached > given:
            self.note("beside", line)
            return _Reading(False, False)
        return usual

    def _output(
        self, tokens: Tokens, reasoning: int | None, meant: _Reading, made: list[str], line: int | None
    ) -> None:
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
        model: str | None,
        made: list[str],
        line: int | None,
        raw: Any,
    ) -> None:
        """A prompt without a count of what was read from a cache.

        Where cached tokens are counted beside the input and inside the total, a total that has no room for them says
        that there were none. Else the provider's own usage may say it.
        """
        write = tokens.cache_write_other or 0
        if self._promised(model) is False and total == given + write + (tokens.out_total or 0):
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
