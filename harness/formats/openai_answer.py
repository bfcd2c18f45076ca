"""What an answer of an OpenAI-style endpoint holds: its text, its tool calls, why it stopped.

Chat completions put choices with messages into it, the Responses API a list of output items, some of which are calls
of tools that the provider itself ran and answered; a proxy may pass on a message of Anthropic's. This module refuses
to keep the text: it counts its characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.formats.plain_calls import arguments_of, text_of
from harness.formats.whole_json import as_dict, as_list, as_str, canonical
from kpis.terms.trace import Outcome

__all__ = ["Answer", "MadeCall", "answer_of", "message_calls"]

_CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call", "computer_call", "mcp_call"))
_FAILED = ("failed", "incomplete")


class MadeCall(NamedTuple):
    """One call. ``outcome`` is set where the answer itself says it, because the provider ran the tool."""

    name: str | None
    arguments: Any
    given: str | None
    outcome: Outcome | None = None
    result: Any = None


class Answer(NamedTuple):
    """``chars`` are characters of text and arguments that the recording shows; None where it shows no answer."""

    chars: int | None
    calls: list[MadeCall]
    stop: str | None


def answer_of(body: dict[str, Any]) -> Answer:
    """The answer in a response body of any of the three."""
    if "choices" in body:
        choices = [as_dict(each) for each in as_list(body["choices"])]
        texts: list[str | None] = []
        calls: list[MadeCall] = []
        for choice in choices:
            message = as_dict(choice.get("message"))
            texts += [text_of(message.get("content")), text_of(choice.get("text"))]
            calls += message_calls(message)
        stop = next((found for choice in choices if (found := as_str(choice.get("finish_reason")))), None)
        return Answer(_chars(texts, calls) if choices else None, calls, stop)
    if "output" in body:
        items = [as_dict(each) for each in as_list(body["output"])]
        calls = [call for item in items for call in _item_calls(item)]
        texts = [text_of(item.get("content")) for item in items if item.get("type") == "message"]
        stop = as_str(as_dict(body.get("incomplete_details")).get("reason")) or as_str(body.get("status"))
        return Answer(_chars(texts, calls), calls, stop)
    if body.get("type") == "message":
        parts = [as_dict(each) for each in as_list(body.get("content"))]
        used = [each for each in parts if each.get("type") == "tool_use"]
        calls = [MadeCall(as_str(each.get("name")), each.get("input"), as_str(each.get("id"))) for each in used]
        return Answer(_chars([text_of(parts)], calls), calls, as_str(body.get("stop_reason")))
    return Answer(None, [], None)


def message_calls(message: dict[str, Any]) -> Iterator[MadeCall]:
    """The calls of one chat message, the single one of the oldest dialect too."""
    for each in as_list(message.get("tool_calls")):
        call = as_dict(each)
        function = as_dict(call.get("function")) or as_dict(call.get("custom")) or call
        arguments = function.get("arguments", function.get("input"))
        yield MadeCall(as_str(function.get("name")), arguments_of(arguments), as_str(call.get("id")))
    single = as_dict(message.get("function_call"))
    if single:
        yield MadeCall(as_str(single.get("name")), arguments_of(single.get("arguments")), None)


def _item_calls(item: dict[str, Any]) -> Iterator[MadeCall]:
    kind = as_str(item.get("type")) or ""
    if kind not in _CALLS and not kind.endswith("_call"):
        return
    given = as_str(item.get("call_id")) or as_str(item.get("id"))
    name = as_str(item.get("name")) or kind.removesuffix("_call")
    arguments = next((item[key] for key in ("arguments", "input", "action", "code", "queries") if key in item), None)
    if kind in _CALLS and kind != "mcp_call":
        yield MadeCall(name, arguments_of(arguments), given)
        return
    bad = item.get("status") in _FAILED or item.get("error") is not None
    result = next((item[key] for key in ("output", "results", "outputs") if item.get(key) is not None), None)
    yield MadeCall(name, arguments_of(arguments), given, Outcome.ERROR if bad else Outcome.OK, result)


def _chars(texts: list[str | None], calls: list[MadeCall]) -> int:
    told = sum(len(text) for text in texts if text is not None)
    return told + sum(len(canonical(call.arguments)) for call in calls if call.arguments is not None)
