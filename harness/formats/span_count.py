"""Which spans are model calls that count, each once.

The leaf rule: usage counts on the lowest span that carries it. One exception keeps a real call: what a tool that was
run inside a model call spends is the tool's, so it does not take the place of the call's own usage. A span that reports
the usage of calls that the recording does not show stands for all of them. This module refuses to hide the difference:
what a sum over all spans would say is told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.formats.span_tree import Span, SpanKind, Tree
from harness.formats.span_usage import Findings, all_of, settle
from kpis.terms.trace import Issue, IssueCode, Severity, Tokens

__all__ = ["Counted", "count"]

_APART = (SpanKind.TOOL, SpanKind.AGENT)


@dataclass(slots=True)
class Counted:
    """The model calls, by time. ``synthetic``: keys of those whose response id is another call's too."""

    calls: list[Span] = field(default_factory=list)
    synthetic: set[tuple[str, str]] = field(default_factory=set)
    issues: list[Issue] = field(default_factory=list)


@dataclass(slots=True)
class _Below:
    """What was found below a span: the tokens that count, and whether a model call is there."""

    tokens: int = 0
    holder: bool = False
    model: bool = False

    def add(self, tokens: int, holder: bool, model: bool) -> None:
        self.tokens += tokens
        self.holder = self.holder or holder
        self.model = self.model or model


def count(tree: Tree, findings: Findings) -> Counted:
    """The model calls of ``tree``; sets ``tokens`` of every span that carries usage."""
    holders = [span for span in tree.spans if span.usage is not None and not span.usage.empty]
    found_of: dict[tuple[str, str], Iterable[str]] = {}
    for span, (tokens, found) in zip(holders, settle([span.usage for span in holders if span.usage]), strict=True):
        span.tokens = tokens
        found_of[span.key] = found
    leaves, rolled, differing = _leaves(tree)
    counted = Counted()
    calls, repeated = _once(leaves, counted.synthetic)
    calls += _without_usage(tree, {span.key for span in leaves})
    counted.calls = sorted(calls, key=lambda each: each.order)
    for span in counted.calls:
        for what in (*span.said, *found_of.get(span.key, ("absent",))):
            findings.add(what, span.file, span.line)
    counted.issues = list(_told(counted.calls, rolled, repeated, differing))
    return counted


def _leaves(tree: Tree) -> tuple[list[Span], list[Span], list[Span]]:
    """Spans whose usage counts, those whose usage repeats it, and of the latter those that say something else."""
    direct: dict[tuple[str, str], _Below] = defaultdict(_Below)
    anywhere: dict[tuple[str, str], _Below] = defaultdict(_Below)
    leaves: list[Span] = []
    rolled: list[Span] = []
    differing: list[Span] = []
    for span in reversed(tree.spans):
        near, below = direct[span.key], anywhere[span.key]
        covering = near if span.kind is SpanKind.MODEL else below
        own = 0
        if span.tokens is not None:
            if covering.holder:
                rolled.append(span)
                if all_of(span.tokens) != covering.tokens:
                    differing.append(span)
            else:
                leaves.append(span)
                own = all_of(span.tokens)
        above = tree.parent(span)
        if above is None:
            continue
        holder, model = span.tokens is not None, span.kind is SpanKind.MODEL
        anywhere[above.key].add(own + below.tokens, holder or below.holder, model or below.model)
        if span.kind not in _APART:
            direct[above.key].add(own + near.tokens, holder or near.holder, model or near.model)
    return leaves, rolled, differing


def _without_usage(tree: Tree, leaves: set[tuple[str, str]]) -> list[Span]:
    """Model calls whose usage is not recorded, but for those that enclose another one or are one that counts."""
    encloses: set[tuple[str, str]] = set()
    for span in reversed(tree.spans):
        above = tree.parent(span)
        if above is not None and span.kind not in _APART and (span.kind is SpanKind.MODEL or span.key in encloses):
            encloses.add(above.key)
    inside: set[tuple[str, str]] = set()
    found: list[Span] = []
    for span in tree.spans:
        above = tree.parent(span)
        if above is not None and span.kind not in _APART:
            counts = above.kind is SpanKind.MODEL and above.key in leaves
            if counts or above.key in inside:
                inside.add(span.key)
        if span.kind is SpanKind.MODEL and span.tokens is None and span.key not in encloses | inside:
            found.append(span)
    return found


def _once(leaves: Iterable[Span], synthetic: set[tuple[str, str]]) -> tuple[list[Span], list[Span]]:
    """One span a response, and the spans that two instruments recorded of the same one.

    Two spans with one response id are one call if they overlap in time. If not, a server gives ids twice: the later
    ones are calls of their own, and known by their spans.
    """
    by_id: dict[str, list[Span]] = defaultdict(list)
    kept: list[Span] = []
    repeated: list[Span] = []
    for span in leaves:
        if span.response_id is None:
            kept.append(span)
        else:
            by_id[span.response_id].append(span)
    for spans in by_id.values():
        for at, group in enumerate(_overlapping(sorted(spans, key=lambda each: each.order))):
            best = max(group, key=_known_parts)
            kept.append(best)
            repeated += [span for span in group if span is not best]
            if at:
                synthetic.add(best.key)
    return kept, repeated


def _overlapping(spans: Sequence[Span]) -> Iterator[list[Span]]:
    group: list[Span] = []
    until = 0
    for span in spans:
        if group and span.start is not None and span.start > until:
            yield group
            group = []
        group.append(span)
        until = max(until, span.end or span.start or 1 << 62)
    yield group


def _known_parts(span: Span) -> tuple[int, bool]:
    tokens = span.tokens or Tokens()
    parts = (tokens.fresh_in, tokens.cache_read, tokens.cache_write, tokens.out_total, tokens.out_reasoning)
    return sum(each is not None for each in parts), span.kind is SpanKind.MODEL


def _told(
    calls: Sequence[Span], rolled: Sequence[Span], repeated: Sequence[Span], differing: Sequence[Span]
) -> Iterator[Issue]:
    again = sorted([*rolled, *repeated], key=lambda each: (each.file, each.line))
    if again:
        right = sum(all_of(span.tokens) for span in calls if span.tokens)
        naive = right + sum(all_of(span.tokens) for span in again if span.tokens)
        spans = f"{len(again):,} span{'s repeat' if len(again) != 1 else ' repeats'}"
        said = (
            f"{spans} usage that another span counts and {'are' if len(again) != 1 else 'is'} left out:"
            f" a sum over all spans would say {naive:,} tokens, the model calls say {right:,}."
        )
        yield Issue(Severity.NOTE, IssueCode.W_DOUBLED_USAGE, said, again[0].line, again[0].file)
    if differing:
        first = min(differing, key=lambda each: (each.file, each.line))
        said = (
            f"{len(differing):,} enclosing span{'s report' if len(differing) != 1 else ' reports'} another sum than the"
            " calls below: either not all calls are in the recording, or the sum is of something else."
        )
        yield Issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said, first.line, first.file)
