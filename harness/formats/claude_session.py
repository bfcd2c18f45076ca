"""The lines of one Claude Code session, gathered into requests, calls, turns and blocks.

Rules, each learned from a count that was wrong elsewhere: the usage of a response is the largest of its lines' copies
(the last one, unless the file is out of order), one response is one message id whatever its request id says, an error
line with no usage is no request, sub-agents are threads of their own, and both sides of a rewind were paid for. This
module refuses to guess: what no line says stays None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.formats.branch import Link
from harness.formats.claude_conversation import MAIN
from harness.formats.claude_decode import text_bytes
from harness.formats.claude_drafts import BlockDraft, CallDraft, EventDraft, Gathered, RequestDraft, TurnDraft
from harness.formats.claude_finish import finished
from harness.formats.claude_lines import KNOWN_KINDS, Block, Line, Message
from harness.formats.claude_tools import INTERRUPTED, agent_of, outcome_of
from harness.formats.pseudonym import Pseudonyms, safe_id, safe_kind, safe_name
from harness.formats.session_numbers import count_of, unix_ms
from harness.formats.tool_readings import op_of
from kpis.terms.trace import EventKind, Issue, ThreadKind, TraceEvent, UserKind

__all__ = ["Session"]

_KNOWN_NOTICES = frozenset({"api_error", "compact_boundary", "local_command", "stop_hook_summary", "turn_duration"})
_NAMED_KINDS = 32  # a hostile file invents a kind a line


def _blocks(message: Message) -> Sequence[Block]:
    content = message.content
    return [Block(type="text", text=content)] if isinstance(content, str) else content or ()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Session:
    """Feed it lines in file order with :meth:`add`, then take everything from :meth:`finish`."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self._names = pseudonyms
        self._seen: set[str] = set()
        self._thread_of: dict[str, str] = {}
        self._turn: dict[str, TurnDraft] = {}
        self._request: dict[str, RequestDraft] = {}
        self._n_turns: Counter[str] = Counter()
        self._n_calls: Counter[str] = Counter()
        self._compaction: EventDraft | None = None
        self._sidechains = 0
        self._all = Gathered()

    def add(self, line: Line, number: int, drifted: bool) -> None:
        """Take one line in; ``number`` counts from 1, ``drifted`` says that its shape was not the expected one."""
        out = self._all
        out.drifted += drifted
        if line.uuid is not None:
            if line.uuid in self._seen:
                out.repeated += 1
                return
            self._seen.add(line.uuid)
        when = unix_ms(line.timestamp)
        out.note_origin(when, line.version, line.session_id)
        if line.type not in KNOWN_KINDS:
            self._unknown(line.type or "(none)")
        message = line.message if line.type in ("user", "assistant") else None
        thread = self._thread(line)
        if message is not None:
            out.threads.setdefault(thread, ThreadKind.MAIN if thread == MAIN else ThreadKind.SUBAGENT)
        at = None
        if thread == MAIN and (line.uuid is not None or message is not None):
            at = len(out.links)
            parent = line.parent_uuid or line.logical_parent_uuid
            out.links.append(Link(line.uuid, parent, line.session_id, message is not None))
            out.link_lines.append(number)
        if message is None:
            if line.type == "system":
                self._notice(line, thread, when, number)
        elif line.type == "assistant":
            self._assistant(line, message, thread, when, number, at)
        else:
            self._user(line, message, thread, when, number, at)

    def finish(self, source_format: str, lines: int, bad_lines: int) -> Iterator[TraceEvent | Issue]:
        """Everything that the lines said; call once."""
        return finished(self._all, source_format, lines, bad_lines)

    def _unknown(self, kind: str) -> None:
        kind = safe_kind(kind)
        unknown = self._all.unknown
        unknown[kind if kind in unknown or len(unknown) < _NAMED_KINDS else "(others)"] += 1

    def _thread(self, line: Line) -> str:
        """The line's thread; a sub-agent without an id of its own is known by the line that it began with."""
        if not line.is_sidechain:
            return MAIN
        if line.agent_id is not None:
            thread = f"agent-{safe_id(line.agent_id)}"
        elif line.parent_uuid is not None and line.parent_uuid in self._thread_of:
            thread = self._thread_of[line.parent_uuid]
        else:
            self._sidechains += 1
            thread = f"sidechain-{self._sidechains}"
        if line.uuid is not None:
            self._thread_of[line.uuid] = thread
        return thread

    def _opened(self, thread: str, kind: UserKind, when: int | None, at: int | None) -> TurnDraft:
        turn = TurnDraft(thread, self._n_turns[thread], kind, when, at)
        self._n_turns[thread] += 1
        self._turn[thread] = turn
        self._all.turns.append(turn)
        return turn

    def _block(self, turn: TurnDraft, role: str, body: bytes, request: RequestDraft | None, at: int | None) -> None:
        names = self._names
        head = names.prompt(body) if role == "user" else names.head(body)
        block = BlockDraft(turn.thread, turn.index, role, len(body), names.digest(body), head, request, at)
        self._all.log[turn.thread].append(block)

    def _assistant(
        self, line: Line, message: Message, thread: str, when: int | None, number: int, at: int | None
    ) -> None:
        out = self._all
        usage = message.usage
        spent = usage is not None and any(
            (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
        )
        if not spent and (message.model == "<synthetic>" or line.is_api_error_message):
            out.event(EventKind.ERROR, thread, when, number)
            return
        turn = self._turn.get(thread) or self._opened(thread, UserKind.SYSTEM, when, at)
        turn.until(when)
        key = safe_id(message.id or line.request_id or line.uuid or f"line-{number}")
        request = out.requests.get(key)
        if request is None:
            request = out.requests[key] = RequestDraft(key, thread, turn.index)
            out.log[thread].append(request)
        self._request[thread] = request
        request.merge(line, message, when, at)
        for block in _blocks(message):
            if block.type == "text" and block.text:
                body = _utf8(block.text)
                request.visible_chars += len(block.text)
                self._block(turn, "assistant", body, request, at)
            elif block.type == "tool_use":
                given = bytes(block.input)
                request.visible_chars += len(given)
                self._block(turn, "assistant", _utf8(block.name or "") + b" " + given, request, at)
                self._called(block, given, request, when, at)

    def _call(self, call_id: str, thread: str) -> CallDraft:
        call = self._all.calls.get(call_id)
        if call is None:
            call = self._all.calls[call_id] = CallDraft(call_id, thread, self._n_calls[thread])
            self._n_calls[thread] += 1
        return call

    def _called(self, block: Block, given: bytes, request: RequestDraft, when: int | None, at: int | None) -> None:
        call = self._call(safe_id(block.id or f"{request.key}.{self._n_calls[request.thread]}"), request.thread)
        if call.request is not None:
            return  # a copied history repeats the call
        call.request, call.at, call.t_start = request, at, when
        call.name, call.op = safe_name(block.name) if block.name else None, op_of(block.name)
        call.arg_bytes, call.arg_digest = len(given), self._names.digest(given)

    def _user(self, line: Line, message: Message, thread: str, when: int | None, number: int, at: int | None) -> None:
        blocks = _blocks(message)
        texts = [_utf8(block.text) for block in blocks if block.type == "text" and block.text]
        results = [block for block in blocks if block.type == "tool_result"]
        turn = self._turn.get(thread)
        if texts and texts[0].startswith(INTERRUPTED):
            self._all.event(EventKind.ABORT, thread, when, number)
            if thread in self._request:
                self._request[thread].aborted = True
        elif line.is_compact_summary:
            turn = self._opened(thread, UserKind.COMPACT_SUMMARY, when, at)
            if self._compaction is not None:
                self._compaction.summary_bytes = sum(map(len, texts))
        elif not results and not line.is_meta and not (texts and texts[0].startswith(b"<local-command-")):
            turn = self._opened(thread, UserKind.HUMAN if thread == MAIN else UserKind.TOOL, when, at)
        if turn is None:
            turn = self._opened(thread, UserKind.TOOL if results else UserKind.SYSTEM, when, at)
        turn.until(when)
        for block in results:
            body = text_bytes(block.content)
            self._answered(block, body, line, thread, when, at)
            self._block(turn, "tool", body, None, at)
        for body in texts:
            self._block(turn, "user", body, None, at)

    def _answered(self, block: Block, body: bytes, line: Line, thread: str, when: int | None, at: int | None) -> None:
        call = self._call(safe_id(block.tool_use_id or f"{thread}.result-{self._n_calls[thread]}"), thread)
        if call.outcome is not None:
            return
        call.outcome = outcome_of(block.is_error, body, line.tool_use_result)
        call.t_end, call.answered_at = when, at
        call.result_bytes, call.result_digest = len(body), self._names.digest(body)
        agent = agent_of(line.tool_use_result)
        if agent is not None:
            self._all.spawned[f"agent-{safe_id(agent)}"] = (thread, call.call_id)

    def _notice(self, line: Line, thread: str, when: int | None, number: int) -> None:
        out = self._all
        if line.subtype == "compact_boundary":
            event = self._compaction = out.event(EventKind.COMPACTION, thread, when, number)
            meta = line.compact_metadata
            if meta is not None:
                event.trigger = safe_name(meta.trigger, 20) if meta.trigger else None
                event.pre_tokens = count_of(meta.pre_tokens)
            out.log[thread].append(event)
        elif line.subtype == "api_error":
            out.event(EventKind.RETRY, thread, when, number)
        elif line.subtype not in _KNOWN_NOTICES:
            self._unknown(f"system/{line.subtype or '(none)'}")
