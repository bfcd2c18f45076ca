"""The tool calls of one sample of an Inspect log.

A tool event tells of a call with its time and its error. Where there is none, as in old logs and where an agent's own
client ran the tool, the messages do: what an assistant asked for, and the answer with the same id. This module refuses
to call anything an orphan that names its tool and its end: such an answer is a call without arguments, and is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_name
from harness.formats.whole_json import as_amount, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import Outcome, ToolCall

__all__ = ["SampleCalls"]

_OUTCOMES: Mapping[str, Outcome] = MappingProxyType(
    {"timeout": Outcome.TIMEOUT, "approval": Outcome.DENIED, "cancelled": Outcome.INTERRUPTED}
)


class _Proposal(NamedTuple):
    """A call that a model asked for, and in which request."""

    told: Mapping[str, Any]
    request_id: str | None
    thread_id: str
    line: int
    kept: bool = True
    copied: bool = False


class SampleCalls:
    """The calls of one sample; ``main`` is its thread. ``orphans`` are the messages that answer no recorded call."""

    __slots__ = ("_log", "_main", "_proposed", "_run", "_spans", "orphans")

    def __init__(self, log: CallLog, main: str) -> None:
        self._log = log
        self._main = main
        self._proposed: dict[str, _Proposal] = {}
        self._run: set[str] = set()
        self._spans: list[tuple[ToolCall, str]] = []
        self.orphans: list[int] = []

    def asked(
        self,
        message: Mapping[str, Any],
        request_id: str,
        thread_id: str,
        line: int,
        kept: bool,
        *,
        copied: bool = False,
    ) -> None:
        """The answer of a model, which may ask for calls.

        ``kept``: the conversation went on from it. ``copied``: another log of the run counts it.
        """
        for each in map(as_dict, as_list(message.get("tool_calls"))):
            if given := as_str(each.get("id")):
                self._proposed[given] = _Proposal(each, request_id, thread_id, line, kept, copied)

    def ran(self, event: Mapping[str, Any], thread_id: str, line: int, kept: bool) -> ToolCall:
        """A tool event."""
        given = as_str(event.get("id"))
        proposal = self._proposed.get(given or "")
        call = self._log.opened(
            thread_id,
            as_str(event.get("function")),
            event.get("arguments"),
            line=line,
            given=given,
            request_id=None if proposal is None else proposal.request_id,
            turn=0,
            t=as_ms(event.get("timestamp")),
        )
        self._run.add(given or "")
        call.in_conversation = kept
        call.copied = proposal is not None and proposal.copied
        if span := as_str(event.get("agent_span_id")):
            self._spans.append((call, span))
        end = as_ms(event.get("completed"))
        if event.get("pending") is not True or end is not None:
            self._answered(call, event.get("result"), event, end, as_amount(event.get("working_time")))
            if event.get("truncated"):
                call.truncated = True
        return call

    def holds(self, call: ToolCall, span: str) -> None:
        """The events of ``span`` happened inside ``call``."""
        self._spans.append((call, span))

    def linked(self, agents: Mapping[str, str]) -> dict[str, str]:
        """Link each call with the thread that it started; ``agents`` are the threads by span. Calls by thread."""
        found: dict[str, str] = {}
        for call, span in self._spans:
            if span in agents:
                call.spawned_thread = agents[span]
                found[agents[span]] = call.call_id
        return found

    def messages(self, messages: list[Any]) -> None:
        """The calls that only the sample's messages tell of, and those that nothing tells the end of."""
        seen: set[str] = set()
        for line, message in enumerate(map(as_dict, messages), 1):
            if message.get("role") == "assistant":
                for each in map(as_dict, as_list(message.get("tool_calls"))):
                    given = as_str(each.get("id"))
                    if given not in self._run:
                        self._open(self._proposed.get(given or "", _Proposal(each, None, self._main, line)))
                        seen.add(given or "")
            elif message.get("role") == "tool":
                self._message(message, line)
        for given, proposal in self._proposed.items():
            if given not in self._run and given not in seen:
                self._open(proposal)

    def _message(self, message: Mapping[str, Any], line: int) -> None:
        given, name = as_str(message.get("tool_call_id")), as_str(message.get("function"))
        if given in self._run:
            return
        call = self._log.waiting(self._main, given, name)
        if call is None:
            self.orphans.append(line)
            self._log.opened(self._main, name, None, line=line, given=given, turn=0)
            call = self._log.waiting(self._main, given, name)
        if call is not None:
            self._answered(call, text_of(message.get("content")), message, None, None)

    def _open(self, proposal: _Proposal) -> None:
        call = self._log.opened(
            proposal.thread_id,
            as_str(proposal.told.get("function")),
            proposal.told.get("arguments"),
            line=proposal.line,
            given=proposal.told.get("id"),
            request_id=proposal.request_id,
            turn=0,
        )
        call.in_conversation, call.copied = proposal.kept, proposal.copied

    def _answered(
        self, call: ToolCall, result: Any, told: Mapping[str, Any], t: int | None, seconds: float | None
    ) -> None:
        error = as_dict(told.get("error"))
        kind = as_str(error.get("type"))
        outcome = Outcome.OK
        if kind is not None or told.get("failed") is True:
            outcome = _OUTCOMES.get(kind or "", Outcome.ERROR)
        shown = error.get("message") if kind is not None and not result else result
        self._log.answered(call, shown, outcome, t=t, seconds=seconds)
        call.error_class = None if kind is None else safe_name(kind)
        if kind == "output_limit":
            call.truncated = True
