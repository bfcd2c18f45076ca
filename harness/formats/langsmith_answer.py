"""What a run of LangSmith says of its model's answer: the messages, the model, the response's id, why it stopped.

Outputs come in the shape of whatever made them: a chat completion, LangChain's generations, or a message by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.formats.span_messages import Messages, messages_in
from harness.formats.span_tree import Span
from harness.formats.span_values import text_of
from harness.formats.whole_json import as_dict

__all__ = ["messages_out", "model_of", "take_answer"]


def messages_out(outputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The answers of a model: a chat completion's choices, LangChain's generations, or a message by itself."""
    choices = outputs.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        yield as_dict(as_dict(choice).get("message"))
    rows = outputs.get("generations")
    for row in rows if isinstance(rows, list) else ():
        for each in row if isinstance(row, list) else [row]:
            message = as_dict(as_dict(each).get("message"))
            yield as_dict(message.get("kwargs")) or message
    if "content" in outputs:
        yield outputs


def model_of(outputs: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
    """The model that answered, as the answer names it; else as the client asked for it."""
    held = [text_of(outputs.get("model"))]
    for message in messages_out(outputs):
        told = as_dict(message.get("response_metadata"))
        held += [text_of(told.get("model_name")), text_of(told.get("model"))]
    held.append(text_of(as_dict(outputs.get("llm_output")).get("model_name")))
    held.append(text_of(metadata.get("ls_model_name")))
    return next((each for each in held if each is not None), None)


def take_answer(span: Span, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Note on ``span`` what was sent to the model and what came back, the text of both left out."""
    sent, given = Messages(), Messages()
    rows = inputs.get("messages")
    for message in rows if isinstance(rows, list) else ():
        plain = message if isinstance(message, list) else [message]
        messages_in([as_dict(as_dict(each).get("kwargs")) or each for each in plain], sent)
    ids = [text_of(outputs.get("id"))]
    stops: list[str | None] = []
    for message in messages_out(outputs):
        messages_in(message, given)
        told = as_dict(message.get("response_metadata"))
        ids += [text_of(told.get("id")), text_of(message.get("id"))]
        stops += [text_of(told.get("finish_reason")), text_of(told.get("stop_reason"))]
    choices = outputs.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        stops.append(text_of(as_dict(choice).get("finish_reason")))
    stops.append(text_of(outputs.get("stop_reason")))
    # LangChain gives messages ids of its own, which are no response's.
    known = [each for each in ids if each is not None and not each.startswith(("run-", "lc_", "lc-"))]
    span.response_id = known[0] if known and not _is_uuid(known[0]) else None
    span.stop_reason = next((each for each in stops if each is not None), None)
    span.asked, span.visible_chars = tuple(given.asked), given.chars
    span.history, span.answered = tuple(sent.asked), tuple(sent.answered)


def _is_uuid(told: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", told) is not None
