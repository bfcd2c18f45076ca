"""Tool calls of a run, and the results that answer them, paired by id and in any order.

A call without a result is unanswered, a result without a call an orphan; neither is an error. This module refuses to
read a result further than the client's own phrases.
"""

from __future__ import annotations

from harness.formats.claude_results import digest_of, given_of, string_in, text_of
from harness.formats.claude_run_lines import RunBlock, Structured
from harness.formats.claude_run_state import FileState, Names, ThreadState
from harness.formats.claude_run_threads import Threads
from harness.formats.claude_tools import error_class_of, exit_code_of, failure_of
from harness.formats.pseudonym import safe_id
from harness.formats.tool_names import Tool, tool_of
from kpis.terms.trace import Outcome, Request, TimeBasis, ToolCall, ToolOp

__all__ = ["Calls"]

_RESULT = ("result_bytes", "result_digest", "t_end", "error_class", "exit_code", "duration_ms", "time_basis")


class Calls:
    """The calls of a run; ``all`` is keyed by the ids that the lines give them, and shared with ``threads``."""

    def __init__(self, calls: dict[str, ToolCall], threads: Threads, names: Names) -> None:
        self.all = calls
        self._threads = threads
        self._names = names
        self._tools: dict[str | None, tuple[Tool, str | None]] = {}

    def made(
        self, block: RunBlock, request: Request, thread: ThreadState, when: int, number: int, file: FileState
    ) -> int:
        """Note a call; the bytes of its arguments."""
        size = len(bytes(block.input))
        identifier = block.id or f"{request.request_id}.{number}"
        earlier = self.all.get(identifier)
        if earlier is None:
            index = thread.calls
            thread.calls += 1
        elif earlier.request_id is not None:
            return size  # a copied history repeats the call
        else:
            index = earlier.index
        name = block.name
        tool, safe = self._tools.get(name) or self._tool(name)
        digest, (op, mutates, polling, target), values = given_of(name, tool, block.input)
        call = self.all[identifier] = ToolCall(
            safe_id(identifier),
            request.request_id,
            thread.thread_id,
            index,
            safe,
            op,
            Outcome.UNANSWERED,
            size,
            digest,
            t_start=when or None,
            turn=request.turn,
            target=target,
            mutates=mutates,
            polling=polling,
            file=file.name,
            line=number,
        )
        if earlier is not None:  # its result stood ahead of it
            call.outcome = earlier.outcome
            for part in _RESULT:
                setattr(call, part, getattr(earlier, part))
        if op is ToolOp.SPAWN:
            kind = string_in(values, "subagent_type")
            named = None if kind is None else self._names.safe(kind)
            self._threads.will_spawn(identifier, named, string_in(values, "prompt"))
        return size

    def _tool(self, name: str | None) -> tuple[Tool, str | None]:
        known = tool_of(name), None if name is None else self._names.safe(name)
        if len(self._tools) < 4_096:
            self._tools[name] = known
        return known

    def answered(
        self,
        block: RunBlock,
        structured: Structured | None,
        thread: ThreadState,
        when: int,
        number: int,
        file: FileState,
    ) -> ToolCall | None:
        """Pair a result with its call; None if the call was answered before."""
        body = text_of(block.content)
        digest = digest_of(body)
        identifier = block.tool_use_id or f"{thread.thread_id}.{digest}"
        call = self.all.get(identifier)
        if call is None:
            turn = thread.turn
            call = self.all[identifier] = ToolCall(
                safe_id(identifier),
                None,
                thread.thread_id,
                thread.calls,
                None,
                ToolOp.OTHER,
                Outcome.UNANSWERED,
                turn=None if turn is None else turn.index,
                file=file.name,
                line=number,
            )
            thread.calls += 1
        elif call.outcome is not Outcome.UNANSWERED:
            return None
        call.result_bytes = len(body)
        call.result_digest = digest
        call.t_end = when or None
        if block.is_error:
            call.outcome = failure_of(body)
            call.error_class = error_class_of(call.outcome, body)
            call.exit_code = exit_code_of(body)
        else:
            call.outcome = Outcome.OK
        if structured is not None:
            self._structured(identifier, call, structured)
        return call

    def _structured(self, identifier: str, call: ToolCall, structured: Structured) -> None:
        if structured.interrupted and call.outcome is Outcome.OK:
            call.outcome, call.error_class = Outcome.INTERRUPTED, "cancelled"
        clock = structured.total_duration_ms if structured.duration_ms is None else structured.duration_ms
        if clock is not None and 0 <= clock < 1e13:
            call.duration_ms, call.time_basis = round(clock), TimeBasis.MEASURED
        if structured.agent_id is not None:
            self._threads.spawned(self._threads.agent(structured.agent_id), identifier)
