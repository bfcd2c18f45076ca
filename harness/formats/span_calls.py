"""The tool calls of a run of spans: spans of tools, tied to the model call that asked for them.

Three sources say something of a call: the span of the tool (its time, its end), the answer of a model (who asked), and
the prompt of a later one (what came back). Spans are the truth where a thread has them; messages alone make calls only
where it has none, or where every span carries the id by which the rest can be told apart. This module refuses to keep
arguments: it names what they are about and forgets them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.span_tree import Answered, Asked, Span, SpanKind, Tree
from harness.formats.span_values import Payload, millis
from harness.formats.tool_readings import reading_of
from kpis.terms.trace import Outcome, Request, TimeBasis, ToolCall

__all__ = ["Home", "tool_calls", "told_call"]

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Home:
    """The thread of a span, and the index of its turn there."""

    thread: str
    turn: int


@dataclass(slots=True)
class _Said:
    """What messages say of one call."""

    span: Span
    home: Home
    asked: Asked
    request: Request | None = None
    answer: Answered | None = None


@dataclass(slots=True)
class _Thread:
    """What a thread holds, by time."""

    tools: list[Span] = field(default_factory=list)
    ends: list[tuple[int, Request]] = field(default_factory=list)
    said: dict[str, _Said] = field(default_factory=dict)


def tool_calls(tree: Tree, homes: Mapping[Key, Home], requests: Mapping[Key, Request]) -> Iterator[ToolCall]:
    """Every call once. ``requests`` are the model calls that count, by their span."""
    threads: dict[str, _Thread] = defaultdict(_Thread)
    for span in sorted(tree.spans, key=lambda each: each.order):
        thread = threads[homes[span.key].thread]
        request = requests.get(span.key)
        if span.kind is SpanKind.TOOL and not _same_call(span, tree.parent(span)):
            thread.tools.append(span)
        if request is not None and span.end is not None:
            thread.ends.append((span.end, request))
        for asked in span.history:
            thread.said.setdefault(asked.call_id, _Said(span, homes[span.key], asked))
        for asked in span.asked:
            said = thread.said.setdefault(asked.call_id, _Said(span, homes[span.key], asked, request))
            # Wrappers and prompts name the call too; the model call that answered with it is who asked for it.
            if said.request is None and request is not None:
                thread.said[asked.call_id] = _Said(span, homes[span.key], asked, request)
    for span in sorted(tree.spans, key=lambda each: each.order):
        said_here = threads[homes[span.key].thread].said
        for answer in span.answered:
            told = said_here.get(answer.call_id)
            if told is not None and told.answer is None:
                told.answer = answer
    for name in sorted(threads):
        yield from _calls(threads[name], homes)


def _same_call(span: Span, above: Span | None) -> bool:
    """Whether two instruments recorded one call, one inside the other."""
    return above is not None and above.kind is SpanKind.TOOL and above.name == span.name


def _calls(thread: _Thread, homes: Mapping[Key, Home]) -> Iterator[ToolCall]:
    ends = sorted(thread.ends, key=lambda each: (each[0], each[1].index))
    at = [end for end, _ in ends]
    left = _Left(thread.said)
    index = 0
    seen: set[str] = set()
    for span in thread.tools:
        said = left.take(span)
        asked_before = None
        if span.start is not None:
            before = bisect_right(at, span.start)
            asked_before = ends[before - 1][1] if before else None
        request = said.request if said is not None and said.request is not None else asked_before
        call_id = span.call_id or (said.asked.call_id if said else f"{span.trace}:{span.span}")
        if call_id in seen:
            continue
        seen.add(call_id)
        arguments = span.arguments or (said.asked.arguments if said else None)
        result = span.result or (said.answer.result if said and said.answer else None)
        timed = span.start is not None and span.end is not None and span.end >= span.start
        call = told_call(call_id, span.name, arguments, result, homes[span.key], index, _outcome(span), request)
        call.t_start, call.t_end = millis(span.start), millis(span.end)
        call.time_basis = TimeBasis.MEASURED if timed else TimeBasis.LINE_TIME
        call.duration_ms = round(((span.end or 0) - (span.start or 0)) / 1_000) if timed else None
        call.error_class = None if span.error_class is None else safe_name(span.error_class, 60)
        call.file, call.line = span.file, span.line
        index += 1
        yield call
    if thread.tools and not all(span.call_id for span in thread.tools):
        return
    for call_id, said in left.said.items():
        answer = said.answer
        outcome = Outcome.UNANSWERED if answer is None else Outcome.ERROR if answer.failed else Outcome.OK
        result = None if answer is None else answer.result
        asked = said.asked
        call = told_call(call_id, asked.name, asked.arguments, result, said.home, index, outcome, said.request)
        call.t_start = millis(said.span.end if said.request is not None else said.span.start)
        call.file, call.line = said.span.file, said.span.line
        index += 1
        yield call


class _Left:
    """What messages say of calls that no span has claimed yet."""

    __slots__ = ("_alike", "_named", "said")

    def __init__(self, said: Mapping[str, _Said]) -> None:
        self.said = dict(said)
        self._alike: dict[tuple[str | None, str | None], list[str]] = defaultdict(list)
        self._named: dict[str | None, list[str]] = defaultdict(list)
        for call_id, each in reversed(self.said.items()):
            self._alike[each.asked.name, _digest(each.asked.arguments)].append(call_id)
            self._named[each.asked.name].append(call_id)

    def take(self, span: Span) -> _Said | None:
        """That of the call of ``span``: by its id, else the first with its name and arguments, else with its name."""
        if span.call_id is not None:
            return self.said.pop(span.call_id, None)
        for waiting in (self._alike[span.name, _digest(span.arguments)], self._named[span.name]):
            while waiting:
                found = self.said.pop(waiting.pop(), None)
                if found is not None:
                    return found
        return None


def _digest(payload: Payload | None) -> str | None:
    return None if payload is None else payload.digest


_TIMEOUTS = ("timeout", "timedout", "timed_out", "deadline")
_STOPPED = ("cancel", "abort", "interrupt")
_DENIED = ("denied", "reject", "permission")


def _outcome(span: Span) -> Outcome:
    """What became of the call, by its status; the class of the error says which kind."""
    if span.failed:
        told = (span.error_class or "").lower()
        for words, outcome in (
            (_TIMEOUTS, Outcome.TIMEOUT),
            (_STOPPED, Outcome.INTERRUPTED),
            (_DENIED, Outcome.DENIED),
        ):
            if any(word in told for word in words):
                return outcome
        return Outcome.ERROR
    if span.start is not None and span.end is None and span.result is None:
        return Outcome.UNANSWERED
    return Outcome.OK


def told_call(
    call_id: str,
    name: str | None,
    arguments: Payload | None,
    result: Payload | None,
    home: Home,
    index: int,
    outcome: Outcome,
    request: Request | None,
) -> ToolCall:
    """A call without its times and place."""
    reading = reading_of(name, arguments.named if arguments is not None and arguments.named is not None else {})
    return ToolCall(
        safe_id(call_id),
        None if request is None else request.request_id,
        home.thread,
        index,
        None if name is None else safe_name(name),
        reading.op,
        outcome,
        arg_bytes=None if arguments is None else arguments.bytes,
        arg_digest=None if arguments is None else arguments.digest,
        result_bytes=None if result is None else result.bytes,
        result_digest=None if result is None else result.digest,
        turn=home.turn,
        target=reading.target,
        mutates=reading.mutates,
        polling=reading.polling,
    )
