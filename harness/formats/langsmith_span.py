"""One run of LangSmith as a span: its place in the tree, its times, whether it failed, and what it did.

What a tool was given and gave back is measured, of an error the class is kept. This module refuses to keep text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.formats.langsmith_answer import model_of, take_answer
from harness.formats.langsmith_usage import usage_of
from harness.formats.span_files import ReadFile
from harness.formats.span_tree import Span, SpanKind
from harness.formats.span_values import payload_of, text_of
from harness.formats.whole_json import as_dict

__all__ = ["Piece", "span_of"]

_KINDS = {"llm": SpanKind.MODEL, "embedding": SpanKind.MODEL, "tool": SpanKind.TOOL}

_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,58}(?=\(|:|$)")


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that is said of a run."""

    fields: Mapping[str, Any]
    file: ReadFile
    line: int


def span_of(piece: Piece) -> Span:
    """The span that a run is, all that is said of it merged; its file learns of times, version and session."""
    fields, file = piece.fields, piece.file
    numbers = file.numbers
    numbers.line = piece.line
    start, end = numbers.micros(fields.get("start_time")), numbers.micros(fields.get("end_time"))
    file.seen(start, end)
    extra = as_dict(fields.get("extra"))
    metadata, runtime = as_dict(extra.get("metadata")), as_dict(extra.get("runtime"))
    file.version = file.version or text_of(runtime.get("sdk_version"))
    run_id = str(fields["id"])
    order = text_of(fields.get("dotted_order")) or ""
    # The path through the tree: "<time>Z<id>" for the root, then for each run below, parted by dots.
    above = [part.partition("Z")[2] for part in order.split(".")[:-1]]
    trace = text_of(fields.get("trace_id")) or (above[0] if above and above[0] else run_id)
    parent = text_of(fields.get("parent_run_id")) or (above[-1] if above and above[-1] else None)
    kind = _KINDS.get(str(fields.get("run_type")), SpanKind.OTHER)
    span = Span(trace, run_id, parent, kind, file.name, piece.line, "", start=start, end=end)
    threads = (text_of(metadata.get(key)) for key in ("thread_id", "session_id", "conversation_id"))
    span.conversation = next((each for each in threads if each is not None), None)
    file.session = file.session or span.conversation
    error = fields.get("error")
    span.failed = bool(error) or fields.get("status") == "error"
    if span.failed:
        span.error_class = _error_class(error)
    outputs = as_dict(fields.get("outputs"))
    if kind is SpanKind.TOOL:
        _tool(span, fields, outputs)
        return span
    span.model = model_of(outputs, metadata)
    span.provider = text_of(metadata.get("ls_provider"))
    span.usage = usage_of(fields, outputs, metadata, numbers, f"{span.provider}|{span.model}")
    if kind is SpanKind.MODEL:
        take_answer(span, as_dict(fields.get("inputs")), outputs)
        span.cost_usd = numbers.amount(fields.get("total_cost"))
    return span


def _error_class(error: Any) -> str:
    """The class at the beginning of an error's text; never the text."""
    found = _CLASS.match(error) if isinstance(error, str) else None
    return "error" if found is None else found[0]


def _tool(span: Span, fields: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    span.name = text_of(fields.get("name"))
    inputs: Any = fields.get("inputs")
    if isinstance(inputs, dict) and list(inputs) == ["input"]:
        inputs = inputs["input"]
    span.arguments = payload_of(inputs)
    result: Any = outputs.get("output", outputs) or None
    message = as_dict(as_dict(result).get("kwargs")) or as_dict(result)
    span.call_id = text_of(message.get("tool_call_id"))
    if span.call_id is not None:
        result = message.get("content")
        span.failed = span.failed or message.get("status") == "error"
    span.result = payload_of(result)
