"""The tool calls of a managed session: asked, approved or refused, answered.

A refusal is what a person or a policy said to a call, so it is its outcome whatever result follows. The time in which a
call waits for that word is the person's, not the tool's. This module refuses to invent a result.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.formats.managed_agents_events import SessionEvent
from harness.formats.managed_agents_threads import Threads
from harness.formats.span_calls import Home, told_call
from harness.formats.span_values import millis, payload_of, text_of
from kpis.terms.trace import EventKind, Issue, IssueCode, Outcome, Severity, ToolCall

__all__ = ["RESULTS", "USES", "Calls"]

USES = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""Kinds of results, and the field in which each names its call."""


class Calls:
    """Takes the events about calls in order. ``denied`` counts refusals."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._calls: dict[str, ToolCall] = {}
        self._asked_at: dict[str, int] = {}
        self._stopped_at: int | None = None
        self._orphans: list[Issue] = []
        self.denied = 0

    def used(self, event: SessionEvent) -> None:
        """A model asks for a tool, while its request is open."""
        thread = self._threads.home(event)
        told = self._threads.told[thread]
        name = text_of(event.fields.get("name"))
        server = text_of(event.fields.get("mcp_server_name"))
        if name is not None and server is not None:
            name = f"mcp__{server}__{name}"
        home = Home(thread, self._threads.touch(thread, event))
        arguments = payload_of(event.fields.get("input"))
        call = told_call(event.id, name, arguments, None, home, told.calls, Outcome.UNANSWERED, told.open)
        call.t_start, call.file, call.line = millis(event.t), event.file, event.line
        told.calls += 1
        self._calls[event.id] = call
        self._asked_at[event.id] = event.at
        if event.fields.get("evaluated_permission") == "deny":
            self._verdict(call, event, False, "auto", None)

    def confirmed(self, event: SessionEvent) -> None:
        """A person allows or refuses a call."""
        use = text_of(event.fields.get("tool_use_id")) or ""
        asked = self._asked_at.get(use)
        timed = asked is not None and event.t is not None and event.t >= asked > 0
        waited = round(((event.t or 0) - (asked or 0)) / 1_000) if timed else None
        self._verdict(self._calls.get(use), event, event.fields.get("result") != "deny", "manual", waited)

    def _verdict(
        self, call: ToolCall | None, event: SessionEvent, allowed: bool, trigger: str, waited: int | None
    ) -> None:
        self.denied += not allowed
        if call is not None and not allowed:
            call.outcome = Outcome.DENIED
        elif call is not None:
            call.t_start = millis(event.t) or call.t_start  # it runs from here on; before, it waited
        word = "allowed" if allowed else "denied"
        self._threads.note(EventKind.PERMISSION, event, trigger=trigger, detail=word, duration_ms=waited)

    def answered(self, event: SessionEvent) -> None:
        """A result."""
        use = text_of(event.fields.get(RESULTS[event.kind])) or ""
        result = payload_of(event.fields.get("content"))
        call = self._calls.get(use)
        if call is None:
            call = self._orphan(use or event.id, event)
        else:
            self._threads.touch(call.thread_id, event)
            if call.outcome is not Outcome.DENIED:
                call.outcome = Outcome.ERROR if event.fields.get("is_error") is True else Outcome.OK
        call.t_end = millis(event.t)
        if result is not None:
            call.result_bytes, call.result_digest = result.bytes, result.digest

    def _orphan(self, use: str, event: SessionEvent) -> ToolCall:
        thread = self._threads.home(event)
        told = self._threads.told[thread]
        home = Home(thread, self._threads.touch(thread, event))
        call = told_call(use, None, None, None, home, told.calls, Outcome.ORPHAN, None)
        call.file, call.line = event.file, event.line
        told.calls += 1
        self._calls[use] = call
        said = "A tool result has no call in the recording."
        self._orphans.append(Issue(Severity.NOTE, IssueCode.W_ORPHAN_RESULT, said, event.line, event.file))
        return call

    def interrupted(self, event: SessionEvent) -> None:
        """The user stops the session: what was asked before and never answered was interrupted."""
        self._stopped_at = event.at
        self._threads.note(EventKind.ABORT, event, trigger="manual")

    def told(self) -> Iterator[ToolCall | Issue]:
        """All calls, once all events are in."""
        waiting: list[ToolCall] = []
        for use, call in self._calls.items():
            if call.outcome is Outcome.UNANSWERED:
                if self._stopped_at is not None and self._asked_at[use] <= self._stopped_at:
                    call.outcome = Outcome.INTERRUPTED
                else:
                    waiting.append(call)
            yield call
        yield from self._orphans
        if waiting:
            many = f"{len(waiting):,} tool call{'s have' if len(waiting) != 1 else ' has'}"
            said = f"{many} no result in the recording."
            yield Issue(Severity.NOTE, IssueCode.W_UNANSWERED_CALL, said, waiting[0].line, waiting[0].file)
