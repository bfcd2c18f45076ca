"""The lines of all files of one run of Claude Code, gathered into requests, calls, turns and events.

The rules are those of :mod:`harness.formats.claude_session` (one response is one message id, a sub-agent is a thread,
both sides of a rewind were paid for), over several files and without blocks or pseudonyms, so that a tree of sessions
is counted at nearly the speed at which it is parsed. This module refuses to guess: what no line says stays None.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.formats.claude_chain import ROOT, UNKNOWN, Chain, Owner
from harness.formats.claude_results import digest_of
from harness.formats.claude_run_calls import Calls
from harness.formats.claude_run_lines import RunBlock, RunLine, RunMessage, RunUsage, Structured, notice_of, stamp_ms
from harness.formats.claude_run_notices import take_notice
from harness.formats.claude_run_requests import Requests
from harness.formats.claude_run_state import EventDraft, FileState, Names, ThreadState
from harness.formats.claude_run_threads import Threads, first_text
from harness.formats.claude_tools import INTERRUPTED
from kpis.terms.trace import EventKind, Request, RequestStatus, ToolCall, UserKind

__all__ = ["Gather"]

_INTERRUPTED = INTERRUPTED.decode("ascii")
_OPENED_BY = (("Stop hook feedback", UserKind.HOOK), ("<task-notification>", UserKind.SYSTEM))
_SERVED = frozenset(("server_tool_use", "mcp_tool_use"))
_LIMITED = ("rate limit", "rate_limit", "limit reached", "usage limit")


class Gather:
    """Hand it each file with :meth:`begin`, then its lines with :meth:`add`, the oldest file first.

    ``chained``: lines name their parents, so that a branch can be abandoned. A stream of events has no branches.
    """

    def __init__(self, chained: bool = True) -> None:
        names = Names()
        calls: dict[str, ToolCall] = {}
        self.chain = Chain()
        self.threads = Threads(calls)
        self._main = self.threads.main
        self.calls = Calls(calls, self.threads, names)
        self.requests = Requests(names)
        self.events: list[EventDraft] = []
        self.file = FileState("", 0)
        self._chained = chained
        self._seen = self.chain.place
        self._told: set[tuple[EventKind, str, int, str | None]] = set()
        self._previous = b""
        self._results: set[str] = set()
        self._streaming: dict[str, str] = {}

    def begin(self, file: FileState) -> None:
        """The lines that follow are of ``file``."""
        self.file = file

    def add(self, line: RunLine, raw: bytes, number: int) -> None:
        """Take one line in; ``raw`` are its bytes, ``number`` counts from 1."""
        message = line.message
        kind = line.type
        if message is None or (kind != "assistant" and kind != "user"):  # noqa: PLR1714 - a hot path
            if kind == "progress":
                self.progress(line)
            else:
                self._notice(line, raw, number)
            return
        uuid = line.uuid
        file = self.file
        if uuid is not None and uuid in self._seen:
            file.repeated += 1
            return
        when = stamp_ms(line.timestamp)
        if when:
            if when > file.last:
                file.last = when
                if not file.first:
                    file.first = when
            elif when < file.first:
                file.first = when
        thread = main = self._main
        if line.is_sidechain or line.parent_tool_use_id is not None:
            thread = self.threads.of(line, message)
        owner: Owner | None
        if kind == "assistant":
            owner = self._assistant(line, message, thread, when, raw, number)
        else:
            owner = self._user(line, message, thread, when, number)
        if thread is not main or not self._chained:
            if uuid is not None:
                self._seen[uuid] = UNKNOWN
                if line.agent_id is None:
                    self.threads.goes_on(uuid, thread)
            return
        parent = line.parent_uuid
        self.chain.add(uuid, parent, owner)
        if parent is None and uuid is not None and self._previous:
            session, earlier = notice_of(raw).session_id, notice_of(self._previous).session_id
            if session is not None and earlier not in (None, session):
                self.chain.new_session()
        self._previous = raw

    def progress(self, line: RunLine) -> None:
        """A line of progress: nothing but its place, and in many files most of the lines."""
        uuid = line.uuid
        if uuid is not None and not line.is_sidechain:
            parent = line.parent_uuid
            seen = self._seen
            seen.setdefault(uuid, ROOT if parent is None else seen.get(parent, UNKNOWN))

    def settle(self, line: RunLine, begun: str | None, usage: RunUsage | None) -> None:
        """A part of a streamed response: it begins the message of that id, or ends it with its final usage."""
        place = line.parent_tool_use_id or ""
        if begun is not None:
            self._streaming[place] = begun
        elif usage is not None and usage.output_tokens is not None:
            self.requests.settle(self._streaming.get(place, ""), usage.output_tokens)

    def first_time(self, raw: bytes) -> bool:
        """Whether no file of the run has that line yet: a repeated account is not a second one."""
        digest = digest_of(raw.strip())
        new = digest not in self._results
        self._results.add(digest)
        return new

    def thread_of(self, line: RunLine) -> ThreadState:
        """The thread of a line that is no message."""
        named = line.is_sidechain and line.agent_id is not None
        return self.threads.of(line, None) if named else self.threads.main

    def event(
        self, kind: EventKind, thread: ThreadState, when: int, number: int, detail: str | None = None
    ) -> EventDraft | None:
        """Note an event; None where a copied history tells it again."""
        if when:
            mark = (kind, thread.thread_id, when, detail)
            if mark in self._told:
                return None
            self._told.add(mark)
        event = EventDraft(kind, thread.thread_id, when, number, self.file.name, thread.request, detail=detail)
        self.events.append(event)
        return event

    def _notice(self, line: RunLine, raw: bytes, number: int) -> None:
        """A line that is no message: who goes on from it goes on from its parent."""
        uuid = line.uuid
        if uuid is not None:
            if uuid in self._seen:
                self.file.repeated += 1
                return
            if not self._chained or line.is_sidechain:
                self._seen[uuid] = UNKNOWN
            else:
                self.chain.alias(uuid, line.parent_uuid or notice_of(raw).logical_parent_uuid)
        take_notice(self, line, raw, number)

    def _assistant(
        self, line: RunLine, message: RunMessage, thread: ThreadState, when: int, raw: bytes, number: int
    ) -> Owner | None:
        file = self.file
        if (message.model == "<synthetic>" or line.is_api_error_message) and not _spent(message.usage):
            said = (first_text(message.content) or "")[:400].lower()
            limited = any(words in said for words in _LIMITED)
            self.event(EventKind.RATE_LIMIT if limited else EventKind.ERROR, thread, when, number, "no_answer")
            return None
        turn = thread.turn
        if turn is None:
            turn = self.threads.opened(thread, UserKind.SYSTEM, when, number, file)
        elif when > turn.t_end:
            turn.t_end = when
        identifier = message.id or line.request_id or line.uuid or f"line-{digest_of(raw)}"
        request = self.requests.all.get(identifier)
        if request is None:
            request = self.requests.begun(identifier, line, message, thread, turn.index, when, number, file)
            own = True
        else:
            self.requests.again(request, line, message, when)
            own = request.file is file.name
            if not own:
                file.copied.add(request.request_id)
        content = message.content
        chars = 0
        if type(content) is list:
            for block in content:
                kind = block.type
                if kind == "text":
                    if block.text is not None:
                        chars += len(block.text)
                elif kind == "tool_use" or kind in _SERVED:
                    chars += self.calls.made(block, request, thread, when, number, file)
                elif kind != "thinking" and kind.endswith("_tool_result"):
                    self.calls.answered(block, None, thread, when, number, file)
        elif content is not None:
            chars = len(content)
        if own:
            request.visible_chars = (request.visible_chars or 0) + chars
        return request

    def _user(self, line: RunLine, message: RunMessage, thread: ThreadState, when: int, number: int) -> Owner | None:
        file = self.file
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
                    call = self.calls.answered(block, structured, thread, when, number, file)
                    if owner is None and call is not None:
                        owner = call if call.request_id is None else self._asked(call, thread)
                elif block.type == "text" and block.text:
                    text = text or block.text
                    size += len(block.text)
        elif content is not None:
            text, size = content, len(content)
        turn = thread.turn
        if text.startswith(_INTERRUPTED):
            self.event(EventKind.ABORT, thread, when, number)
            if thread.request is not None and thread.request.stop_reason is None:
                thread.request.status = RequestStatus.ABORTED
        elif line.is_compact_summary:
            owner = turn = self.threads.opened(thread, UserKind.COMPACT_SUMMARY, when, number, file, size)
            self._summarised(thread, content, when, number)
        elif not results and not line.is_meta and not text.startswith("<local-command-"):
            kind = UserKind.HUMAN if thread is self.threads.main else UserKind.TOOL
            kind = next((opened for words, opened in _OPENED_BY if text.startswith(words)), kind)
            owner = turn = self.threads.opened(thread, kind, when, number, file, size)
        if turn is None:
            turn = self.threads.opened(thread, UserKind.TOOL if results else UserKind.SYSTEM, when, number, file, size)
        turn.t_end = max(turn.t_end, when)
        return owner

    def _asked(self, call: ToolCall, thread: ThreadState) -> Request | None:
        """The request that made the call, most often the thread's last."""
        last = thread.request
        if last is not None and last.request_id == call.request_id:
            return last
        return self.requests.all.get(call.request_id or "")

    def _summarised(
        self, thread: ThreadState, content: str | Sequence[RunBlock] | None, when: int, number: int
    ) -> None:
        """A summary belongs to the compaction ahead of it; the oldest builds write no boundary."""
        event = thread.compaction or self.event(EventKind.COMPACTION, thread, when, number)
        if event is not None:
            texts = (content,) if isinstance(content, str) else (block.text for block in content or ())
            event.summary_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)
        thread.compaction = None


def _spent(usage: RunUsage | None) -> bool:
    return usage is not None and any(
        (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    )
