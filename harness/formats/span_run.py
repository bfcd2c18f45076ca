"""From spans to the events of a run: threads, turns, requests and tool calls.

A conversation is a thread and each of its traces a turn; where no conversation id is recorded, each trace is a thread
of its own. An agent that runs inside another one is a thread below it. This module refuses to order by place in a file:
everything is by time, then by id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.span_calls import Home, tool_calls
from harness.formats.span_count import count
from harness.formats.span_files import ReadFile
from harness.formats.span_tree import Span, SpanKind, Tree, distinct, plant
from harness.formats.span_usage import Findings
from harness.formats.span_values import millis
from kpis.terms.trace import (
    Issue,
    IssueCode,
    Request,
    RequestStatus,
    Severity,
    Thread,
    ThreadKind,
    Tokens,
    ToolCall,
    TraceEvent,
    Turn,
    UsageScope,
    UserKind,
)

__all__ = ["run_of"]


@dataclass(slots=True)
class _Homes:
    """Which thread and turn each span belongs to."""

    of: dict[tuple[str, str], Home] = field(default_factory=dict)
    threads: dict[str, Thread] = field(default_factory=dict)


def run_of(files: Sequence[ReadFile], spans: Iterable[Span], source_format: str) -> Iterator[TraceEvent | Issue]:
    """Everything that ``spans``, found in ``files``, say of one run."""
    once, delivered_again = distinct(spans)
    tree = plant(once)
    findings = Findings()
    counted = count(tree, findings)
    homes = _homes(tree)
    requests = list(_requests(counted.calls, counted.synthetic, homes))
    asked_by = {span.key: request for span, request in zip(counted.calls, requests, strict=True)}
    calls = list(tool_calls(tree, homes.of, asked_by))
    for file in files:
        yield file.recording(source_format)
    yield from _threads(homes.threads, requests, calls)
    yield from _turns(requests, calls)
    yield from requests
    yield from calls
    for file in files:
        yield from file.issues()
    yield from counted.issues
    yield from findings.issues()
    yield from _odd(tree, once, delivered_again, counted.calls)


def _homes(tree: Tree) -> _Homes:
    """Parents stand before what is below them, so one pass is enough."""
    homes = _Homes()
    roots: dict[str, str] = {}
    named: dict[str, str] = {}
    for span in tree.spans:
        if span.conversation is not None:
            named[span.trace] = min(span.conversation, named.get(span.trace, span.conversation))
    began: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
    root_trace: dict[tuple[str, str], str] = {}
    agents: dict[tuple[str, str], Span] = {}
    tools: dict[tuple[str, str], Span] = {}
    at: dict[tuple[str, str], str] = {}
    for span in tree.spans:
        above = tree.parent(span)
        trace = span.trace if above is None else root_trace[above.key]
        root_trace[span.key] = trace
        main = roots.setdefault(trace, safe_id(named.get(trace, trace)))
        thread = main if above is None else at[above.key]
        agent = None if above is None else agents.get(above.key)
        tool = None if above is None else tools.get(above.key)
        homes.threads.setdefault(main, Thread(main, ThreadKind.MAIN))
        if span.kind is SpanKind.AGENT:
            if agent is not None and (tool is not None or agent.agent != span.agent):
                parent, thread = thread, safe_id(f"{main}:{span.span}")
                spawned = None if tool is None else safe_id(tool.call_id or f"{tool.trace}:{tool.span}")
                name = None if span.agent is None else safe_name(span.agent)
                homes.threads[thread] = Thread(thread, ThreadKind.SUBAGENT, parent, spawned, agent=name)
            elif agent is None and span.agent is not None:
                held = homes.threads[main]
                if held.agent is None:
                    homes.threads[main] = Thread(main, ThreadKind.MAIN, agent=safe_name(span.agent))
            agents[span.key], tool = span, None
        elif agent is not None:
            agents[span.key] = agent
        if span.kind is SpanKind.TOOL:
            tool = span
        if tool is not None:
            tools[span.key] = tool
        at[span.key] = thread
        first = (span.order[0], trace)
        began[thread][trace] = min(began[thread].get(trace, first), first)
    place = {
        (thread, trace): index
        for thread, traces in began.items()
        for index, trace in enumerate(sorted(traces, key=lambda each: traces[each]))
    }
    for span in tree.spans:
        thread = at[span.key]
        homes.of[span.key] = Home(thread, place[thread, root_trace[span.key]])
    return homes


def _requests(calls: Sequence[Span], synthetic: set[tuple[str, str]], homes: _Homes) -> Iterator[Request]:
    index: dict[str, int] = defaultdict(int)
    for span in calls:
        home = homes.of[span.key]
        own = span.response_id is None or span.key in synthetic
        timed = span.start is not None and span.end is not None and span.end >= span.start
        yield Request(
            safe_id(f"{span.trace}:{span.span}" if own else str(span.response_id)),
            home.thread,
            home.turn,
            index[home.thread],
            Tokens() if span.tokens is None else span.tokens,
            model=None if span.model is None else safe_name(span.model),
            status=RequestStatus.ERROR if span.failed else RequestStatus.OK,
            stop_reason=None if span.stop_reason is None else safe_name(span.stop_reason, 40),
            t_first=millis(span.start),
            t_last=millis(span.end),
            provider=None if span.provider is None else safe_name(span.provider, 40),
            scope=UsageScope.REQUEST if span.kind is SpanKind.MODEL else UsageScope.THREAD,
            visible_chars=span.visible_chars,
            cost_usd=span.cost_usd,
            duration_ms=round(((span.end or 0) - (span.start or 0)) / 1_000) if timed else None,
            attempts=span.attempts,
            file=span.file,
            line=span.line,
        )
        index[home.thread] += 1


def _threads(known: Mapping[str, Thread], requests: Sequence[Request], calls: Sequence[ToolCall]) -> Iterator[Thread]:
    """Threads in which something happened, and those above them."""
    waiting = [each.thread_id for each in requests] + [each.thread_id for each in calls]
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            above = known[name].parent_thread_id
            if above is not None:
                waiting.append(above)
    for name in sorted(wanted):
        yield known[name]


def _turns(requests: Sequence[Request], calls: Sequence[ToolCall]) -> Iterator[Turn]:
    first: dict[tuple[str, int], int | None] = {}
    last: dict[tuple[str, int], int | None] = {}
    times = [((each.thread_id, each.turn), each.t_first, each.t_last) for each in requests]
    times += [((each.thread_id, each.turn or 0), each.t_start, each.t_end) for each in calls]
    for key, start, end in times:
        first[key] = min((t for t in (first.get(key), start, end) if t is not None), default=None)
        last[key] = max((t for t in (last.get(key), start, end) if t is not None), default=None)
    for thread, index in sorted(first):
        yield Turn(thread, index, UserKind.HUMAN, first[thread, index], last[thread, index])


def _odd(tree: Tree, spans: Sequence[Span], delivered_again: int, calls: Sequence[Span]) -> Iterator[Issue]:
    file = min((span.file for span in spans), default=None)
    if delivered_again:
        said = (
            f"{delivered_again:,} span{'s were' if delivered_again != 1 else ' was'} delivered again and counted once."
        )
        yield Issue(Severity.NOTE, IssueCode.W_REPEATED_LINE, said, file=file)
    if tree.lost:
        said = (
            f"{tree.lost:,} span{'s name' if tree.lost != 1 else ' names'} a parent that is not in the recording: what"
            " enclosed them, and whether it was counted elsewhere, is unknown."
        )
        yield Issue(Severity.NOTE, IssueCode.W_PHANTOM_PARENT, said, file=file)
    nameless = [span for span in calls if span.anonymous and span.response_id is None]
    if nameless:
        many = f"{len(nameless):,} model call{'s have' if len(nameless) != 1 else ' has'}"
        said = f"{many} neither a response id nor a span id; equal ones count once."
        yield Issue(Severity.NOTE, IssueCode.W_NO_REQUEST_ID, said, nameless[0].line, nameless[0].file)
