"""What the events of a managed session tell, one after another: requests, what they spent, how the session went.

This module refuses to invent an end: a request without one is unsettled, and counters of a session that has not begun
are no total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.formats.managed_agents_calls import RESULTS, USES, Calls
from harness.formats.managed_agents_events import SessionEvent, SessionState
from harness.formats.managed_agents_threads import Threads
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.span_usage import Findings, Usage, settle
from harness.formats.span_values import Numbers, millis, text_of
from kpis.terms.trace import (
    EventKind,
    Issue,
    IssueCode,
    ModelUsage,
    Request,
    RequestStatus,
    RunFacts,
    Severity,
    Tokens,
    TraceEvent,
)

__all__ = ["Story"]


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SILENT = _names(
    "session.status_running session.thread_status_running session.thread_status_idle session.thread_status_rescheduled"
    " session.thread_status_terminated session.thread_idle session.updated session.deleted session.outcome_evaluated"
    " agent.thinking agent.thread_message_sent agent.thread_message_received span.outcome_evaluation_start"
    " span.outcome_evaluation_ongoing system.message"
)
_ERRORS = _names(
    "model_overloaded_error model_rate_limited_error model_request_failed_error billing_error unknown_error"
    " mcp_connection_failed_error mcp_authentication_failed_error"
)


class Story:
    """Takes the events of one session in order and gives what they say of the run."""

    def __init__(self, states: Sequence[SessionState], numbers: Mapping[str, Numbers]) -> None:
        self._states, self._numbers = states, numbers
        ids = [each for state in states if (each := text_of(state.fields.get("id"))) is not None]
        self.session = ids[0] if ids else None
        self._model = self._of_agent("model", "id")
        self._threads = Threads(safe_id(ids[0]) if ids else "main", self._of_agent("name"))
        self._calls = Calls(self._threads)
        self._starts: dict[str, tuple[Request, SessionEvent]] = {}
        self._requests: list[Request] = []
        self._findings = Findings()
        self._outcome: str | None = None
        self._success: bool | None = None
        self._last_file: str | None = None
        self._does: dict[str, Callable[[SessionEvent], None]] = {
            "user.message": self._threads.new_turn,
            "user.define_outcome": self._threads.new_turn,
            "user.tool_confirmation": self._calls.confirmed,
            "user.interrupt": self._calls.interrupted,
            "span.model_request_start": self._started,
            "span.model_request_end": self._ended,
            "span.outcome_evaluation_end": self._graded,
            "agent.message": self._said,
            "agent.thread_context_compacted": self._compacted,
            "session.thread_created": self._threads.announced,
            "session.status_idle": self._status,
            "session.status_terminated": self._status,
            "session.status_rescheduled": self._retried,
            "session.error": self._failed,
            **dict.fromkeys(USES, self._calls.used),
            **dict.fromkeys(RESULTS, self._calls.answered),
        }

    def tell(self, event: SessionEvent) -> bool:
        """Take in one event; False where its kind is not known."""
        self._last_file = event.file
        does = self._does.get(event.kind)
        if does is not None:
            does(event)
        return does is not None or event.kind in _SILENT

    def _of_agent(self, *path: str) -> str | None:
        """A name in the description of the session's agent."""
        for state in self._states:
            at: Any = state.fields.get("agent")
            for key in path:
                at = at.get(key) if isinstance(at, dict) else at
            if text_of(at) is not None:
                return safe_name(str(at))
        return None

    def _request(self, event: SessionEvent, thread: str) -> Request:
        told = self._threads.told[thread]
        request = Request(
            safe_id(event.id),
            thread,
            self._threads.touch(thread, event),
            told.requests,
            Tokens(),
            model=self._model,
            provider="anthropic",
            file=event.file,
            line=event.line,
        )
        told.requests += 1
        told.open = request
        self._requests.append(request)
        return request

    def _started(self, event: SessionEvent) -> None:
        request = self._request(event, self._threads.home(event))
        request.t_first = millis(event.t)
        request.status = RequestStatus.ABORTED  # until its end is told
        self._starts[event.id] = (request, event)

    def _ended(self, event: SessionEvent) -> None:
        begun = self._starts.pop(text_of(event.fields.get("model_request_start_id")) or "", None)
        if begun is None:
            request = self._request(event, self._threads.home(event))
        else:
            request, start = begun
            if event.t is not None and start.t is not None and event.t >= start.t:
                request.duration_ms = round((event.t - start.t) / 1_000)
        request.t_last = millis(event.t)
        request.status = RequestStatus.ERROR if event.fields.get("is_error") is True else RequestStatus.OK
        self._threads.touch(request.thread_id, event)
        self._spend(request, event, self._usage(event.file, event.line, event.fields.get("model_usage")))

    def _spend(self, request: Request, event: SessionEvent, usage: Usage | None) -> None:
        if usage is None:
            self._findings.add("absent", event.file, event.line)
            return
        request.tokens, found = next(settle([usage]))
        for what in found:
            self._findings.add(what, event.file, event.line)

    def _usage(self, file: str, line: int, told: Any) -> Usage | None:
        if not isinstance(told, dict):
            return None
        numbers = self._numbers[file]
        numbers.line = line
        split = told.get("cache_creation")
        by_life = split if isinstance(split, dict) else {}
        usage = Usage(
            input=numbers.count(told.get("input_tokens")),
            output=numbers.count(told.get("output_tokens")),
            read=numbers.count(told.get("cache_read_input_tokens")),
            write=numbers.count(told.get("cache_creation_input_tokens")),
            write_5m=numbers.count(by_life.get("ephemeral_5m_input_tokens")),
            write_1h=numbers.count(by_life.get("ephemeral_1h_input_tokens")),
            disjoint=True,
        )
        return None if usage.empty else usage

    def _said(self, event: SessionEvent) -> None:
        thread = self._threads.home(event)
        request, content = self._threads.told[thread].open, event.fields.get("content")
        texts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        if request is not None:
            request.visible_chars = (request.visible_chars or 0) + sum(len(t) for t in texts if isinstance(t, str))
        self._threads.touch(thread, event)

    def _compacted(self, event: SessionEvent) -> None:
        self._threads.note(EventKind.COMPACTION, event, trigger="auto")

    def _retried(self, event: SessionEvent) -> None:
        self._threads.note(EventKind.RETRY, event)

    def _failed(self, event: SessionEvent) -> None:
        error = event.fields.get("error")
        kind = text_of(error.get("type")) if isinstance(error, dict) else None
        limited = kind == "model_rate_limited_error"
        word = kind if kind in _ERRORS else None
        self._threads.note(EventKind.RATE_LIMIT if limited else EventKind.ERROR, event, detail=word)

    def _status(self, event: SessionEvent) -> None:
        reason = event.fields.get("stop_reason")
        kind = text_of(reason.get("type")) if isinstance(reason, dict) else None
        ended = event.kind.removeprefix("session.status_")
        self._outcome = safe_name(kind or ended, 40) if ended == "idle" else ended

    def _graded(self, event: SessionEvent) -> None:
        """A grader looked at the outcome: its verdict is the run's, its tokens a side model's."""
        self._success = event.fields.get("result") == "satisfied"
        usage = self._usage(event.file, event.line, event.fields.get("usage"))
        if usage is not None:
            request = self._request(event, self._threads.side("grader"))
            request.t_last, request.model = millis(event.t), None
            self._spend(request, event, usage)

    def told(self) -> Iterator[TraceEvent | Issue]:
        """Everything, once all events are in."""
        yield from self._threads.used()
        for name in sorted(self._threads.told):
            yield from self._threads.told[name].turns.values()
        yield from self._requests
        yield from self._calls.told()
        yield from self._threads.events
        yield from self._facts()
        yield from self._findings.issues()
        if self._starts:
            many = f"{len(self._starts):,} model request{'s have' if len(self._starts) != 1 else ' has'}"
            said = f"{many} no end in the recording; what they spent is unknown."
            _, first = min(self._starts.values(), key=lambda each: (each[1].file, each[1].line))
            yield Issue(Severity.WARNING, IssueCode.W_UNSETTLED, said, first.line, first.file)

    def _facts(self) -> Iterator[RunFacts]:
        """What the server says of the whole session."""
        if not self._states and self._outcome is None and self._success is None:
            return
        file, lasted = self._last_file, None
        by_model: tuple[ModelUsage, ...] = ()
        if self._states:
            state = self._states[-1]
            file = file or state.file
            usage, stats = self._usage(state.file, 1, state.fields.get("usage")), state.fields.get("stats")
            if usage is not None:
                by_model = (ModelUsage(self._model or "unknown", next(settle([usage]))[0]),)
            lasted = self._numbers[state.file].amount(
                stats.get("duration_seconds") if isinstance(stats, dict) else None
            )
        yield RunFacts(
            by_model=by_model,
            duration_ms=round(lasted * 1_000) if lasted else None,
            outcome=self._outcome,
            success=self._success,
            denied=self._calls.denied,
            file=file,
        )
