"""The lines of all files of one run of Claude Code, gathered into requests, calls, turns and events.

The rules are those of :mod:`harness.formats.claude_session` (one response is one message id, a sub-agent is a thread,
both sides of a rewind were paid for), over several files and without blocks or pseudonyms, so that a tree of sessions
is counted at nearly the speed at which it is parsed. This module refuses to guess: what no line says stays None.
"""

from __future__ import annotations

from harness.formats.claude_chain import ROOT, UNKNOWN, Chain, Owner
from harness.formats.claude_notice_lines import notice_of
from harness.formats.claude_results import digest_of
from harness.formats.claude_run_calls import Calls
from harness.formats.claude_run_events import Events
from harness.formats.claude_run_lines import RunLine, RunMessage, RunUsage
from harness.formats.claude_run_notices import take_notice
from harness.formats.claude_run_requests import Requests
from harness.formats.claude_run_state import FileState, Names, ThreadState
from harness.formats.claude_run_threads import Threads, first_text
from harness.formats.claude_run_users import UserLines
from harness.formats.session_numbers import stamp_ms
from kpis.terms.trace import EventKind, ToolCall, UserKind

__all__ = ["Gather"]

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
        self.events = Events()
        self.file = FileState("", 0)
        self._chained = chained
        self._user = UserLines(self.calls, self.requests, self.threads, self.events).add
        self._seen = self.chain.place
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
            owner = self._user(line, message, thread, when, number, file)
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
            fault = EventKind.RATE_LIMIT if limited else EventKind.ERROR
            self.events.note(fault, thread, when, number, file, "no_answer")
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
            places = file.places
            if not raw.startswith(places.said, len(raw) - places.back):
                places.look(raw, number)
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


def _spent(usage: RunUsage | None) -> bool:
    return usage is not None and any(
        (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    )
