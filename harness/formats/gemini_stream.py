"""What Gemini's command line prints with ``--output-format stream-json``, and responses of its API recorded one a line.

A stream has usage in its last line only, for the whole run: one row. A recorded response is one request, whose last
usage counts, since each part of a streamed answer repeats it. This module refuses to take a stream that broke off for
a run without usage: its tokens are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from harness.formats.gemini_usage import GeminiUsage
from harness.formats.json_files import FileLog
from harness.formats.plain_calls import CallLog
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_amount, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import (
    Event,
    EventKind,
    IssueCode,
    ModelUsage,
    Outcome,
    Request,
    RunFacts,
    Severity,
    Tokens,
    TraceEvent,
    Turn,
    UsageScope,
    UserKind,
)

__all__ = ["read_responses", "read_stream"]

_OUTCOMES: Mapping[str, Outcome] = MappingProxyType({"success": Outcome.OK, "error": Outcome.ERROR})


def read_stream(
    values: list[tuple[int, Any]], thread_id: str, file: FileLog, usage: GeminiUsage, calls: CallLog, *, known: bool
) -> Iterator[TraceEvent]:
    """The lines of a stream. ``known``: a session's file tells of each request, so the totals are not a row."""
    model: str | None = None
    result: tuple[int, dict[str, Any]] | None = None
    times: list[int] = []
    for line, value in values:
        told = as_dict(value)
        kind, t = told.get("type"), as_ms(told.get("timestamp"))
        if t is not None:
            times.append(t)
        if kind == "init":
            model = as_str(told.get("model")) or model
        elif kind == "tool_use":
            calls.opened(
                thread_id, as_str(told.get("tool_name")), told.get("parameters"), line=line,
                given=told.get("tool_id"), turn=0, t=t,
            )  # fmt: skip
        elif kind == "tool_result":
            call = calls.waiting(thread_id, told.get("tool_id"))
            content = told.get("output") if told.get("error") is None else told.get("error")
            if call is None:
                calls.orphan(thread_id, told.get("tool_id"), content, line=line, t=t)
            else:
                calls.answered(call, content, _OUTCOMES.get(as_str(told.get("status")) or "", Outcome.OK), t=t)
        elif kind == "error":
            yield Event(EventKind.ERROR, thread_id, t, line=line, file=file.name)
        elif kind == "result":
            result = line, told
        elif kind != "message":
            file.unknown_kind(kind, told)
    file.seen(*times)
    yield Turn(thread_id, 0, UserKind.HUMAN, min(times, default=None), max(times, default=None))
    if result is None:
        said = "The stream breaks off before its last line, which alone records usage: its tokens are unknown."
        file.issue(Severity.WARNING, IssueCode.W_NO_USAGE, said)
        if not known:
            yield _row(thread_id, 0, Tokens(), model, file)
        return
    yield from _result(*result, thread_id, model, file, usage, known=known)


def _row(thread_id: str, at: int, tokens: Tokens, model: str | None, file: FileLog) -> Request:
    named = None if model is None else safe_name(model)
    return Request(
        f"{thread_id}#stream-{at}", thread_id, 0, at, tokens, model=named, scope=UsageScope.RUN, provider="google",
        file=file.name,
    )  # fmt: skip


def _result(
    line: int,
    told: dict[str, Any],
    thread_id: str,
    model: str | None,
    file: FileLog,
    usage: GeminiUsage,
    *,
    known: bool,
) -> Iterator[TraceEvent]:
    stats = as_dict(told.get("stats"))
    by_model = {name: as_dict(each) for name, each in as_dict(stats.get("models")).items()}
    rows: list[tuple[str | None, Tokens]] = [
        (name, usage.of_stats(each, line) if "input_tokens" in each else usage.of_metrics(each.get("tokens"), line))
        for name, each in by_model.items()
    ]
    if not rows:
        rows.append((model, usage.of_stats(stats, line)))
    if not known:
        for at, (name, tokens) in enumerate(rows):
            yield _row(thread_id, at, tokens, name, file)
    spent, status = as_amount(stats.get("duration_ms")), as_str(told.get("status"))
    yield RunFacts(
        by_model=tuple(ModelUsage(safe_name(name or "unknown"), tokens) for name, tokens in rows),
        duration_ms=None if spent is None else round(spent),
        outcome=None if status is None else safe_name(status),
        file=file.name,
    )


def read_responses(
    values: list[tuple[int, Any]], thread_id: str, file: FileLog, usage: GeminiUsage, calls: CallLog
) -> Iterator[TraceEvent]:
    """Responses of the API, one a line: whole ones, and streamed ones as the list of their parts."""
    index = 0
    for line, value in values:
        told = as_dict(value)
        method = as_str(told.get("method")) or ""
        if not method.startswith("generateContent"):
            file.unknown_kind(method)
            continue
        parts = [as_dict(part) for part in as_list(told.get("response")) or [told.get("response")]]
        spent = [part.get("usageMetadata") for part in parts if isinstance(part.get("usageMetadata"), dict)]
        model = next((name for part in parts if (name := as_str(part.get("modelVersion")))), None)
        given = next((name for part in parts if (name := as_str(part.get("responseId")))), None)
        content = [each for part in parts for each in _content(part)]
        request_id = safe_id(given) if given is not None else f"{thread_id}#{line}"
        yield Request(
            request_id,
            thread_id,
            0,
            index,
            usage.of_response(spent[-1] if spent else None, line),
            model=None if model is None else safe_name(model),
            stop_reason=_stop(parts),
            provider="google",
            visible_chars=sum(len(as_str(each.get("text")) or "") for each in content),
            file=file.name,
            line=line,
        )
        index += 1
        for each in content:
            wanted = as_dict(each.get("functionCall"))
            if wanted:
                calls.opened(
                    thread_id, as_str(wanted.get("name")), wanted.get("args"), line=line, given=wanted.get("id"),
                    request_id=request_id, turn=0,
                )  # fmt: skip
    yield Turn(thread_id, 0, UserKind.HUMAN)


def _content(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pieces of the first candidate, without the model's thoughts."""
    candidate = as_dict(next(iter(as_list(part.get("candidates"))), None))
    pieces = map(as_dict, as_list(as_dict(candidate.get("content")).get("parts")))
    return [each for each in pieces if each.get("thought") is not True]


def _stop(parts: list[dict[str, Any]]) -> str | None:
    reasons = [
        reason
        for part in parts
        for candidate in as_list(part.get("candidates"))
        if (reason := as_str(as_dict(candidate).get("finishReason"))) is not None
    ]
    return safe_name(reasons[-1]) if reasons else None
