"""Reads spans of model calls: OpenTelemetry's conventions, OpenInference, the Vercel SDK, and Claude Code's telemetry.

One file may hold several traces. What is read is one run: each conversation is a thread of it and each of its traces a
turn; a trace without a conversation id is a thread of its own. Duplicated deliveries are one span by (trace id, span
id), and usage counts on the lowest span that carries it (:mod:`harness.formats.span_count`). Cached tokens are inside
the input by convention; :mod:`harness.formats.span_usage` says when that is not believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, ClassVar

from harness.formats.limits import Limits
from harness.formats.otel_attributes import MARKS, first, kind_of, text, usage_of
from harness.formats.otel_claude import CLAUDE, EVENTS, event_of, event_span
from harness.formats.otel_spans import RawSpan, found_in
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.span_files import ReadFile, decode, read_files
from harness.formats.span_messages import Messages, messages_in, numbered, parsed
from harness.formats.span_run import run_of
from harness.formats.span_tree import Span, SpanKind
from harness.formats.span_values import Numbers, millis, payload_of, text_of
from kpis.terms.trace import Event, Issue, Thread, ThreadKind, TraceEvent

__all__ = ["OtelRun"]

# Not behind a backslash: other recordings hold these names inside strings.
_NAMES = re.compile(rb'(?<!\\)"(?:attributes\.)?(?:' + b"|".join(map(re.escape, MARKS)) + rb")")
_OTLP = re.compile(rb'(?<!\\)"(?:resourceSpans|resource_spans|resourceLogs|spanContext|scopeSpans|startTimeUnixNano)"')
_RUN = re.compile(
    rb'"(?:gen_ai\.conversation\.id|session\.id)"\s*(?::|,\s*"value"\s*:\s*\{\s*"stringValue"\s*:)\s*"([^"\\]{1,200})"'
)
_TRACE = re.compile(rb'(?<!\\)"(?:traceId|trace_id|traceID)"\s*:\s*"([^"\\]{1,100})"')
_TIME = re.compile(rb'(?<!\\)"(?:startTimeUnixNano|startTime|start_time)"\s*:\s*("[^"\\]{1,40}"|\[[\d\s,]{1,40}\]|\d+)')


class OtelRun:
    """The reader of spans."""

    name: ClassVar[str] = "otel"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` holds such spans: by the names of attributes, in a frame of spans or bare."""
        named, framed = _NAMES.search(head) is not None, _OTLP.search(head) is not None
        bonus = 0.02 if filename.endswith((".json", ".jsonl")) else 0.0
        if named:
            return (0.9 if framed else 0.75) + bonus
        return 0.6 + bonus if framed else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The conversation, else the first trace, else the content itself: equal files are one run."""
        del filename  # the content tells
        began = _TIME.search(head)
        started = None if began is None else millis(Numbers().micros(decode(began[1], Limits())))
        found = _RUN.search(head) or _TRACE.search(head)
        if found is not None:
            return Origin(safe_id(found[1].decode("utf-8", "replace").removeprefix("0x")), started=started)
        return Origin("spans-" + blake2b(head, digest_size=12).hexdigest(), started=started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield everything that the spans in ``sources`` say of one run.

        Raises:
            FormatError: no source holds any JSON.
        """
        files = read_files(sources, limits)
        spans: list[Span] = []
        events: dict[str, Event] = {}
        for file in files:
            for line, raw in _raw(file):
                if raw.is_log:
                    spans += _logged(raw, file, line)
                else:
                    spans.append(_span(raw, file, line))
                told = event_of(
                    (raw.name or "").removeprefix(CLAUDE) if raw.is_log else raw.name or "", raw, file, line
                )
                if told is not None:
                    events.setdefault(*told)
        threads: set[str] = set()
        for item in run_of(files, spans, self.name):
            if isinstance(item, Thread):
                threads.add(item.thread_id)
            yield item
        for event in events.values():
            if event.thread_id not in threads:
                threads.add(event.thread_id)
                yield Thread(event.thread_id, ThreadKind.MAIN)
            yield event


def _raw(file: ReadFile) -> Iterator[tuple[int, RawSpan]]:
    """Each span with its line, or where the file is one document its place in it."""
    for document in file.documents:
        for place, each in enumerate(found_in(document.value), 1):
            line = place if document.whole else document.line
            file.numbers.line = line
            if isinstance(each, str):
                file.unknown_kind(safe_name(each, 40))
            else:
                yield line, each


def _span(raw: RawSpan, file: ReadFile, line: int) -> Span:
    attributes, numbers = raw.attributes, file.numbers
    start, end = numbers.micros(raw.start), numbers.micros(raw.end)
    file.seen(start, end)
    file.version = file.version or text_of(raw.resource.get("telemetry.sdk.version"))
    kind, family = kind_of(raw.name, attributes)
    claude = raw.name is not None and raw.name.startswith(CLAUDE)
    digest = blake2b(repr((raw.name, start, end, raw.failed, sorted(attributes.items(), key=_key))).encode(
        "utf-8", "surrogatepass"
    ), digest_size=16).hexdigest()  # fmt: skip
    provider = text(attributes, "provider", claude)
    span = Span(
        raw.trace or "untraced",
        raw.span or f"span-{digest}",
        raw.parent,
        kind,
        file.name,
        line,
        digest,
        start=start,
        end=end,
        family=family,
        conversation=text(attributes, "conversation") or text_of(raw.resource.get("session.id")),
        provider=provider,
        failed=raw.failed,
        error_class=text(attributes, "error", claude) or ("error" if raw.failed else None),
        anonymous=raw.span is None,
    )
    file.session = file.session or span.conversation
    if kind is SpanKind.AGENT:
        span.agent = text(attributes, "agent") or raw.name
    if kind is SpanKind.TOOL:
        _tool(span, raw, claude)
        return span
    program = f"{raw.scope}|{provider}|{text(attributes, 'model', claude)}"
    span.usage = usage_of(attributes, numbers, program, claude)
    if kind is SpanKind.OTHER and span.usage is None:
        return span
    span.model = text(attributes, "model", claude)
    span.response_id = text(attributes, "response", claude)
    span.stop_reason = _stop(text(attributes, "stop", claude))
    span.cost_usd = numbers.amount(first(attributes, "cost", claude))
    _messages(span, attributes)
    return span


def _key(item: tuple[str, Any]) -> str:
    return item[0]


def _stop(told: str | None) -> str | None:
    """A finish reason; some programs write the list of one as text."""
    return None if told is None else told.strip("[]\"' ").partition(",")[0].strip("\"' ") or None


def _tool(span: Span, raw: RawSpan, claude: bool) -> None:
    attributes = raw.attributes
    bare = (raw.name or "").removeprefix("execute_tool ")
    span.name = text(attributes, "tool", claude) or (bare or None)
    span.call_id = text(attributes, "call", claude)
    span.arguments = payload_of(first(attributes, "arguments", claude))
    span.result = payload_of(first(attributes, "result", claude))


def _messages(span: Span, attributes: dict[str, Any]) -> None:
    sent, given = Messages(), Messages()
    for key in ("gen_ai.input.messages", "ai.prompt.messages"):
        messages_in(attributes.get(key), sent)
    numbered(attributes, "llm.input_messages.", sent)
    messages_in(attributes.get("gen_ai.output.messages"), given)
    messages_in({"tool_calls": parsed(attributes.get("ai.response.toolCalls"))}, given)
    told = Messages()
    numbered(attributes, "llm.output_messages.", told)
    told.text(attributes.get("ai.response.text"))
    span.asked, span.history = (*given.asked, *told.asked), tuple(sent.asked)
    span.answered = tuple(sent.answered)
    span.visible_chars = told.chars if given.chars is None else given.chars


def _logged(raw: RawSpan, file: ReadFile, line: int) -> Iterator[Span]:
    """What a log record says: a model call, a tool call, or nothing that counts."""
    name = (raw.name or "").removeprefix(CLAUDE)
    if name not in EVENTS:
        file.unknown_kind(safe_name(raw.name or "log record", 40))
        return
    made = event_span(name, raw, file, line)
    if made is not None:
        yield made
