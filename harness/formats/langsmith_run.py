"""Reads runs exported from LangSmith, or written down as its client sends them.

The client posts a run when it starts and patches it when it ends; both are one run by its id, and what the later one
says counts. Chains report the sum of the model calls below them, so only the lowest run with usage counts. Input
includes cached tokens by convention. A session of a thread (``session_id`` or ``thread_id`` in the metadata) is a
thread and each of its traces a turn; a trace without one is a thread of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.formats.limits import Limits
from harness.formats.pseudonym import safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.span_files import ReadFile, origin_by, read_files
from harness.formats.span_messages import Messages, messages_in
from harness.formats.span_run import run_of
from harness.formats.span_tree import Span, SpanKind
from harness.formats.span_usage import Usage
from harness.formats.span_values import Numbers, payload_of, text_of
from kpis.terms.trace import Issue, TraceEvent

__all__ = ["LangsmithRun"]

_RUN_TYPE = re.compile(rb'(?<!\\)"run_type"\s*:\s*"[a-z]{1,20}"')
_ORDER = re.compile(rb'(?<!\\)"(?:dotted_order|parent_run_id|usage_metadata|session_name)"\s*:')
_THREAD = re.compile(rb'(?<!\\)"(?:thread_id|conversation_id)"\s*:\s*"([^"\\]{1,200})"')
_TRACE = re.compile(rb'(?<!\\)"trace_id"\s*:\s*"([^"\\]{1,200})"')
_TIME = re.compile(rb'(?<!\\)"start_time"\s*:\s*("[^"\\]{1,40}"|\d{1,20})')
_KINDS = {"llm": SpanKind.MODEL, "embedding": SpanKind.MODEL, "tool": SpanKind.TOOL}
_HOLDERS = ("post", "patch", "runs", "data", "child_runs")


class LangsmithRun:
    """The reader of LangSmith runs."""

    name: ClassVar[str] = "langsmith"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` holds such runs: by the names of fields that only they have together."""
        del filename  # the content tells
        typed, ordered = _RUN_TYPE.search(head) is not None, _ORDER.search(head) is not None
        if typed:
            return 0.96 if ordered else 0.7
        return 0.8 if b'"dotted_order"' in head else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The thread, else the trace, else the content itself."""
        del filename
        return origin_by(head, _TIME, (_THREAD, _TRACE), self.name)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield everything that the runs in ``sources`` say of one run of an agent.

        Raises:
            FormatError: no source holds any JSON.
        """
        files = read_files(sources, limits)
        pieces: dict[str, list[_Piece]] = {}
        for file in files:
            for document in file.documents:
                for place, fields in enumerate(_walk(document.value, file), 1):
                    line = place if document.whole else document.line
                    pieces.setdefault(str(fields["id"]), []).append(_Piece(fields, file, line))
        merged = [_merged(held) for _, held in sorted(pieces.items())]
        yield from run_of(files, [_span(each) for each in merged], self.name)


@dataclass(frozen=True, slots=True)
class _Piece:
    """One thing that is said of a run."""

    fields: Mapping[str, Any]
    file: ReadFile
    line: int


def _walk(value: Any, file: ReadFile) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for each in value:
            yield from _walk(each, file)
        return
    if not isinstance(value, dict):
        file.unknown_kind(f"<{type(value).__name__}>")
        return
    held = [value[key] for key in _HOLDERS if isinstance(value.get(key), (list, dict))]
    if text_of(value.get("id")) and ("run_type" in value or "dotted_order" in value or "trace_id" in value):
        yield value
    elif not held:
        file.unknown_kind(safe_name(next(iter(value), "empty"), 40))
    for each in held:
        yield from _walk(each, file)


def _merged(pieces: Iterable[_Piece]) -> _Piece:
    """All that is said of one run; where two pieces differ, the one that knows its end."""

    def rank(piece: _Piece) -> tuple[bool, str, int, str]:
        end = piece.fields.get("end_time")
        filled = sum(each not in (None, "", {}, []) for each in piece.fields.values())
        return end is not None, str(end), filled, repr(sorted(piece.fields))

    ordered = sorted(pieces, key=rank)
    fields: dict[str, Any] = {}
    for piece in ordered:
        fields |= {key: value for key, value in piece.fields.items() if value not in (None, "", {}, [])}
    first = min(ordered, key=lambda each: (each.file.name, each.line))
    return _Piece(fields, first.file, first.line)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _span(piece: _Piece) -> Span:
    fields, file = piece.fields, piece.file
    numbers = file.numbers
    numbers.line = piece.line
    start, end = numbers.micros(fields.get("start_time")), numbers.micros(fields.get("end_time"))
    file.seen(start, end)
    extra = _mapping(fields.get("extra"))
    metadata, runtime = _mapping(extra.get("metadata")), _mapping(extra.get("runtime"))
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
    outputs = _mapping(fields.get("outputs"))
    if kind is SpanKind.TOOL:
        _tool(span, fields, outputs)
        return span
    span.model = _model(outputs, metadata)
    span.provider = text_of(metadata.get("ls_provider"))
    span.usage = _usage(fields, outputs, metadata, numbers, f"{span.provider}|{span.model}")
    if kind is SpanKind.MODEL:
        _answer(span, _mapping(fields.get("inputs")), outputs)
        span.cost_usd = numbers.amount(fields.get("total_cost"))
    return span


_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,58}(?=\(|:|$)")


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
    message = _mapping(_mapping(result).get("kwargs")) or _mapping(result)
    span.call_id = text_of(message.get("tool_call_id"))
    if span.call_id is not None:
        result = message.get("content")
        span.failed = span.failed or message.get("status") == "error"
    span.result = payload_of(result)


def _messages_out(outputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The answers of a model: a chat completion's choices, LangChain's generations, or a message by itself."""
    choices = outputs.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        yield _mapping(_mapping(choice).get("message"))
    rows = outputs.get("generations")
    for row in rows if isinstance(rows, list) else ():
        for each in row if isinstance(row, list) else [row]:
            message = _mapping(_mapping(each).get("message"))
            yield _mapping(message.get("kwargs")) or message
    if "content" in outputs:
        yield outputs


def _model(outputs: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
    held = [text_of(outputs.get("model"))]
    for message in _messages_out(outputs):
        told = _mapping(message.get("response_metadata"))
        held += [text_of(told.get("model_name")), text_of(told.get("model"))]
    held.append(text_of(_mapping(outputs.get("llm_output")).get("model_name")))
    held.append(text_of(metadata.get("ls_model_name")))
    return next((each for each in held if each is not None), None)


def _answer(span: Span, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    sent, given = Messages(), Messages()
    rows = inputs.get("messages")
    for message in rows if isinstance(rows, list) else ():
        plain = message if isinstance(message, list) else [message]
        messages_in([_mapping(_mapping(each).get("kwargs")) or each for each in plain], sent)
    ids = [text_of(outputs.get("id"))]
    stops: list[str | None] = []
    for message in _messages_out(outputs):
        messages_in(message, given)
        told = _mapping(message.get("response_metadata"))
        ids += [text_of(told.get("id")), text_of(message.get("id"))]
        stops += [text_of(told.get("finish_reason")), text_of(told.get("stop_reason"))]
    choices = outputs.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        stops.append(text_of(_mapping(choice).get("finish_reason")))
    stops.append(text_of(outputs.get("stop_reason")))
    # LangChain gives messages ids of its own, which are no response's.
    known = [each for each in ids if each is not None and not each.startswith(("run-", "lc_", "lc-"))]
    span.response_id = known[0] if known and not _is_uuid(known[0]) else None
    span.stop_reason = next((each for each in stops if each is not None), None)
    span.asked, span.visible_chars = tuple(given.asked), given.chars
    span.history, span.answered = tuple(sent.asked), tuple(sent.answered)


def _is_uuid(told: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", told) is not None


def _usage(
    fields: Mapping[str, Any], outputs: Mapping[str, Any], metadata: Mapping[str, Any], numbers: Numbers, program: str
) -> Usage | None:
    """The usage of a run, from the first place that has any."""
    places = [_mapping(outputs.get("usage_metadata")), _mapping(metadata.get("usage_metadata"))]
    places += [_mapping(message.get("usage_metadata")) for message in _messages_out(outputs)]
    held = next((each for each in places if each), None)
    if held is not None:
        in_details = _mapping(held.get("input_token_details"))
        out_details = _mapping(held.get("output_token_details"))
        usage = Usage(
            input=numbers.count(held.get("input_tokens")),
            output=numbers.count(held.get("output_tokens")),
            read=numbers.count(in_details.get("cache_read")),
            write=numbers.count(in_details.get("cache_creation")),
            write_5m=numbers.count(in_details.get("ephemeral_5m_input_tokens")),
            write_1h=numbers.count(in_details.get("ephemeral_1h_input_tokens")),
            reasoning=numbers.count(out_details.get("reasoning")),
            total=numbers.count(held.get("total_tokens")),
            program=program,
        )
    else:
        told = _mapping(_mapping(outputs.get("llm_output")).get("token_usage")) or _mapping(outputs.get("usage"))
        told = told or fields
        in_details = _mapping(told.get("prompt_tokens_details")) or _mapping(told.get("prompt_token_details"))
        out_details = _mapping(told.get("completion_tokens_details")) or _mapping(told.get("completion_token_details"))
        usage = Usage(
            input=numbers.count(told.get("prompt_tokens")),
            output=numbers.count(told.get("completion_tokens")),
            read=numbers.count(in_details.get("cached_tokens", in_details.get("cache_read"))),
            write=numbers.count(in_details.get("cache_creation")),
            reasoning=numbers.count(out_details.get("reasoning_tokens", out_details.get("reasoning"))),
            total=numbers.count(told.get("total_tokens")),
            program=program,
        )
    return None if usage.empty else usage
