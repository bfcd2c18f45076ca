"""Tool calls and their results in the messages that a model call was sent and gave, where a recording shows them.

Three ways of writing: a JSON list of messages with parts (OpenTelemetry, and what the Vercel SDK calls a prompt),
attributes numbered one by one (OpenInference), and messages of the OpenAI and Anthropic interfaces. This module refuses
to keep words: of an answer it counts characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.formats.limits import FormatError, Limits, check_depth
from harness.formats.span_tree import Answered, Asked
from harness.formats.span_values import payload_of, text_of

__all__ = ["Messages", "messages_in", "numbered", "parsed"]

_CALLS = ("tool_call", "tool-call", "tool_use", "function_call")
_RESULTS = ("tool_call_response", "tool-result", "tool_result", "function_call_output")
_TEXTS = ("text", "output_text")


@dataclass(slots=True)
class Messages:
    """What messages say of tools. ``chars`` are those of visible text, None where no text part was seen."""

    asked: list[Asked] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    chars: int | None = None

    def text(self, value: Any) -> None:
        """Visible text."""
        if isinstance(value, str):
            self.chars = (self.chars or 0) + len(value)


def parsed(value: Any) -> Any:
    """``value``, or what the JSON in it says where it is text that holds some; text that nests too deep stays text."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        check_depth(value.encode("utf-8", "surrogatepass"), Limits(), "A value")
        return json.loads(value)
    except (ValueError, RecursionError, FormatError):
        return value


def messages_in(value: Any, into: Messages) -> None:
    """Add what a list of messages, one message, or a list of parts says."""
    plain = parsed(value)
    for message in plain if isinstance(plain, list) else [plain]:
        if isinstance(message, dict):
            _message(message, into)


def _message(message: Mapping[str, Any], into: Messages) -> None:
    content = message.get("parts", message.get("content"))
    if message.get("type") in (*_CALLS, *_RESULTS, *_TEXTS):
        _part(message, into)
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            _part(part, into)
    call_id = text_of(message.get("tool_call_id"))
    if message.get("role") == "tool" and call_id is not None and not isinstance(content, dict):
        into.answered.append(Answered(call_id, payload_of(content)))
    elif isinstance(content, str):
        into.text(content)
    more = message.get("additional_kwargs")
    for holder in (message, more if isinstance(more, dict) else {}):
        calls = holder.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                _call(call, into)


def _part(part: Mapping[str, Any], into: Messages) -> None:
    kind = part.get("type")
    if kind in _TEXTS:
        into.text(part.get("text", part.get("content")))
    elif kind in _CALLS:
        _call(part, into)
    elif kind in _RESULTS:
        call_id = _id(part)
        if call_id is not None:
            found = next((part[key] for key in ("response", "output", "result", "content") if key in part), None)
            into.answered.append(Answered(call_id, payload_of(found), part.get("is_error") is True))


def _call(call: Mapping[str, Any], into: Messages) -> None:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    call_id = _id(call)
    name = text_of(inner.get("name")) or text_of(call.get("toolName"))
    if call_id is None:
        return
    found = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None)
    into.asked.append(Asked(call_id, name, payload_of(found)))


def _id(part: Mapping[str, Any]) -> str | None:
    keys = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "id")
    return next((found for key in keys if (found := text_of(part.get(key))) is not None), None)


def numbered(attributes: Mapping[str, Any], prefix: str, into: Messages) -> None:
    """Add what the attributes below ``prefix`` say, such as ``llm.output_messages.0.message.content``."""
    for message in _rows(attributes, prefix):
        calls = [
            {
                "id": call.get("tool_call.id"),
                "name": call.get("tool_call.function.name"),
                "arguments": call.get("tool_call.function.arguments"),
            }
            for call in _rows(message, "message.tool_calls.")
        ]
        for call in calls:
            _call(call, into)
        call_id = text_of(message.get("message.tool_call_id"))
        if message.get("message.role") == "tool" and call_id is not None:
            into.answered.append(Answered(call_id, payload_of(message.get("message.content"))))
            continue
        into.text(message.get("message.content"))
        for part in _rows(message, "message.contents."):
            into.text(part.get("message_content.text"))


def _rows(attributes: Mapping[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """The attributes ``prefix`` + number + "." + rest, as one mapping a number."""
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, rest = key[len(prefix) :].partition(".")
            if number.isdecimal() and len(number) < 8 and rest:
                rows.setdefault(int(number), {})[rest] = value
    for at in sorted(rows):
        yield rows[at]
