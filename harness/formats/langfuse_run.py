"""Reads traces and observations exported from Langfuse.

An export repeats each observation inside its trace and beside it, and a page of a list may repeat the page before: an
observation is one by its trace and id, and what is said of it in several places is put together. Usage stands on
generations; where it stands on a span above them too, the lowest counts. Buckets are disjoint unless their total says
otherwise (:mod:`harness.formats.langfuse_usage`). A session is a thread and each of its traces a turn; a trace without
a session is a thread of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.formats.langfuse_usage import buckets_of, usage_of_buckets
from harness.formats.limits import Limits
from harness.formats.pseudonym import safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.span_files import ReadFile, origin_by, read_files
from harness.formats.span_messages import Messages, messages_in, parsed
from harness.formats.span_run import run_of
from harness.formats.span_tree import Span, SpanKind
from harness.formats.span_values import payload_of, text_of
from kpis.terms.trace import Issue, RunFacts, TraceEvent

__all__ = ["LangfuseRun"]

_OBSERVED = re.compile(rb'(?<!\\)"(?:parentObservationId|parent_observation_id|usageDetails|usage_details)"\s*:')
_TYPED = re.compile(rb'(?<!\\)"type"\s*:\s*"(?:GENERATION|SPAN|EVENT|AGENT|TOOL|CHAIN|EMBEDDING|RETRIEVER|EVALUATOR)"')
_SESSION = re.compile(rb'(?<!\\)"(?:sessionId|session_id)"\s*:\s*"([^"\\]{1,200})"')
_TRACE = re.compile(rb'(?<!\\)"(?:traceId|trace_id)"\s*:\s*"([^"\\]{1,200})"')
_TIME = re.compile(rb'(?<!\\)"(?:startTime|start_time|timestamp)"\s*:\s*("[^"\\]{1,40}")')
_KINDS = {
    "GENERATION": SpanKind.MODEL,
    "EMBEDDING": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
    "AGENT": SpanKind.AGENT,
}
_KNOWN = frozenset((*_KINDS, "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL"))


class LangfuseRun:
    """The reader of Langfuse exports."""

    name: ClassVar[str] = "langfuse"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` is such an export: by the names of fields that only observations have."""
        del filename  # the content tells
        if _OBSERVED.search(head) is None:
            return 0.0
        return 0.97 if _TYPED.search(head) else 0.6

    def origin(self, head: bytes, filename: str) -> Origin:
        """The session, else the trace, else the content itself."""
        del filename
        return origin_by(head, _TIME, (_SESSION, _TRACE), self.name)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield everything that the observations in ``sources`` say of one run.

        Raises:
            FormatError: no source holds any JSON.
        """
        files = read_files(sources, limits)
        sessions: dict[str, str] = {}
        pieces: dict[tuple[str, str], list[_Piece]] = {}
        facts: dict[str, RunFacts] = {}
        for file in files:
            for line, trace, observation in _observations(file, sessions, facts):
                piece = _Piece(observation, file, line)
                pieces.setdefault((trace, str(_get(observation, "id"))), []).append(piece)
        spans = [_span(key, _merged(held), sessions) for key, held in sorted(pieces.items())]
        yield from run_of(files, spans, self.name)
        for file in files:
            held = [each for each in facts.values() if each.file == file.name]
            if len(held) == 1:  # of several traces in one file none speaks for all
                yield held[0]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One place at which something is said of an observation."""

    fields: Mapping[str, Any]
    file: ReadFile
    line: int


def _get(fields: Mapping[str, Any], name: str) -> Any:
    """A field by its name in camelCase; exports to storage write it with underscores."""
    if name in fields:
        return fields[name]
    return fields.get(re.sub(r"(?=[A-Z])", "_", name).lower())


def _observations(
    file: ReadFile, sessions: dict[str, str], facts: dict[str, RunFacts]
) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Each observation with its line (or place in the document) and its trace."""
    for document in file.documents:
        for place, (trace, each) in enumerate(_walk(document.value, None, file, sessions, facts), 1):
            yield place if document.whole else document.line, trace, each


def _walk(
    value: Any, trace: str | None, file: ReadFile, sessions: dict[str, str], facts: dict[str, RunFacts]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, list):
        for each in value:
            yield from _walk(each, trace, file, sessions, facts)
        return
    if not isinstance(value, dict):
        file.unknown_kind(f"<{type(value).__name__}>")
        return
    holders = [value[key] for key in ("trace", "traces", "data") if isinstance(value.get(key), (dict, list))]
    inner = value.get("observations")
    if isinstance(inner, list) or holders:
        own = text_of(value.get("id"))
        if isinstance(inner, list) and own is not None:
            session = text_of(_get(value, "sessionId"))
            if session is not None:
                sessions[own] = session
                file.session = file.session or session
            file.version = file.version or text_of(value.get("release"))
            lasted = file.numbers.amount(value.get("latency"))
            if lasted is not None:
                facts[own] = RunFacts(duration_ms=round(lasted * 1_000), file=file.name)
        for held in holders:
            yield from _walk(held, trace, file, sessions, facts)
        for each in inner if isinstance(inner, list) else ():
            if isinstance(each, (dict, list)):
                yield from _walk(each, own or trace, file, sessions, facts)
        return
    of = text_of(_get(value, "traceId")) or trace
    if of is None or text_of(value.get("id")) is None:
        # A trace that lists its observations by id only, a score, or something else.
        if str(value.get("type")) in _KNOWN or of is None:
            file.unknown_kind(safe_name(next(iter(value), "empty"), 40))
        return
    if str(value.get("type")) in _KNOWN:
        yield of, value
    elif "dataType" not in value:  # a score has a data type and no type
        file.unknown_kind(safe_name(str(value.get("type") or "observation"), 40))


def _merged(pieces: Iterable[_Piece]) -> _Piece:
    """All that several places say of one observation; where two differ, the one that was updated last."""

    def rank(piece: _Piece) -> tuple[bool, str, int, str]:
        fields = piece.fields
        filled = sum(each not in (None, "", {}, []) for each in fields.values())
        return _get(fields, "endTime") is not None, str(_get(fields, "updatedAt")), filled, repr(sorted(fields))

    ordered = sorted(pieces, key=rank)
    fields: dict[str, Any] = {}
    for piece in ordered:
        fields |= {key: value for key, value in piece.fields.items() if value not in (None, "", {}, [])}
    first = min(ordered, key=lambda each: (each.file.name, each.line))
    return _Piece(fields, first.file, first.line)


def _span(key: tuple[str, str], piece: _Piece, sessions: Mapping[str, str]) -> Span:
    fields, file = piece.fields, piece.file
    numbers = file.numbers
    numbers.line = piece.line
    start, end = numbers.micros(_get(fields, "startTime")), numbers.micros(_get(fields, "endTime"))
    file.seen(start, end)
    given = parsed(fields.get("output"))
    kind = _KINDS.get(str(fields.get("type")), SpanKind.OTHER)
    answers = given if isinstance(given, dict) and given.get("type") == "tool" else None
    if kind is SpanKind.OTHER and answers is not None and "tool_call_id" in answers:
        kind = SpanKind.TOOL  # a tool of LangChain, exported as a plain span
    span = Span(
        *key, text_of(_get(fields, "parentObservationId")), kind, file.name, piece.line, "", start=start, end=end
    )
    span.conversation = sessions.get(key[0])
    name = text_of(fields.get("name"))
    span.failed = fields.get("level") == "ERROR" or (answers is not None and answers.get("status") == "error")
    span.error_class = "error" if span.failed else None
    if kind is SpanKind.AGENT:
        span.agent = name
    if kind is SpanKind.TOOL:
        span.name = name
        span.call_id = text_of(answers.get("tool_call_id")) if answers else None
        span.arguments = payload_of(_arguments(fields.get("input")))
        span.result = payload_of(answers.get("content") if answers else fields.get("output"))
        return span
    span.model = text_of(fields.get("model")) or text_of(_get(fields, "providedModelName"))
    details = _get(fields, "usageDetails") or fields.get("usage")
    if isinstance(details, str):
        details = parsed(details)
    if isinstance(details, dict):
        plain = {key: value for key, value in details.items() if key not in ("unit", *_COSTS)}
        span.usage, span.said = usage_of_buckets(buckets_of(plain, numbers), f"{span.model}")
    cost = _get(fields, "totalCost")
    costs = parsed(_get(fields, "costDetails"))
    if isinstance(costs, dict) and costs.get("total") is not None:
        cost = costs["total"]
    span.cost_usd = numbers.amount(cost) if span.usage is not None and cost else None
    _messages(span, fields)
    return span


_COSTS = ("inputCost", "outputCost", "totalCost", "input_cost", "output_cost", "total_cost")


def _arguments(told: Any) -> Any:
    """Arguments; some exports wrap them once more."""
    plain = parsed(told)
    if isinstance(plain, dict) and list(plain) == ["input"]:
        return plain["input"]
    return plain


def _messages(span: Span, fields: Mapping[str, Any]) -> None:
    sent, given = Messages(), Messages()
    messages_in(fields.get("input"), sent)
    messages_in(fields.get("output"), given)
    if span.kind is SpanKind.MODEL:
        span.history, span.answered = tuple(sent.asked), tuple(sent.answered)
        span.asked, span.visible_chars = tuple(given.asked), given.chars
