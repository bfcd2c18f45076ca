"""From the counters of a model call, as a tracing tool writes them, to disjoint token parts.

By convention OpenTelemetry, OpenInference, the Vercel SDK and LangSmith count cached tokens inside the input, and
reasoning inside the output; some programs that follow them do not. A call whose cached tokens exceed its input, or
whose total only adds up with the cached ones beside it, shows what its program does, and all calls of that program are
read the same way. This module refuses to clamp: what does not add up is kept as unattributed and told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from kpis.terms.trace import Issue, IssueCode, Provenance, Severity, Tokens

__all__ = ["Findings", "Usage", "all_of", "derived", "settle"]


@dataclass(slots=True)
class Usage:
    """The counters of one call as they stand; ``None`` is not recorded.

    ``uncached`` is input that was not cached, where a tool counts it apart. ``rest`` are tokens of buckets that are
    neither input nor output. ``disjoint``: the tool's own convention is that cached tokens are beside the input.
    ``program`` is whatever wrote the numbers: calls with the same one are read alike. ``twins``: two names of one
    counter had two values.
    """

    input: int | None = None
    output: int | None = None
    read: int | None = None
    write: int | None = None
    write_5m: int | None = None
    write_1h: int | None = None
    reasoning: int | None = None
    total: int | None = None
    uncached: int | None = None
    disjoint: bool = False
    program: str = ""
    twins: bool = False

    @property
    def writes(self) -> int | None:
        """Cache writes of all lifetimes; a split and its sum are not added."""
        split = [each for each in (self.write_5m, self.write_1h) if each is not None]
        known = [each for each in (self.write, sum(split) if split else None) if each is not None]
        return max(known) if known else None

    @property
    def cached(self) -> int:
        """Tokens read from and written to a cache, as far as they are known."""
        return (self.read or 0) + (self.writes or 0)

    @property
    def empty(self) -> bool:
        """Whether nothing at all is counted. Zeros alone are what programs write that were told no usage."""
        return not any(
            each
            for each in (self.input, self.output, self.read, self.writes, self.reasoning, self.total, self.uncached)
        )


@cache
def derived(*parts: str) -> Mapping[str, Provenance]:
    """The provenance of tokens of which ``parts`` are differences or sums; one object for equal arguments."""
    return MappingProxyType(dict.fromkeys(parts, Provenance.DERIVED))


_WARNING, _NOTE = Severity.WARNING, Severity.NOTE
_MEANING, _MISMATCH = IssueCode.W_USAGE_MEANING, IssueCode.W_TOTAL_MISMATCH
_SAID: Mapping[str, tuple[Severity, IssueCode, str]] = MappingProxyType(
    {
        "beside": (
            _WARNING,
            _MEANING,
            "cached tokens stand beside the input, although the format puts them inside: the program that wrote the"
            " counters shows it by more cached tokens than input or by its totals. Nothing was subtracted.",
        ),
        "inside": (
            _WARNING,
            _MEANING,
            "cached tokens stand inside the input, although the format puts them beside it: the totals show it. They"
            " were subtracted.",
        ),
        "outside": (
            _WARNING,
            _MEANING,
            "reasoning stands beside the output, by the totals or because it is more than the output. It was added.",
        ),
        "doubtful": (
            _WARNING,
            _MEANING,
            "input is at least as much as the cached tokens and no total tells whether it includes them. It was taken"
            " as beside them, as the format says; if it does include them, they are counted twice.",
        ),
        "clamped": (
            _WARNING,
            _MEANING,
            "an input of 0 beside cached tokens, as programs write that subtract and stop at 0. Fresh input is a lower"
            " bound.",
        ),
        "no cache": (
            _NOTE,
            _MEANING,
            "no counter of cached tokens. What was read from a cache, if anything, is unknown or part of fresh input.",
        ),
        "unattributed": (
            _WARNING,
            _MISMATCH,
            "the total is larger than its parts. The difference is kept as unattributed.",
        ),
        "over": (_WARNING, _MISMATCH, "the total is smaller than its parts. The parts were taken."),
        "twins": (
            _WARNING,
            _MISMATCH,
            "one counter has two names and two values. That of the current name was taken.",
        ),
        "absent": (
            _WARNING,
            IssueCode.W_NO_USAGE,
            "no usage is recorded. Its tokens are unknown and no sum holds them.",
        ),
    }
)


class Findings:
    """What the calls of a run have in common that a reader of their sums must know."""

    __slots__ = ("_counts", "_first")

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[str, int]] = {}

    def add(self, what: str, file: str, line: int) -> None:
        """``what`` (a key of the table above) holds of the call at ``file`` and ``line``."""
        self._counts[what] += 1
        self._first[what] = min(self._first.get(what, (file, line)), (file, line))

    def issues(self) -> Iterator[Issue]:
        """One issue a finding, at the first call that it holds of."""
        for what, (severity, code, said) in _SAID.items():
            if count := self._counts[what]:
                file, line = self._first[what]
                calls = f"{count:,} model call{'s' * (count != 1)}"
                yield Issue(severity, code, f"{calls}: {said}", line, file)


def settle(usages: Sequence[Usage]) -> Iterator[tuple[Tokens, Iterable[str]]]:
    """The tokens of each usage, in order, with what was found about it (keys of :class:`Findings`)."""
    beside = {each.program for each in usages if _shows_beside(each)}
    for each in usages:
        yield _tokens(each, each.disjoint or each.program in beside)


def _shows_beside(usage: Usage) -> bool:
    """Whether these numbers are possible only with cached tokens beside the input."""
    if usage.disjoint or usage.input is None or not usage.cached or usage.uncached is not None:
        return False
    if usage.cached > usage.input:
        return True
    if usage.total is None or usage.output is None:
        return False
    left = usage.total - usage.input - usage.cached - usage.output
    return left in (0, usage.reasoning)


def _tokens(usage: Usage, beside: bool) -> tuple[Tokens, list[str]]:
    found = ["twins"] if usage.twins else []
    made: list[str] = []
    cached, fresh = usage.cached, usage.input
    if usage.uncached is not None:
        fresh = usage.uncached
    elif fresh is not None and cached:
        if not beside:
            fresh -= cached
            made.append("fresh_in")
        elif not usage.disjoint:
            found.append("beside")
    if usage.read is None and usage.uncached is None and usage.input is not None:
        found.append("no cache")
    shown = None if fresh is None else fresh + cached
    out, visible = usage.output, None
    if usage.reasoning is not None and out is not None:
        if _outside(usage, shown):
            visible, out = out, out + usage.reasoning
            made.append("out_total")
            found.append("outside")
        else:
            visible = out - usage.reasoning
            made.append("out_visible")
    tokens = Tokens(
        fresh_in=fresh,
        cache_read=usage.read,
        cache_write_5m=usage.write_5m,
        cache_write_1h=usage.write_1h,
        cache_write_other=_other_writes(usage),
        out_visible=visible,
        out_reasoning=usage.reasoning,
        out_total=out,
    )
    if usage.total is not None:
        left = usage.total - (shown or 0) - (out or 0)
        if left > 0:
            tokens.unattributed = left
            made.append("unattributed")
            found.append("unattributed")
        elif left < 0 and not (beside and left == -cached):  # a total that forgot what stands beside is no news
            found.append("over")
    if made:
        tokens.provenance = derived(*made)
    return tokens, found


def _outside(usage: Usage, shown: int | None) -> bool:
    """Whether reasoning is not part of the output."""
    reasoning, output = usage.reasoning or 0, usage.output or 0
    if not reasoning:
        return False
    if usage.total is not None and shown is not None and usage.total - shown in (output, output + reasoning):
        return usage.total - shown != output
    return reasoning > output


def _other_writes(usage: Usage) -> int | None:
    """Cache writes whose lifetime is not recorded."""
    if usage.writes is None:
        return None
    left = usage.writes - (usage.write_5m or 0) - (usage.write_1h or 0)
    return left if left or (usage.write_5m is None and usage.write_1h is None) else None


def all_of(tokens: Tokens) -> int:
    """Every token that is counted, of whatever part."""
    parts = (tokens.fresh_in, tokens.cache_read, tokens.cache_write, tokens.out_total, tokens.unattributed)
    return sum(each for each in parts if each is not None)
