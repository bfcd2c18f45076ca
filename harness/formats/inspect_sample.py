"""One sample of an Inspect log: its model calls, tool calls and events, each in the thread that it belongs to.

A sample is a thread; an agent that a tool started, and the scorers, are threads of their own, since they read other
prompts. A spent answer is one model event, known by its own id: ids of responses come from servers, some of which count
only to a thousand. Where a log holds no model events the sample's messages tell of the tools and its usage, one row a
model, stands for all requests. This module refuses to sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from harness.formats.inspect_calls import SampleCalls
from harness.formats.inspect_threads import SampleThreads
from harness.formats.inspect_usage import InspectUsage, provider_of
from harness.formats.inspect_zip import Sample
from harness.formats.json_files import FileLog
from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_amount, as_count, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import (
    Event,
    EventKind,
    Request,
    RequestStatus,
    Tokens,
    ToolCall,
    TraceEvent,
    UsageScope,
)  # fmt: skip

__all__ = ["LogState", "read_sample", "usage_row"]

_LONG_ID = 20
"""A response's id of fewer characters is taken to be a counter of its server."""


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_QUIET = _words(
    "sample_init state store span_end subtask score score_edit logger info input sandbox branch anchor sentinel review"
)
_EVENTS: Mapping[str, EventKind] = MappingProxyType(
    {
        "compaction": EventKind.COMPACTION,
        "approval": EventKind.PERMISSION,
        "sample_limit": EventKind.ABORT,
        "interrupt": EventKind.ABORT,
        "error": EventKind.ERROR,
        "checkpoint": EventKind.SNAPSHOT,
    }
)
_DETAILS = _words(
    "summary edit trim native approve modify reject escalate terminate message time working token cost operator custom"
    " context limit system"
)


@dataclass(slots=True)
class LogState:
    """What the samples of one log share.

    ``seen`` are the requests that were yielded, of the other logs of the run too. ``totals`` are the samples' counts of
    tokens by model, as the log writes them. ``denied`` counts refusals of the sample that is read.
    """

    file: FileLog
    usage: InspectUsage
    calls: CallLog
    model: str | None
    seen: dict[str, Request]
    totals: dict[str, int] = field(default_factory=dict)
    threads: set[str] = field(default_factory=set)
    rows: int = 0
    denied: int | None = None
    orphans: list[int] = field(default_factory=list)


def read_sample(state: LogState, sample: Sample, thread_id: str) -> Iterator[TraceEvent]:
    """Everything that ``sample`` says, but its facts and its calls, which ``state.calls`` keeps."""
    yield from _Reader(state, thread_id).read(sample)


class _Reader:
    def __init__(self, state: LogState, thread_id: str) -> None:
        self.state = state
        self.threads = SampleThreads(thread_id)
        self.calls = SampleCalls(state.calls, thread_id)
        self.next: dict[str, int] = {}
        self.kept = True
        self.requests = 0

    def read(self, sample: Sample) -> Iterator[TraceEvent]:
        fields, main = sample.fields, self.threads.main
        line = 0
        for line, event in enumerate(sample.events, 1):
            if isinstance(event, dict):
                yield from self._events(event, line)
        self.state.file.log.lines += line
        yield from self._retries(fields, main)
        self.calls.messages(as_list(fields.get("messages")))
        self.state.orphans.extend(self.calls.orphans)
        if not self.requests:
            yield from self._rows(as_dict(fields.get("model_usage")), main)
        yield from self.threads.finished(self.calls.linked(self.threads.agents))

    def _seen(self, thread_id: str, *times: int | None) -> None:
        self.threads.seen(thread_id, *times)
        self.state.file.seen(*times)

    def _events(self, first: dict[str, Any], line: int) -> Iterator[TraceEvent]:
        """One event, and those that old logs keep inside it."""
        waiting: list[tuple[dict[str, Any], str | None]] = [(first, None)]
        while waiting:
            event, above = waiting.pop()
            thread_id = above or self.threads.place(event)
            made = self._event(event, thread_id, line)
            if isinstance(made, (Request, Event)):
                yield made
            inner = [each for each in as_list(event.get("events")) if isinstance(each, dict)]
            if inner:
                within = thread_id
                if isinstance(made, ToolCall) and any(each.get("event") == "model" for each in inner):
                    name = as_str(event.get("agent")) or as_str(event.get("function"))
                    within = self.threads.inside(made.call_id, thread_id, name)
                    self.calls.holds(made, made.call_id)
                waiting.extend((each, within) for each in reversed(inner))

    def _event(self, event: Mapping[str, Any], thread_id: str, line: int) -> Request | Event | ToolCall | None:
        kind = as_str(event.get("event"))
        if kind == "model":
            return self._model(event, thread_id, line)
        if kind == "tool":
            self._seen(thread_id, as_ms(event.get("timestamp")), as_ms(event.get("completed")))
            return self.calls.ran(event, thread_id, line, self.kept)
        if kind == "span_begin":
            self.threads.span(event)
        elif kind == "step":
            self.threads.step(event)
        elif kind is not None and kind in _EVENTS:
            return self._other(event, _EVENTS[kind], thread_id, line)
        elif kind not in _QUIET:
            self.state.file.unknown_kind(kind)
        return None

    def _other(self, event: Mapping[str, Any], kind: EventKind, thread_id: str, line: int) -> Event:
        t = as_ms(event.get("timestamp"))
        self._seen(thread_id, t)
        detail = event.get("decision") if kind is EventKind.PERMISSION else event.get("type") or event.get("source")
        if kind is EventKind.PERMISSION:
            self.state.denied = (self.state.denied or 0) + (detail in ("reject", "terminate"))
        return Event(
            kind,
            thread_id,
            t,
            pre_tokens=as_count(event.get("tokens_before")),
            post_tokens=as_count(event.get("tokens_after")),
            line=line,
            file=self.state.file.name,
            detail=detail if isinstance(detail, str) and detail in _DETAILS else None,
        )

    def _model(self, event: Mapping[str, Any], thread_id: str, line: int) -> Request | None:
        state = self.state
        output, call = as_dict(event.get("output")), as_dict(event.get("call"))
        response = as_dict(call.get("response"))
        model = as_str(event.get("model")) or state.model
        local = event.get("cache") == "read"
        usage = as_dict(output.get("usage"))
        status = _status(event, output)
        t = as_ms(event.get("timestamp"))
        identifier = as_str(event.get("uuid"))
        if identifier is None and not local:
            given = as_str(output.get("response_id")) or as_str(response.get("id"))
            identifier = given if given is not None and len(given) >= _LONG_ID else None
        request_id = None if identifier is None else safe_id(identifier)
        choice = as_dict(next(iter(as_list(output.get("choices"))), None))
        message = as_dict(choice.get("message"))
        self.requests += 1
        state.rows += 1
        if model is not None and not local:
            state.totals[model] = state.totals.get(model, 0) + (as_count(usage.get("total_tokens")) or 0)
        known = state.seen.get(request_id or "")
        if known is not None and known.t_first == t:
            known.n_lines += 1
            elsewhere = known.file != state.file.name
            self.calls.asked(message, known.request_id, thread_id, line, self.kept, copied=elsewhere)
            return None
        index = self.next[thread_id] = self.next.get(thread_id, -1) + 1
        if request_id is None or known is not None:
            request_id = f"{thread_id}#{index}"
        if usage or status is RequestStatus.OK:
            tokens = state.usage.tokens(usage, model, line, response.get("usage"))
        else:
            tokens = Tokens()
        end = as_ms(event.get("completed"))
        self._seen(thread_id, t, end)
        seconds = [as_amount(each) for each in (event.get("working_time"), output.get("time"), call.get("time"))]
        spent = next((each for each in seconds if each is not None), None)
        retries, stop = as_count(event.get("retries")), as_str(choice.get("stop_reason"))
        provider = provider_of(model)
        request = Request(
            request_id,
            thread_id,
            0,
            index,
            tokens,
            model=None if model is None else safe_name(model),
            status=status,
            stop_reason=None if stop is None else safe_name(stop),
            t_first=t,
            t_last=t if end is None else end,
            in_conversation=self.kept,
            provider=None if provider is None else safe_name(provider),
            visible_chars=len(text_of(message.get("content")) or "") if choice else None,
            cost_usd=as_amount(usage.get("total_cost")),
            duration_ms=None if spent is None else round(spent * 1_000),
            attempts=None if retries is None else retries + 1,
            local_cache=local,
            file=state.file.name,
            line=line,
        )
        state.seen[request_id] = request
        self.calls.asked(message, request_id, thread_id, line, self.kept)
        return request

    def _retries(self, fields: Mapping[str, Any], main: str) -> Iterator[TraceEvent]:
        """Earlier attempts at the sample, of which a log keeps the ends: they were paid, and led nowhere."""
        self.kept = False
        for each in map(as_dict, as_list(fields.get("error_retries"))):
            events = [event for event in as_list(each.get("events")) if isinstance(event, dict)]
            t = as_ms(events[-1].get("timestamp")) if events else None
            yield Event(EventKind.RETRY, main, t, file=self.state.file.name)
            for line, event in enumerate(events, 1):
                yield from self._events(event, line)
        self.kept = True

    def _rows(self, usages: Mapping[str, Any], main: str) -> Iterator[Request]:
        for index, (model, usage) in enumerate(usages.items()):
            told = as_dict(usage)
            self.state.totals[model] = self.state.totals.get(model, 0) + (as_count(told.get("total_tokens")) or 0)
            self.state.rows += 1
            yield usage_row(self.state, main, index, model, told, UsageScope.THREAD)


def usage_row(
    state: LogState, thread_id: str, index: int, model: str, usage: Mapping[str, Any], scope: UsageScope
) -> Request:
    """The usage of one model over a whole sample or log, as the one row that stands for its requests."""
    return Request(
        f"{thread_id}#usage-{index}",
        thread_id,
        0,
        index,
        state.usage.tokens(usage, model, None),
        model=safe_name(model),
        scope=scope,
        cost_usd=as_amount(usage.get("total_cost")),
        file=state.file.name,
    )


def _status(event: Mapping[str, Any], output: Mapping[str, Any]) -> RequestStatus:
    error = as_str(event.get("error")) or as_str(output.get("error"))
    if event.get("pending") is True or (error or "").startswith("Cancelled by "):
        return RequestStatus.ABORTED
    return RequestStatus.OK if error is None else RequestStatus.ERROR
