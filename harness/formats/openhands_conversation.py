"""One OpenHands conversation while its events are read: its requests, calls, turns and compactions.

Deduplication: the answer of the model that an event came from is stored in the action and again in its observation,
with N parallel calls 2N times; by its id it is one request. Newer builds store the id alone and the usage elsewhere.
Requests that the client's spending knows of and no event names are those of a side thread. This module refuses to know
what kind an event is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.formats.json_files import FileLog
from harness.formats.openai_answer import answer_of
from harness.formats.openai_usage import UsageLog
from harness.formats.openhands_metrics import Spending
from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_count, as_dict, as_str, canonical
from kpis.terms.trace import (
    Event,
    EventKind,
    Issue,
    Outcome,
    Request,
    Thread,
    ThreadKind,
    Tokens,
    ToolCall,
    TraceEvent,
    Turn,
    UserKind,
)

__all__ = ["Conversation"]


class Conversation:
    """One conversation, event by event. ``thread`` is its main thread."""

    def __init__(self, thread: str, file: FileLog, spending: Spending) -> None:
        self.thread = thread
        self.file = file
        self.spending = spending
        self.usage = UsageLog(file.name)
        self.calls = CallLog(file.name)
        self.outcome: str | None = None
        self.requests: dict[str, Request] = {}
        self._turns: list[Turn] = []
        self._events: list[Event] = []
        self._acts: dict[str, ToolCall] = {}
        self._next: dict[str, int] = {}

    def passed(self, t: int | None) -> None:
        """Something is recorded at ``t``."""
        if self._turns and t is not None:
            self._turns[-1] = replace(self._turns[-1], t_end=max(t, self._turns[-1].t_end or t))

    def user(self, t: int | None) -> None:
        """The user speaks: a turn begins."""
        self._turns.append(Turn(self.thread, len(self._turns), UserKind.HUMAN, t, t))

    def compacted(self, event: dict[str, Any], t: int | None, line: int, file: FileLog) -> None:
        """The condenser replaced a part of the conversation."""
        told = as_dict(event.get("args")) or event
        summary = as_str(told.get("summary"))
        size = None if summary is None else len(canonical(summary))
        self._events.append(
            Event(EventKind.COMPACTION, self.thread, t, "auto", summary_bytes=size, line=line, file=file.name)
        )

    def response(
        self, response: dict[str, Any], t: int | None, line: int, file: FileLog, *, side: bool = False
    ) -> Request | None:
        """The request whose answer ``response`` is, once for all events that hold it."""
        identifier = as_str(response.get("id"))
        if identifier is None:
            return None
        usage = as_dict(response.get("usage")) or self.spending.usages.get(identifier, {})
        known = self.requests.get(safe_id(identifier))
        if known is not None:
            known.n_lines += bool(response.get("usage"))
            known.t_last = known.t_last if t is None else max(t, known.t_last or t)
            return known
        request = self.request(identifier, self.usage.tokens(usage, line), t, line, file, side=side)
        answer = answer_of(response)
        model = as_str(response.get("model")) or as_str(usage.get("model"))
        request.model = None if model is None else safe_name(model)
        request.stop_reason = None if answer.stop is None else safe_name(answer.stop)
        request.visible_chars = answer.chars
        request.context_window = as_count(usage.get("context_window"))
        seconds = self.spending.latencies.get(identifier)
        request.duration_ms = None if seconds is None else round(seconds * 1_000)
        return request

    def request(
        self, identifier: str | None, tokens: Tokens, t: int | None, line: int, file: FileLog, *, side: bool = False
    ) -> Request:
        """One answer of a model. ``side``: it is no part of the conversation itself."""
        thread = f"{self.thread}:side" if side else self.thread
        index = self._next.get(thread, 0)
        self._next[thread] = index + 1
        request_id = f"{thread}#{index}" if identifier is None else safe_id(identifier)
        turn = 0 if side else max(0, len(self._turns) - 1)
        request = Request(
            request_id, thread, turn, index, tokens, t_first=t, t_last=t, file=file.name, line=line
        )  # fmt: skip
        self.requests[request_id] = request
        return request

    def open(
        self, event: dict[str, Any], name: str, asked: Any, given: str | None, request: Request | None,
        t: int | None, line: int, file: FileLog,
    ) -> None:  # fmt: skip
        """An action that is a call of a tool."""
        call = self.calls.opened(
            self.thread, name, asked, given=given, request_id=None if request is None else request.request_id,
            turn=max(0, len(self._turns) - 1), t=t, line=line,
        )  # fmt: skip
        call.file = file.name
        self._acts[str(event.get("id"))] = call

    def close(
        self, cause: Any, given: str | None, content: Any, said: Outcome | None, code: int | None,
        t: int | None, line: int, file: FileLog,
    ) -> None:  # fmt: skip
        """What became of the call with the id ``given``, or of the action ``cause``."""
        call = self.calls.waiting(self.thread, given) if given is not None else None
        call = call or self._acts.get(str(cause))
        if call is None:
            if given is not None:
                self.calls.orphan(self.thread, given, content, line=line, t=t).file = file.name
            return
        if said is None:  # -1: the client stopped waiting for it
            said = Outcome.OK if not code else Outcome.TIMEOUT if code == -1 else Outcome.ERROR
        self.calls.answered(call, text_of(content) if isinstance(content, list) else content, said, t=t, exit_code=code)

    def finished(self) -> Iterator[TraceEvent | Issue]:
        """Everything gathered, and the requests that only the spending knows of."""
        quiet = all(each.tokens.out_total is None for each in self.requests.values())
        for identifier, usage in self.spending.usages.items():
            if safe_id(identifier) not in self.requests:
                self.response({"id": identifier, "model": usage.get("model")}, None, 1, self.file, side=not quiet)
        for usage in self.spending.nameless if quiet else ():
            self.request(None, self.usage.tokens(usage, 1), None, 1, self.file)
        yield Thread(self.thread, ThreadKind.MAIN)
        side = f"{self.thread}:side"
        if side in self._next:
            kinds = {self.spending.kinds.get(each) for each in self.spending.usages if safe_id(each) in self.requests}
            summaries = ThreadKind.SUMMARISER in kinds or bool(self._events)
            kind = ThreadKind.SUMMARISER if summaries else ThreadKind.SIDE_MODEL
            yield Thread(side, kind, parent_thread_id=self.thread)
        yield from self._turns
        yield from self.requests.values()
        yield from self._events
        yield from self.calls.finished()
        yield from self.usage.issues()
