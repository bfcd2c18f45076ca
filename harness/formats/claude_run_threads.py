"""Which thread a line of a run belongs to: the main one, or a sub-agent's by any of the ways in which builds name it.

Today a sub-agent has a file of its own and an id on each line; the stream names the call that started it; the oldest
builds wrote its lines into the main file, marked and nothing else. This module refuses to guess a parent: without a
call that names it, a thread has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.formats.claude_results import digest_of
from harness.formats.claude_run_lines import RunBlock, RunLine, RunMessage
from harness.formats.claude_run_state import MAIN, FileState, ThreadState, TurnDraft
from harness.formats.pseudonym import safe_id
from kpis.terms.trace import ThreadKind, ToolCall, UserKind

__all__ = ["Threads", "first_text"]


def first_text(content: str | Sequence[RunBlock] | None) -> str | None:
    """The first text of a message."""
    if content is None or isinstance(content, str):
        return content
    return next((block.text for block in content if block.text), None)


class Threads:
    """All threads of a run. ``calls`` are those gathered so far, by the ids that the lines give them."""

    def __init__(self, calls: Mapping[str, ToolCall]) -> None:
        self.main = ThreadState(MAIN, ThreadKind.MAIN)
        self.all = {MAIN: self.main}
        self._calls = calls
        self._by_agent: dict[str, ThreadState] = {}
        self._by_line: dict[str, ThreadState] = {}
        self._agent_kinds: dict[str, str] = {}
        self._call_by_prompt: dict[str, str] = {}
        self._opened: set[tuple[str, int, int]] = set()

    def of(self, line: RunLine, message: RunMessage | None) -> ThreadState:
        """A sub-agent's thread: by its id, by the call that started it, else by the line that it goes on from."""
        agent = line.agent_id if line.agent_id is not None else line.parent_tool_use_id
        if agent is None:
            thread = self._by_line.get(line.parent_uuid or "")
            return thread if thread is not None else self._unnamed(message)
        thread = self._by_agent.get(agent)
        if thread is None:
            thread = self.agent(agent)
            if line.agent_id is None:
                self.spawned(thread, agent)
        return thread

    def goes_on(self, uuid: str, thread: ThreadState) -> None:
        """Lines that name ``uuid`` as their parent are of the same thread."""
        self._by_line[uuid] = thread

    def agent(self, agent: str) -> ThreadState:
        """The thread of a sub-agent with that id."""
        thread = self._by_agent.get(agent)
        if thread is None:
            thread = self._by_agent[agent] = self._thread(f"agent-{safe_id(agent)}")
        return thread

    def spawned(self, thread: ThreadState, call_id: str) -> None:
        """The call started the thread."""
        thread.spawned_by = safe_id(call_id)
        thread.agent = self._agent_kinds.get(call_id)
        call = self._calls.get(call_id)
        if call is not None:
            thread.parent = call.thread_id
            call.spawned_thread = thread.thread_id

    def will_spawn(self, call_id: str, kind: str | None, prompt: str | None) -> None:
        """The call starts a sub-agent of that kind with that prompt."""
        if kind is not None:
            self._agent_kinds[call_id] = kind
        if prompt is not None:
            self._call_by_prompt[_mark(prompt)] = call_id

    def opened(
        self, thread: ThreadState, kind: UserKind, when: int, number: int, file: FileState, size: int = 0
    ) -> TurnDraft:
        """The turn that a line opens; a copied history opens none again."""
        if when:
            mark = (thread.thread_id, when, size)
            if mark in self._opened and thread.turn is not None:
                return thread.turn
            self._opened.add(mark)
        turn = TurnDraft(thread.thread_id, len(thread.turns), kind, when, when, number, file.name)
        thread.turn = turn
        thread.turns.append(turn)
        return turn

    def _thread(self, thread_id: str) -> ThreadState:
        thread = self.all.get(thread_id)
        if thread is None:
            thread = self.all[thread_id] = ThreadState(thread_id, ThreadKind.SUBAGENT)
        return thread

    def _unnamed(self, message: RunMessage | None) -> ThreadState:
        """The oldest builds name no agent; its prompt is the one that the call gave."""
        sides = sum(1 for name in self.all if name.startswith("sidechain-"))
        thread = self._thread(f"sidechain-{sides + 1}")
        text = None if message is None else first_text(message.content)
        call_id = None if text is None else self._call_by_prompt.get(_mark(text))
        if call_id is not None:
            self.spawned(thread, call_id)
        return thread


def _mark(prompt: str) -> str:
    return digest_of(prompt.encode("utf-8", "surrogatepass"))
