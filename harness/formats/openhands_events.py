"""The events of OpenHands, one at a time: actions and observations of older builds, kinds of the newer ones.

An observation belongs to the action that it names as its cause, or to the call with its id. Arguments are taken as the
model wrote them, since an action holds its thought and the client's settings among them. This module refuses to read
what was said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from harness.formats.json_files import FileLog
from harness.formats.openhands_conversation import Conversation
from harness.formats.plain_calls import arguments_of, text_of
from harness.formats.whole_json import as_dict, as_int, as_list, as_ms, as_str
from kpis.terms.trace import Outcome, Provenance, Request

__all__ = ["take_event"]

_NO_CALLS = frozenset(("message", "system", "null", "recall", "change_agent_state", "start", "pause")) | {
    "condensation",
    "condensation_request",
}
_NOT_ARGUMENTS = frozenset(
    ("thought", "hidden", "security_risk", "confirmation_state", "kind", "translated_ipython_code", "final_thought")
)
_RESULTS = MappingProxyType(
    {"ObservationEvent": None, "UserRejectObservation": Outcome.DENIED, "AgentErrorEvent": Outcome.ERROR}
)
_QUIET = frozenset(
    ("SystemPromptEvent", "SystemPromptUpdateEvent", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent")
)
_ALL_DERIVED = MappingProxyType(
    dict.fromkeys(
        ("fresh_in", "cache_read", "cache_write_other", "out_total", "out_visible", "out_reasoning", "unattributed"),
        Provenance.DERIVED,
    )
)


def take_event(one: Conversation, event: dict[str, Any], line: int, file: FileLog) -> None:
    """Take the next event, which stands at ``line`` of ``file``."""
    t = as_ms(event.get("timestamp"))
    file.seen(t)
    one.passed(t)
    if isinstance(event.get("kind"), str):
        _newer(one, event, event["kind"], t, line, file)
    elif as_str(event.get("action")) is not None:
        _action(one, event, event["action"], t, line, file)
    elif as_str(event.get("observation")) is not None:
        _observation(one, event, event["observation"], t, line, file)
    else:
        file.unknown_kind(event.get("type"), event)


def _action(one: Conversation, event: dict[str, Any], action: str, t: int | None, line: int, file: FileLog) -> None:
    source = event.get("source")
    meta = as_dict(event.get("tool_call_metadata"))
    grown = one.spending.since(event.get("llm_metrics"))
    request = one.response(as_dict(meta.get("model_response")), t, line, file)
    if request is None and source == "agent" and grown:
        tokens = replace(one.usage.tokens(grown, line), provenance=_ALL_DERIVED)
        request = one.request(None, tokens, t, line, file)
    if action == "condensation":
        one.compacted(event, t, line, file)
    elif action == "message" and source == "user":
        one.user(t)
    elif source == "agent" and action not in _NO_CALLS:
        told = as_dict(event.get("args"))
        given = as_str(meta.get("tool_call_id"))
        name = as_str(meta.get("function_name")) or action
        one.open(event, name, _asked(meta, given, told), given, request, t, line, file)


def _observation(one: Conversation, event: dict[str, Any], kind: str, t: int | None, line: int, file: FileLog) -> None:
    meta, extras = as_dict(event.get("tool_call_metadata")), as_dict(event.get("extras"))
    one.response(as_dict(meta.get("model_response")), t, line, file)
    if kind == "agent_state_changed":
        one.outcome = as_str(extras.get("agent_state")) or one.outcome
        return
    if kind == "condense":
        one.compacted(event, t, line, file)
        return
    said = {"error": Outcome.ERROR, "user_rejected": Outcome.DENIED}.get(kind)
    code = as_int(as_dict(extras.get("metadata")).get("exit_code", extras.get("exit_code")))
    given = as_str(meta.get("tool_call_id"))
    one.close(event.get("cause"), given, event.get("content"), said, code, t, line, file)


def _newer(one: Conversation, event: dict[str, Any], kind: str, t: int | None, line: int, file: FileLog) -> None:
    answered = as_str(event.get("llm_response_id"))
    request: Request | None = None
    if answered is not None and kind not in _RESULTS:
        request = one.response({"id": answered}, t, line, file, side=kind == "Condensation")
    if kind == "MessageEvent":
        if event.get("source") == "user":
            one.user(t)
        elif request is not None:
            request.visible_chars = len(text_of(as_dict(event.get("llm_message")).get("content")) or "")
    elif kind == "ActionEvent":
        call = as_dict(event.get("tool_call"))
        asked = call.get("arguments", as_dict(call.get("function")).get("arguments"))
        asked = arguments_of(asked) if asked is not None else _stripped(as_dict(event.get("action")))
        given = as_str(event.get("tool_call_id"))
        one.open(event, as_str(event.get("tool_name")) or "unknown", asked, given, request, t, line, file)
    elif kind in _RESULTS:
        seen = as_dict(event.get("observation"))
        said = _RESULTS[kind]
        if said is None and (seen.get("is_error") is True or seen.get("error")):
            said = Outcome.ERROR
        if seen.get("timeout") is True:
            said = Outcome.TIMEOUT
        code = as_int(as_dict(seen.get("metadata")).get("exit_code", seen.get("exit_code")))
        content = seen.get("content", event.get("error", event.get("rejection_reason")))
        one.close(event.get("action_id"), as_str(event.get("tool_call_id")), content, said, code, t, line, file)
    elif kind == "Condensation":
        one.compacted(event, t, line, file)
    elif kind == "ConversationStateUpdateEvent":
        _state(one, event)
    elif kind not in _QUIET:
        file.unknown_kind(kind, event)


def _state(one: Conversation, event: dict[str, Any]) -> None:
    told = {as_str(event.get("key")) or "": event.get("value"), **as_dict(event.get("value"))}
    one.outcome = as_str(told.get("execution_status")) or as_str(told.get("agent_status")) or one.outcome


def _asked(meta: Mapping[str, Any], given: str | None, told: dict[str, Any]) -> Any:
    """The arguments as the model wrote them, else as the action holds them, without what is no argument."""
    for choice in as_list(as_dict(meta.get("model_response")).get("choices")):
        for call in as_list(as_dict(as_dict(choice).get("message")).get("tool_calls")):
            if given is not None and as_dict(call).get("id") == given:
                return arguments_of(as_dict(as_dict(call).get("function")).get("arguments"))
    return _stripped(told)


def _stripped(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in _NOT_ARGUMENTS and value is not None}
