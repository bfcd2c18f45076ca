"""One simulation of tau-bench or tau2, message by message: what the agent and the user's model asked and called.

Old results record no usage, no times and no ids of tool results: tokens are unknown, and a result belongs to the
oldest waiting call of its tool. The greeting that opens a simulation of tau2 is written by the benchmark and is no
request. This module refuses to look at rewards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.formats.json_files import FileLog
from harness.formats.openai_answer import message_calls
from harness.formats.openai_usage import UsageLog
from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_amount, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import Outcome, Request, Turn, UserKind

__all__ = ["Conversation", "Heard"]


class Heard:
    """What all simulations of one file share: its log, its calls and usage, and the two models."""

    def __init__(self, file: FileLog) -> None:
        self.file = file
        self.usage = UsageLog(file.name)
        self.calls = CallLog(file.name)
        self.agent: str | None = None
        self.user: str | None = None


class Conversation:
    """One simulation while it is read. ``side`` is the thread of the user's model."""

    def __init__(self, heard: Heard, thread: str, line: int) -> None:
        self.heard = heard
        self.thread = thread
        self.side = f"{thread}:user"
        self.line = line
        self.requests: list[Request] = []
        self.has_user = False
        self._spans: list[list[int]] = []  # the times seen in each turn
        self._counts = {self.thread: 0, self.side: 0}

    @property
    def turns(self) -> Iterator[Turn]:
        """The turns of the agent's thread, each opened by what the user says."""
        for at, times in enumerate(self._spans):
            yield Turn(self.thread, at, UserKind.HUMAN, min(times, default=None), max(times, default=None))

    def message(self, message: dict[str, Any]) -> None:
        """Take the next message."""
        role = message.get("role")
        t = as_ms(message.get("timestamp"))
        if role == "user" and as_str(text_of(message.get("content"))):
            self._spans.append([])
        if t is not None and self._spans:
            self._spans[-1] = [min(t, *self._spans[-1]), max(t, *self._spans[-1])] if self._spans[-1] else [t]
        if role == "tool":
            for each in as_list(message.get("tool_messages")) or [message]:
                self._result(as_dict(each))
        elif role == "user":
            if message.get("usage") is not None or as_list(message.get("tool_calls")):
                self.has_user = True
                self._answer(message, self.side)
        elif role == "assistant":
            greeting = not self._spans and message.get("usage") is None and not as_list(message.get("tool_calls"))
            if not greeting:
                self._answer(message, self.thread)
        elif role != "system":
            self.heard.file.unknown_kind(role)

    def _answer(self, message: dict[str, Any], thread: str) -> None:
        heard, own = self.heard, thread == self.thread
        raw = as_dict(message.get("raw_data"))
        identifier = as_str(raw.get("id"))
        index = self._counts[thread]
        self._counts[thread] += 1
        t = as_ms(message.get("timestamp"))
        heard.file.seen(t)
        model = as_str(raw.get("model")) or (heard.agent if own else heard.user)
        seconds = as_amount(message.get("generation_time_seconds"))
        turn = max(0, len(self._spans) - 1) if own else 0
        made = list(message_calls(message))
        request = Request(
            f"{thread}#{index}" if identifier is None else safe_id(identifier),
            thread,
            turn,
            index,
            heard.usage.tokens(as_dict(raw.get("usage")) or message.get("usage"), self.line),
            model=None if model is None else safe_name(model),
            t_first=t,
            t_last=t,
            visible_chars=len(text_of(message.get("content")) or ""),
            cost_usd=as_amount(message.get("cost")),
            duration_ms=None if seconds is None else round(seconds * 1_000),
            file=heard.file.name,
            line=self.line,
        )
        self.requests.append(request)
        for call in made:
            heard.calls.opened(
                thread, call.name, call.arguments, given=call.given, request_id=request.request_id,
                turn=turn, t=t, line=self.line,
            )  # fmt: skip

    def _result(self, message: dict[str, Any]) -> None:
        calls = self.heard.calls
        thread = self.side if message.get("requestor") == "user" else self.thread
        given = as_str(message.get("id")) or as_str(message.get("tool_call_id"))
        content, t = message.get("content"), as_ms(message.get("timestamp"))
        call = calls.waiting(thread, given, as_str(message.get("name")))
        if call is None:
            calls.orphan(thread, given, content, line=self.line, t=t)
            return
        bad = message.get("error") is True or (text_of(content) or "").startswith("Error")
        calls.answered(call, content, Outcome.ERROR if bad else Outcome.OK, t=t)
