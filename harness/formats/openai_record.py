"""One record of a log of requests: what was sent, what came back, when, and which conversation it belongs to.

Every logger names things its own way, so each fact has a short list of names, the plainest first. This module refuses
to keep what was said: of the opening it makes bytes to hash, of the rest counts and ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harness.formats.openai_answer import Answer, answer_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_amount, as_count, as_dict, as_float, as_list, as_ms, as_str, canonical

__all__ = ["Record", "Told", "record_of"]

_STARTED = ("started", "started_at", "start_time", "startTime", "timestamp", "time", "created_at")
_ENDED = ("ended", "ended_at", "end_time", "endTime", "finished_at", "completed_at")
_SECONDS = ("latency", "latency_s", "duration", "duration_s", "elapsed")
_MILLIS = ("latency_ms", "duration_ms", "elapsed_ms", "response_time_ms")
_COST = ("cost", "cost_usd", "response_cost")
_SESSION = ("session_id", "session", "conversation_id", "thread_id", "trace_id")
_CASE = ("case", "case_id")
_ANSWERS = ("chat.completion", "chat.completion.chunk", "text_completion", "response")


_FITS: tuple[tuple[tuple[str, ...], Callable[[Any], bool]], ...] = (
    (("success",), lambda value: isinstance(value, bool)),
    (("score",), lambda value: as_float(value) is not None),
    (("replicate",), lambda value: as_count(value) is not None),
    (_CASE, lambda value: type(value) in (int, str) and value != ""),
    (("arm",), lambda value: isinstance(value, str) and value != ""),
    ((*_SECONDS, *_MILLIS, *_COST), lambda value: as_amount(value) is not None),
    ((*_STARTED, *_ENDED), lambda value: value == 0 or as_ms(value) is not None),
)


class Told(NamedTuple):
    """What a record says beside the request: what it was made for, and what an evaluator said of that.

    ``unsure``: it says a success that is neither true nor false.
    """

    case_id: str | None
    arm: str | None
    replicate: int | None
    success: bool | None
    score: float | None
    unsure: bool = False


class Record(NamedTuple):
    """Times are Unix milliseconds. ``results`` are (call id, content) among what was sent, in order.

    ``opening`` is what the conversation began with; ``continues`` the id of the response that this one follows;
    ``user_spoke``: the last thing sent is a user's. ``kind`` is the response's own word for itself.
    ``misfits``: the keys whose values are none of their kind, and were left out.
    """

    response_id: str | None
    kind: str | None
    model: str | None
    provider: str | None
    usage: dict[str, Any]
    cost_usd: float | None
    answer: Answer
    failed: bool
    started: int | None
    ended: int | None
    duration_ms: int | None
    session: str | None
    continues: str | None
    opening: bytes
    user_spoke: bool
    results: list[tuple[str, Any]]
    told: Told
    misfits: tuple[str, ...]


def record_of(value: Any) -> Record | None:
    """The record that ``value`` is, or None where it is none."""
    if not isinstance(value, dict):
        return None
    response = as_dict(value.get("response"))
    bare = not response and (value.get("object") in _ANSWERS or ("choices" in value and "usage" in value))
    if bare:
        response = value
    response = as_dict(response.get("body")) or response  # the Batch API wraps the answer once more
    request = as_dict(value.get("request"))
    request = as_dict(request.get("body")) or request or ({} if bare else value)
    sent = as_list(request.get("messages", request.get("input")))
    answers = "choices" in response or response.get("object") in _ANSWERS or "output_tokens" in as_dict(
        response.get("usage")
    )  # fmt: skip
    failed = any(bool(each.get("error")) for each in (value, response))
    if not answers and not (failed and (sent or "model" in request)):
        return None
    created = as_ms(response.get("created")) or as_ms(response.get("created_at"))
    started = _time(value, _STARTED) or created
    seconds = _number(value, _SECONDS)
    took = _number(value, _MILLIS) if seconds is None else seconds * 1_000
    ended = _time(value, _ENDED)
    if ended is None and started is not None and took is not None:
        ended = started + round(took)
    if took is None and started is not None and ended is not None and _time(value, _ENDED):
        took = max(0, ended - started)
    spoke = request.get("input") if isinstance(request.get("input"), str) else None
    return Record(
        as_str(response.get("id")),
        as_str(response.get("object")),
        as_str(response.get("model")) or as_str(request.get("model")),
        as_str(response.get("provider")) or as_str(value.get("provider")),
        as_dict(response.get("usage")),
        _number({**value, **as_dict(response.get("usage"))}, _COST),
        answer_of(response),
        failed,
        started,
        ended if ended is not None else started,
        None if took is None else round(took),
        next((found for key in _SESSION if (found := as_str(value.get(key)) or as_str(request.get(key)))), None),
        as_str(request.get("previous_response_id")) or as_str(response.get("previous_response_id")),
        _opening(request, sent, spoke),
        spoke is not None or _is_users(sent),
        list(_results(sent)),
        _told(value),
        tuple(_misfits(value)),
    )


def _told(value: dict[str, Any]) -> Told:
    case = next((value[key] for key in _CASE if type(value.get(key)) in (int, str) and value[key] != ""), None)
    arm, success = as_str(value.get("arm")), value.get("success")
    return Told(
        None if case is None else safe_id(str(case)),
        None if arm is None else safe_name(arm),
        as_count(value.get("replicate")),
        success if isinstance(success, bool) else None,
        as_float(value.get("score")),
        unsure=success is not None and not isinstance(success, bool),
    )


def _misfits(value: dict[str, Any]) -> Iterator[str]:
    """The keys that say something which is not of their kind; null says nothing."""
    for keys, fits in _FITS:
        for key in keys:
            if value.get(key) is not None and not fits(value[key]):
                yield key


def _is_users(sent: list[Any]) -> bool:
    """Whether the last thing sent is what a user says, and not the result of a tool."""
    last = as_dict(sent[-1]) if sent else {}
    parts = [as_dict(part) for part in as_list(last.get("content"))]
    return last.get("role") == "user" and not any("tool_use_id" in part for part in parts)


def _time(value: dict[str, Any], names: tuple[str, ...]) -> int | None:
    return next((found for name in names if (found := as_ms(value.get(name))) is not None), None)


def _number(value: dict[str, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := as_amount(value.get(name))) is not None), None)


def _opening(request: dict[str, Any], sent: list[Any], spoke: str | None) -> bytes:
    """The instructions and everything up to the first message of the user."""
    parts = [canonical(request.get("instructions"))]
    for item in sent:
        message = as_dict(item)
        parts.append(canonical([message.get("role"), message.get("content")]))
        if message.get("role") == "user":
            break
    return b"\0".join(parts) if sent else b"\0".join([*parts, canonical(spoke)])


def _results(sent: list[Any]) -> Iterator[tuple[str, Any]]:
    for item in sent:
        message = as_dict(item)
        for part in as_list(message.get("content")):  # Anthropic's messages, where a user's may hold nothing else
            used = as_str(as_dict(part).get("tool_use_id"))
            if used is not None:
                yield used, part.get("content")
        if message.get("role") == "tool":
            given = as_str(message.get("tool_call_id"))
            content = message.get("content")
        elif (as_str(message.get("type")) or "").endswith("_call_output"):
            given, content = as_str(message.get("call_id")), message.get("output")
        else:
            continue
        if given is not None:
            yield given, content
