"""What a user line adds to a run of Claude Code: results of calls, a prompt that opens a turn, or the sign of an end.

Clients write much under the user's name that no user said; the first words tell it. This module refuses to open a turn
for a result.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.formats.claude_chain import Owner
from harness.formats.claude_run_calls import Calls
from harness.formats.claude_run_events import Events
from harness.formats.claude_run_lines import RunBlock, RunLine, RunMessage, Structured
from harness.formats.claude_run_requests import Requests
from harness.formats.claude_run_state import FileState, ThreadState
from harness.formats.claude_run_threads import Threads
from harness.formats.claude_tools import INTERRUPTED
from kpis.terms.trace import EventKind, Request, RequestStatus, ToolCall, UserKind

__all__ = ["UserLines"]

_INTERRUPTED = INTERRUPTED.decode("ascii")
_OPENED_BY = (("Stop hook feedback", UserKind.HOOK), ("<task-notification>", UserKind.SYSTEM))


class UserLines:
    """Hands the parts of user lines to those who keep them."""

    def __init__(self, calls: Calls, requests: Requests, threads: Threads, events: Events) -> None:
        self._calls = calls
        self._requests = requests
        self._threads = threads
        self._events = events

    def add(
        self, line: RunLine, message: RunMessage, thread: ThreadState, when: int, number: int, file: FileState
    ) -> Owner | None:
        """Take the line in; what it belongs to, where that is known."""
        content = message.content
        results = size = 0
        text = ""
        owner: Owner | None = None
        if isinstance(content, list):
            told = line.tool_use_result
            structured = told if type(told) is Structured and len(content) == 1 else None
            for block in content:
                if block.type == "tool_result":
                    results += 1
                    call = self._calls.answered(block, structured, thread, when, number, file)
                    if owner is None and call is not None:
                        owner = call if call.request_id is None else self._asked(call, thread)
                elif block.type == "text" and block.text:
                    text = text or block.text
                    size += len(block.text)
        elif content is not None:
            text, size = content, len(content)
        turn = thread.turn
        if text.startswith(_INTERRUPTED):
            self._events.note(EventKind.ABORT, thread, when, number, file)
            if thread.request is not None and thread.request.stop_reason is None:
                thread.request.status = RequestStatus.ABORTED
        elif line.is_compact_summary:
            owner = turn = self._threads.opened(thread, UserKind.COMPACT_SUMMARY, when, number, file, size)
            self._summarised(thread, content, when, number, file)
        elif not results and not line.is_meta and not text.startswith("<local-command-"):
            kind = UserKind.HUMAN if thread is self._threads.main else UserKind.TOOL
            kind = next((opened for words, opened in _OPENED_BY if text.startswith(words)), kind)
            owner = turn = self._threads.opened(thread, kind, when, number, file, size)
        if turn is None:
            turn = self._threads.opened(thread, UserKind.TOOL if results else UserKind.SYSTEM, when, number, file, size)
        turn.t_end = max(turn.t_end, when)
        return owner

    def _asked(self, call: ToolCall, thread: ThreadState) -> Request | None:
        """The request that made the call, most often the thread's last."""
        last = thread.request
        if last is not None and last.request_id == call.request_id:
            return last
        return self._requests.all.get(call.request_id or "")

    def _summarised(
        self,
        thread: ThreadState,
        content: str | Sequence[RunBlock] | None,
        when: int,
        number: int,
        file: FileState,
    ) -> None:
        """A summary belongs to the compaction ahead of it; the oldest builds write no boundary."""
        event = thread.compaction or self._events.note(EventKind.COMPACTION, thread, when, number, file)
        if event is not None:
            texts = (content,) if isinstance(content, str) else (block.text for block in content or ())
            event.summary_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)
        thread.compaction = None
