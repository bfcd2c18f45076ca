"""Spans of model calls, tools and agents, whatever tool recorded them, and which of them count.

Tracing tools deliver a span more than once, and put the usage of a model call on the call and again on everything that
encloses it. So a span is known by its trace and its own id, and usage counts at the leaves only: where it stands on a
span and below it, what is below counts. This module refuses to count by name alone: a span that encloses a call without
saying so is matched only by its operation and its time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from harness.formats.span_usage import Usage
from harness.formats.span_values import Payload
from kpis.terms.trace import Tokens

__all__ = ["Answered", "Asked", "Span", "SpanKind", "Tree", "distinct", "plant"]


_AT_ONCE = 32
"""How many wrappers of one operation are looked at: so many may overlap in time."""


class SpanKind(Enum):
    """What a span is about. A wrapper makes one or more model calls and reports their sum."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    WRAPPER = "wrapper"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call in the answer of a model."""

    call_id: str
    name: str | None
    arguments: Payload | None


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool result in the prompt of a model, where the recording shows prompts."""

    call_id: str
    result: Payload | None
    failed: bool = False


@dataclass(slots=True)
class Span:
    """One span, known by its ``key``. Times are Unix microseconds. ``digest`` is of all that the recording says of it.

    ``tokens`` are set from ``usage`` once all spans are known. ``family`` names the operation that a wrapper and its
    model calls share. ``conversation`` is the id by which traces belong together. ``asked`` are the tool calls of its
    answer, ``history`` those that its prompt shows. ``anonymous``: the recording gives it no id of its own.
    ``said`` are findings on its usage by whoever read it.
    """

    trace: str
    span: str
    parent: str | None
    kind: SpanKind
    file: str
    line: int
    digest: str
    name: str | None = None
    start: int | None = None
    end: int | None = None
    usage: Usage | None = None
    tokens: Tokens | None = None
    family: str | None = None
    conversation: str | None = None
    agent: str | None = None
    model: str | None = None
    provider: str | None = None
    response_id: str | None = None
    stop_reason: str | None = None
    visible_chars: int | None = None
    cost_usd: float | None = None
    attempts: int | None = None
    failed: bool = False
    error_class: str | None = None
    call_id: str | None = None
    arguments: Payload | None = None
    result: Payload | None = None
    asked: Sequence[Asked] = ()
    history: Sequence[Asked] = ()
    answered: Sequence[Answered] = ()
    anonymous: bool = False
    said: Sequence[str] = ()
    key: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        # Not a property: it is asked for forty times a span.
        self.key = (self.trace, self.span)

    @property
    def order(self) -> tuple[int, int, str, str]:
        """By time, and by id where times are equal or unknown: never by place in a file."""
        far = 1 << 62
        end = far if self.end is None else self.end
        return end if self.start is None else self.start, end, self.trace, self.span


def distinct(spans: Iterable[Span]) -> tuple[list[Span], int]:
    """Each span once, in order, and how many deliveries were dropped.

    Of several deliveries the most complete one counts: that with an end, then that with usage.
    """
    best: dict[tuple[str, str], Span] = {}
    dropped = 0
    for span in spans:
        known = best.setdefault(span.key, span)
        if known is not span:
            dropped += 1
            earlier = span.digest == known.digest and (span.file, span.line) < (known.file, known.line)
            if earlier or _rank(span) > _rank(known):
                best[span.key] = span
    return sorted(best.values(), key=lambda each: each.order), dropped


def _rank(span: Span) -> tuple[bool, int, bool, str]:
    return span.end is not None, span.end or 0, span.usage is not None, span.digest


@dataclass(slots=True)
class Tree:
    """Spans with their parents. ``spans`` are in an order in which every parent stands before what is below it.

    ``lost`` counts spans whose parent is not in the recording.
    """

    spans: list[Span]
    parents: Mapping[tuple[str, str], Span] = field(default_factory=dict)
    lost: int = 0

    def parent(self, span: Span) -> Span | None:
        """The span that encloses ``span``."""
        return self.parents.get(span.key)


def plant(spans: Sequence[Span]) -> Tree:
    """The tree of distinct ``spans``; a circle of parents is cut at its smallest id."""
    known = {span.key: span for span in spans}
    parents: dict[tuple[str, str], Span] = {}
    lost = 0
    for span in spans:
        if span.parent is None:
            continue
        above = known.get((span.trace, span.parent))
        if above is None:
            lost += 1
        elif above is not span:
            parents[span.key] = above
    _adopt(spans, parents)
    depth: dict[tuple[str, str], int] = {}
    for span in spans:
        way: dict[tuple[str, str], Span] = {}
        at: Span | None = span
        while at is not None and at.key not in depth:
            if at.key in way:
                circle = list(way)
                del parents[min(circle[circle.index(at.key) :])]
                way.clear()
                at = span
                continue
            way[at.key] = at
            at = parents.get(at.key)
        base = -1 if at is None else depth[at.key]
        for step, each in enumerate(reversed(way), 1):
            depth[each] = base + step
    return Tree(sorted(spans, key=lambda each: (depth[each.key], each.order)), parents, lost)


def _adopt(spans: Sequence[Span], parents: dict[tuple[str, str], Span]) -> None:
    """Give model calls without a parent to the wrapper of their operation that encloses them in time.

    Where a program keeps no context between spans, each is the root of a trace of its own.
    """
    wrappers: dict[str, list[Span]] = defaultdict(list)
    housed = {above.key for above in parents.values()}
    for span in spans:
        if span.kind is SpanKind.WRAPPER and span.family and span.key not in housed and span.start and span.end:
            wrappers[span.family].append(span)
    for family, held in wrappers.items():
        calls = [
            span
            for span in spans
            if span.kind is SpanKind.MODEL and span.family == family and span.key not in parents and span.start
        ]
        _match(sorted(held, key=lambda each: each.order), calls, parents)


def _match(wrappers: list[Span], calls: list[Span], parents: dict[tuple[str, str], Span]) -> None:
    """One sweep over time: of the wrappers that are open, the latest one that lasts as long as the call encloses it."""
    opened: list[Span] = []
    waiting = wrappers[::-1]
    for call in sorted(calls, key=lambda each: each.order):
        start = call.start or 0
        end = call.end or start
        while waiting and (waiting[-1].start or 0) <= start:
            opened.append(waiting.pop())
        while opened and (opened[-1].end or 0) < start:
            opened.pop()
        fitting = (each for each in opened[: -_AT_ONCE - 1 : -1] if (each.end or 0) >= end)
        above = next(fitting, None)
        if above is not None:
            parents[call.key] = above
