"""Spans and log records in the JSON of tracing tools: OTLP, what the SDKs print, lists of spans, bare attributes.

One walk through whatever holds them, with the resource and the scope that stand above. Nested attributes become dotted
names. This module refuses to say what a span means: that is :mod:`harness.formats.otel_attributes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.formats.span_values import text_of

__all__ = ["RawSpan", "found_in"]

_HOLDERS = (
    "resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "spans",
    "data", "trace", "traces",
)  # fmt: skip
_LOG_HOLDERS = ("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records")
_ATTRIBUTES = ("gen_ai.", "llm.", "ai.", "openinference.")
_START = ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "timestamp")
_END = ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time")
_LOG_TIME = ("timeUnixNano", "time_unix_nano", "timestamp", "observedTimeUnixNano", "hrTime")


@dataclass(slots=True)
class RawSpan:
    """A span or log record (``is_log``) as it stands. Ids are None where there are none; times are not yet read."""

    trace: str | None
    span: str | None
    parent: str | None
    name: str | None
    start: Any
    end: Any
    attributes: dict[str, Any]
    failed: bool = False
    scope: str | None = None
    resource: Mapping[str, Any] = field(default_factory=dict)
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class _Above:
    """What stands above a span in the file."""

    resource: Mapping[str, Any] = field(default_factory=dict)
    scope: str | None = None
    logs: bool = False


def found_in(value: Any) -> Iterator[RawSpan | str]:
    """Every span and log record in ``value``, in order; a word for each thing that is neither.

    Nesting is as deep as the file's, which its reader bounds.
    """
    yield from _found(value, _Above())


def _found(value: Any, above: _Above) -> Iterator[RawSpan | str]:
    if isinstance(value, list):
        for each in value:
            yield from _found(each, above)
        return
    if not isinstance(value, dict):
        yield f"<{type(value).__name__}>"
        return
    inside = False
    resource = value.get("resource")
    scope = value.get("scope", value.get("instrumentationLibrary"))
    here = _Above(
        _attributes(resource.get("attributes")) if isinstance(resource, dict) else above.resource,
        text_of(scope.get("name")) if isinstance(scope, dict) else above.scope,
        above.logs,
    )
    for holders, logs in ((_HOLDERS, above.logs), (_LOG_HOLDERS, True)):
        for holder in holders:
            held = value.get(holder)
            if isinstance(held, (list, dict)):
                inside = True
                yield from _found(held, _Above(here.resource, here.scope, logs))
    if not inside:
        yield _record(value, here) or _kind(value)


def _kind(value: Mapping[str, Any]) -> str:
    return next(iter(value), "empty")


def _record(value: Mapping[str, Any], above: _Above) -> RawSpan | None:
    """One span or log record, or None."""
    held = value.get("attributes", value.get("tags"))
    attributes = _attributes(held)
    if held is None:
        flat = [(key.removeprefix("attributes."), each) for key, each in value.items() if key.startswith("attributes.")]
        attributes = _attributes(dict(flat))
    if above.logs or "severityNumber" in value or "severity_number" in value or ("body" in value and held):
        body = value.get("body")
        name = _any_value(body) if isinstance(body, dict) else body
        when = next((value[key] for key in _LOG_TIME if value.get(key)), None)
        event = text_of(value.get("eventName")) or text_of(attributes.get("event.name")) or text_of(name)
        return RawSpan(None, None, None, event, None, when, attributes, False, above.scope, above.resource, True)
    context = value.get("spanContext", value.get("context"))
    ids = {**value, **context} if isinstance(context, dict) else value
    trace = _id(ids, "traceId", "trace_id", "traceID", "context.trace_id")
    span = _id(ids, "spanId", "span_id", "spanID", "context.span_id") or (_id(value, "id") if trace else None)
    if span is None and not attributes:
        if not any(key.startswith(_ATTRIBUTES) for key in value):
            return None
        attributes = _attributes(value)
    over = value.get("parentSpanContext")
    parent = _id(over, "spanId", "span_id") if isinstance(over, dict) else None
    parent = parent or _id(value, "parentSpanId", "parent_span_id", "parentId", "parent_id", "parentSpanID")
    failed, error = _status(value)
    if error is not None:
        attributes.setdefault("error.type", error)
    told = text_of(value.get("span_kind"))
    if told is not None:
        attributes.setdefault("openinference.span.kind", told)
    start = next((value[key] for key in _START if value.get(key)), None)
    end = next((value[key] for key in _END if value.get(key)), None)
    if end is None and type(start) is int and type(value.get("duration")) in (int, float):
        end = start + value["duration"]  # what the JavaScript SDK prints: both in microseconds
    name = text_of(value.get("name")) or text_of(value.get("operationName"))
    return RawSpan(trace, span, parent, name, start, end, attributes, failed, above.scope, above.resource)


def _id(value: Mapping[str, Any], *keys: str) -> str | None:
    """An id; a missing one may also be empty or zeros."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str):
            bare = found.removeprefix("0x")
            if bare.strip("0"):
                return bare
    return None


def _status(value: Mapping[str, Any]) -> tuple[bool, str | None]:
    """Whether the span failed, and the class of the exception that is recorded with it."""
    status = value.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    code = value.get("status_code", code)
    failed = code == 2 or (isinstance(code, str) and code.upper() in ("ERROR", "STATUS_CODE_ERROR", "2"))
    events = value.get("events")
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and event.get("name") == "exception":
            error = text_of(_attributes(event.get("attributes")).get("exception.type"))
            if error is not None:
                return failed, error
    return failed, None


def _any_value(value: Mapping[str, Any]) -> Any:
    """What an OTLP value says: one key names its type."""
    for key, held in value.items():
        kind = key.replace("_", "").lower()
        if kind in ("arrayvalue", "kvlistvalue") and isinstance(held, dict):
            values = held.get("values")
            listed = values if isinstance(values, list) else []
            if kind == "kvlistvalue":
                return _attributes(listed)
            return [_any_value(each) if isinstance(each, dict) else each for each in listed]
        if kind in ("stringvalue", "intvalue", "doublevalue", "boolvalue", "bytesvalue"):
            return held
    return dict(value)


def _attributes(held: Any) -> dict[str, Any]:
    """Attributes by dotted name, from OTLP's list of keys and values or from a mapping that may nest."""
    flat: dict[str, Any] = {}
    if isinstance(held, list):
        for each in held:
            if isinstance(each, dict) and isinstance(each.get("key"), str):
                value = each.get("value")
                flat[each["key"]] = _any_value(value) if isinstance(value, dict) else value
        return flat
    if isinstance(held, dict):
        _flatten("", held, flat)
    return flat


def _flatten(prefix: str, held: Mapping[Any, Any], into: dict[str, Any]) -> None:
    for key, value in held.items():
        name = f"{prefix}{key}"
        rows = value if isinstance(value, list) and value and isinstance(value[0], dict) else ()
        if isinstance(value, dict):
            _flatten(f"{name}.", value, into)
        else:
            into[name] = value
        for at, row in enumerate(rows):
            if isinstance(row, dict):
                _flatten(f"{name}.{at}.", row, into)
