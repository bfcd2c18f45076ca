"""One sample of an Inspect log: its model calls, tool calls and events, each in the thread that it belongs to.

A sample is a thread; an agent that a tool started, and the scorers, are threads of their own, since they read other
prompts. Where a log holds no model events the sample's messages tell of the tools. This module refuses to interpret
events of unknown kinds: they are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from harness.formats.inspect_calls import SampleCalls
from harness.formats.inspect_requests import SampleRequests
from harness.formats.inspect_state import LogState
from harness.formats.inspect_threads import SampleThreads
from harness.formats.inspect_zip import Sample
from harness.formats.whole_json import as_count, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import Event, EventKind, Request, ToolCall, TraceEvent

__all__ = ["read_sample"]


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


def read_sample(state: LogState, sample: Sample, thread_id: str) -> Iterator[TraceEvent]:
    """Everything that ``sample`` says, but its facts and its calls, which ``state.calls`` keeps."""
    yield from _Reader(state, thread_id).read(sample)


class _Reader:
    def __init__(self, state: LogState, thread_id: str) -> None:
        self.state = state
        self.threads = SampleThreads(thread_id)
        self.calls = SampleCalls(state.calls, thread_id)
        self.requests = SampleRequests(state, self.threads, self.calls)
        self.kept = True

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
        if not self.requests.count:
            yield from self.requests.rows(as_dict(fields.get("model_usage")))
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
            return self.requests.made(event, thread_id, line, self.kept)
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
