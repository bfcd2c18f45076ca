"""One Gemini session as turns, requests, calls and events, from its messages.

An answer of the model is a message with usage; one without model and usage was put there by the client, as a summary.
A message's id is unique, so it names the paid answer in every file that shows it. This module refuses to drop what the
conversation went back from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from harness.formats.gemini_messages import Message, Messages
from harness.formats.gemini_usage import GeminiUsage
from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_dict, as_int, as_list, as_ms, as_str
from kpis.terms.trace import Event, EventKind, Outcome, Request, ToolCall, TraceEvent, Turn, UserKind

__all__ = ["Session"]

_LONG_ID = 16
"""A message's id of fewer characters is unique in its session only."""

_OUTCOMES: Mapping[str, Outcome] = MappingProxyType(
    {"success": Outcome.OK, "error": Outcome.ERROR, "cancelled": Outcome.INTERRUPTED}
)
_DENIED = "did not allow tool call"
_EXIT = re.compile(r"Exit Code: (-?\d{1,9})\b")
_LONGEST_LOOK = 1 << 20
_SAID = frozenset(("info", "warning"))


class Session:
    """Reads one session. ``spawned`` are its calls by the session of the sub-agent that each started."""

    def __init__(self, thread_id: str, messages: Messages, usage: GeminiUsage, calls: CallLog) -> None:
        self.thread_id = thread_id
        self.messages = messages
        self.usage = usage
        self.calls = calls
        self.spawned: dict[str, ToolCall] = {}
        self.unknown: list[tuple[str, object]] = []
        self.times: list[tuple[str, int]] = []

    def events(self) -> Iterator[TraceEvent]:
        """Turns, requests and events; the calls are in the log."""
        turn, index = -1, 0
        turns: list[tuple[UserKind, list[int], bool]] = []
        for message in self.messages:
            fields, kind = message.fields, as_str(message.fields.get("type"))
            t = as_ms(fields.get("timestamp"))
            if (kind == "user" and not _only_results(fields.get("content"))) or (turn < 0 and kind == "gemini"):
                turn += 1
                turns.append((UserKind.HUMAN if kind == "user" else UserKind.SYSTEM, [], message.kept))
            if t is not None:
                self.times.append((message.file, t))
                if turns:
                    turns[-1][1].append(t)
            if kind == "gemini":
                request = self._request(message, turn, index, t)
                if request is not None:
                    index += 1
                    yield request
                self._calls(message, turn, None if request is None else request.request_id, t)
            elif kind == "error":
                yield Event(EventKind.ERROR, self.thread_id, t, line=message.line, file=message.file)
            elif kind != "user" and kind not in _SAID:
                self.unknown.append((message.file, kind))
        for at, (user, times, kept) in enumerate(turns):
            yield Turn(self.thread_id, at, user, min(times, default=None), max(times, default=None), kept)
        for change in self.messages.changes:
            what = EventKind.COMPACTION if change.compaction else EventKind.REWIND
            yield Event(what, self.thread_id, change.t, line=change.line, file=change.file, implicit=change.compaction)

    def _request(self, message: Message, turn: int, index: int, t: int | None) -> Request | None:
        fields = message.fields
        model, tokens = as_str(fields.get("model")), fields.get("tokens")
        if model is None and not isinstance(tokens, dict):
            return None
        identifier = as_str(fields.get("id"))
        long = identifier is not None and len(identifier) >= _LONG_ID
        return Request(
            safe_id(identifier) if identifier is not None and long else f"{self.thread_id}#{identifier or index}",
            self.thread_id,
            turn,
            index,
            self.usage.of_message(tokens, message.line),
            model=None if model is None else safe_name(model),
            n_lines=message.n_lines,
            t_first=t,
            t_last=t,
            in_conversation=message.kept,
            provider="google",
            visible_chars=len(text_of(fields.get("content")) or ""),
            file=message.file,
            line=message.line,
        )

    def _calls(self, message: Message, turn: int, request_id: str | None, t: int | None) -> None:
        for each in map(as_dict, as_list(message.fields.get("toolCalls"))):
            call = self.calls.opened(
                self.thread_id, as_str(each.get("name")), each.get("args"), line=message.line, given=each.get("id"),
                request_id=request_id, turn=turn, t=t,
            )  # fmt: skip
            call.file, call.in_conversation = message.file, message.kept
            status = as_str(each.get("status")) or ""
            if status in _OUTCOMES:
                self._answered(call, each, _OUTCOMES[status])
            if agent := as_str(each.get("agentId")):
                self.spawned[agent] = call

    def _answered(self, call: ToolCall, told: Mapping[str, Any], outcome: Outcome) -> None:
        shown = _result_text(told.get("result"))
        if outcome is Outcome.INTERRUPTED and _DENIED in shown:
            outcome = Outcome.DENIED
        found = _EXIT.search(shown)
        code = None if found is None else as_int(int(found[1]))
        self.calls.answered(call, told.get("result"), outcome, t=as_ms(told.get("timestamp")), exit_code=code)


def _only_results(content: Any) -> bool:
    """Whether a message of the user's is the results of tools, as a rebuilt history keeps them."""
    parts = as_list(content)
    return bool(parts) and all(isinstance(part, dict) and "functionResponse" in part for part in parts)


def _result_text(result: Any) -> str:
    """What a tool answered, in words; its beginning where it is long."""
    parts = result if isinstance(result, list) else [result]
    texts = [each[:_LONGEST_LOOK] for each in parts if isinstance(each, str)]
    for part in map(as_dict, parts):
        response = as_dict(as_dict(part.get("functionResponse")).get("response"))
        said = (part.get("text"), response.get("output"), response.get("error"))
        texts.extend(each[:_LONGEST_LOOK] for each in said if isinstance(each, str))
    return "\n".join(texts)
