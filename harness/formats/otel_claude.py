"""Claude Code's own telemetry: one log record a model request, tool result, verdict or error.

It is the only source of a request's true duration and, for the client versions whose session files hold placeholders,
of its output. Counters are disjoint. This module refuses to count a refused tool twice: the verdict is the call, and a
result that only repeats it is left out.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from harness.formats.otel_attributes import first, text, usage_of
from harness.formats.otel_spans import RawSpan
from harness.formats.pseudonym import safe_id
from harness.formats.span_files import ReadFile
from harness.formats.span_tree import Span, SpanKind
from harness.formats.span_values import Payload, millis, payload_of, text_of
from kpis.terms.trace import Event, EventKind

__all__ = ["BLOCKED", "CLAUDE", "EVENTS", "event_of", "event_span"]

CLAUDE = "claude_code."
BLOCKED = "claude_code.tool.blocked_on_user"
"""The span of the time in which a call waited for its user's word."""

_SPANS = {"api_request": SpanKind.MODEL, "tool_result": SpanKind.TOOL, "tool_decision": SpanKind.TOOL}
_EVENTS = {"api_error": EventKind.ERROR, "tool_decision": EventKind.PERMISSION, "compaction": EventKind.COMPACTION}
EVENTS = frozenset(
    (*_SPANS, *_EVENTS, "user_prompt", "assistant_response", "at_mention", "mcp_server_connection", "auth")
)
"""The names of events that are known, with and without meaning here."""

_REFUSED = "rejected"
_SOURCES = frozenset(("config", "hook", "user_permanent", "user_temporary", "user_abort", "user_reject"))


def _session(raw: RawSpan) -> str:
    return text_of(raw.attributes.get("session.id")) or text_of(raw.resource.get("session.id")) or "claude-code"


def _times(raw: RawSpan, file: ReadFile) -> tuple[int | None, int | None]:
    """Start and end: a record is written when the thing is over, and says how long it took."""
    end = file.numbers.micros(raw.attributes.get("event.timestamp") or raw.end)
    lasted = file.numbers.amount(raw.attributes.get("duration_ms"))
    file.seen(end)
    return None if end is None or lasted is None else end - round(lasted * 1_000), end


def _digest(name: str, raw: RawSpan, end: int | None) -> str:
    told = repr((name, end, sorted((key, repr(value)) for key, value in raw.attributes.items())))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _refused(attributes: dict[str, Any]) -> bool:
    return attributes.get("decision", attributes.get("decision_type")) == "reject"


def event_span(name: str, raw: RawSpan, file: ReadFile, line: int) -> Span | None:
    """The model or tool call of event ``name``; None where it is neither, or says nothing new."""
    kind, attributes = _SPANS.get(name), raw.attributes
    call_id = text(attributes, "call", claude=True)
    verdict = name == "tool_decision"
    if kind is None or (verdict and not _refused(attributes)):
        return None
    if name == "tool_result" and _refused(attributes) and call_id is None:
        return None
    start, end = _times(raw, file)
    digest = _digest(name, raw, end)
    session = _session(raw)
    file.session = file.session or session
    file.version = file.version or text_of(raw.resource.get("service.version"))
    trace = text_of(attributes.get("prompt.id")) or session
    span = Span(trace, digest, None, kind, file.name, line, digest, start=start, end=end, conversation=session)
    if kind is SpanKind.MODEL:
        span.model = text(attributes, "model", claude=True)
        span.provider = "anthropic"
        span.response_id = text(attributes, "response", claude=True)
        span.usage = usage_of(attributes, file.numbers, "claude-code", claude=True)
        span.cost_usd = file.numbers.amount(first(attributes, "cost", claude=True))
        span.attempts = file.numbers.count(attributes.get("attempt"))
        return span
    span.name = text(attributes, "tool", claude=True)
    span.call_id = call_id
    span.arguments = payload_of(first(attributes, "arguments", claude=True))
    size = file.numbers.count(attributes.get("tool_result_size_bytes"))
    span.result = None if size is None else Payload(size, None)
    span.failed = _refused(attributes) or str(attributes.get("success", "true")).lower() == "false"
    if span.failed:
        span.error_class = _REFUSED if _refused(attributes) else text(attributes, "error", claude=True) or "error"
    return span


def event_of(name: str, raw: RawSpan, file: ReadFile, line: int) -> tuple[str, Event] | None:
    """What a record says besides calls, with a key by which a second delivery is known."""
    attributes, numbers = raw.attributes, file.numbers
    kind = EventKind.PERMISSION if name == BLOCKED else _EVENTS.get(name)
    if kind is None:
        return None
    end = numbers.micros(attributes.get("event.timestamp") or raw.end)
    start = numbers.micros(raw.start)
    lasted = numbers.amount(attributes.get("duration_ms"))
    if lasted is None and start is not None and end is not None and end >= start:
        lasted = (end - start) / 1_000
    told = text_of(attributes.get("source", attributes.get("decision_source")))
    detail = None
    if kind is EventKind.PERMISSION:
        detail = "denied" if _refused(attributes) else "allowed"
    event = Event(
        kind,
        safe_id(_session(raw)),
        millis(end),
        trigger=told if told in _SOURCES or told in ("auto", "manual") else None,
        pre_tokens=numbers.count(attributes.get("pre_tokens")),
        post_tokens=numbers.count(attributes.get("post_tokens")),
        line=line,
        file=file.name,
        duration_ms=None if lasted is None else round(lasted),
        detail=detail,
    )
    return _digest(name, raw, end), event
