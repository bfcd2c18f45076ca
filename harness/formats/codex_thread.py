"""The lines of one Codex thread, gathered into turns, answers, calls and events.

Content is taken from what the model was sent and gave back (``response_item``); the events that mirror it are left out,
and so are messages that the client writes in the user's name. This module refuses to judge what it gathered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from harness.formats.codex_answers import Answers
from harness.formats.codex_calls import CALLS, RESULTS, Calls, Place, digest_of
from harness.formats.codex_copies import CallKey, Copies, Lineage, key_of_call
from harness.formats.codex_events import Happened
from harness.formats.codex_kinds import INJECTED, MIRRORS, is_known
from harness.formats.codex_lines import plain, text_of
from harness.formats.codex_origin import Session, worked_on
from harness.formats.codex_shapes import Item, Line
from harness.formats.pseudonym import safe_id, safe_kind, safe_name
from harness.formats.session_numbers import unix_ms
from kpis.terms.trace import EventKind, RequestStatus, ThreadKind, UserKind
from kpis.terms.trace import Place as WorkedOn

__all__ = ["Gathered", "TurnDraft"]

_NAMED_KINDS = 32  # a hostile file invents a kind a line


@dataclass(slots=True)
class TurnDraft:
    """A turn while it is gathered. ``at`` is the position of its first line in the thread."""

    at: int
    kind: UserKind
    t_start: int | None
    t_end: int | None
    in_conversation: bool = True


class Gathered:
    """Feed it the lines of a thread in order with :meth:`add`.

    ``unknown``, ``uncounted`` (of these, the ones that hold counts) and ``moved`` are set for each file.
    """

    def __init__(self, session: Session, copies: Copies) -> None:
        self.session = session
        self.copies = copies
        self.answers = Answers(session.thread_id, session.provider, copies)
        self.answers.review = session.kind is ThreadKind.REVIEW
        self.calls = Calls(session.thread_id)
        self.happened = Happened(session.thread_id)
        self.turns: list[TurnDraft] = []
        self.copied_calls: set[str] = set()
        self.ancestors: list[str] = []
        self.unknown: Counter[str] = Counter()
        self.uncounted: list[str] = []
        self.moved: list[WorkedOn] = []
        self.drifted = 0
        self._users: list[str] = []
        self._at = -1
        self._stamp: str | int | float | None = None
        self._when: int | None = None

    def lineage(self) -> Lineage:
        """What this thread's children are compared with."""
        calls: set[CallKey] = {key_of_call(call) for call in self.calls}
        return Lineage(self.answers.meter.order, self._users, calls)

    def add(self, line: Line, file: str, number: int) -> None:
        """Take one line in."""
        self._at += 1
        if line.payload is not None and line.payload.type in MIRRORS and line.type == "event_msg":
            return
        if line.timestamp != self._stamp:  # lines are often written several at once
            self._stamp, self._when = line.timestamp, unix_ms(line.timestamp)
        when, item, turns, kind = self._when, line.payload, self.turns, line.type
        if turns and when is not None:
            turns[-1].t_end = when
        place = Place(file, number, when, len(turns) - 1 if turns else 0)
        if item is None:
            self._unknown(kind)
        elif kind == "response_item":
            self._part(item, place)
        elif kind == "event_msg":
            self._event(item, place)
        elif kind == "turn_context":
            if item.model:
                self.answers.model = safe_name(item.model)
            self._moves(item, number)
        elif kind == "compacted":
            summary = text_of(plain(item.message)).encode("utf-8", "surrogatepass")
            self.happened.folded(place, self._at, len(summary))
        elif kind == "session_meta":
            if item.id and safe_id(item.id) != self.session.thread_id:
                self.ancestors.append(safe_id(item.id))
            else:
                self._moves(item, number)
        elif not is_known(kind):
            self._unknown(kind, item)

    def finish(self) -> None:
        """No line follows."""
        self.answers.flush(RequestStatus.OK, self._at)

    def _moves(self, item: Item, number: int) -> None:
        """Take note where the line says another project or branch than held before it."""
        before = self.moved[-1] if self.moved else self.session
        project, branch = worked_on(item)
        now = project or before.project, branch or before.branch
        if now != (before.project, before.branch):
            self.moved.append(WorkedOn(number, *now))

    def _unknown(self, kind: str, item: Item | None = None) -> None:
        """Count the kind of a line; one that holds a counter of tokens is a fault."""
        if item is not None and item.info is not None:
            self.uncounted.append(kind)
        kind = safe_kind(kind)
        unknown = self.unknown
        unknown[kind if kind in unknown or len(unknown) < _NAMED_KINDS else "(others)"] += 1

    def _part(self, item: Item, place: Place) -> None:
        kind = item.type
        if kind in CALLS:
            self._open(place)
            call = self.calls.begun(item, place)
            if call is not None:
                if self.copies.call(key_of_call(call), self._at):
                    self.copied_calls.add(call.call_id)
                self.answers.given(place, self._at, call.arg_bytes or 0, call)
        elif kind in RESULTS:
            self.calls.ended(item, place)
            self.answers.answered()
        elif kind == "reasoning":
            self._open(place)
            self.answers.given(place, self._at, 0, None)
        elif kind == "message":
            if item.role == "assistant":
                self._open(place)
                self.answers.given(place, self._at, len(text_of(plain(item.content))), None)
            elif item.role == "user":
                self._asked(text_of(plain(item.content)), place)
        elif kind == "ghost_snapshot":
            if item.ghost_commit is not None and item.ghost_commit.id:
                self.calls.environment = digest_of(item.ghost_commit.id.encode("utf-8", "surrogatepass"))
            self.happened.say(EventKind.SNAPSHOT, place, self._at)
        elif not is_known("response_item/" + kind):
            self._unknown("response_item/" + kind)

    def _asked(self, text: str, place: Place) -> None:
        if text.lstrip().startswith(INJECTED):
            return
        mark = digest_of(text.encode("utf-8", "surrogatepass"))
        self._users.append(mark)
        self.copies.user(mark, self._at)
        by_person = self.session.kind in (ThreadKind.MAIN, ThreadKind.FORK)
        self._turn(UserKind.HUMAN if by_person else UserKind.TOOL, place)

    def _turn(self, kind: UserKind, place: Place) -> None:
        self.answers.opened(self._at)
        self.turns.append(TurnDraft(self._at, kind, place.when, place.when))
        place.turn = len(self.turns) - 1

    def _open(self, place: Place) -> None:
        if not self.turns:
            self._turn(UserKind.SYSTEM, place)

    def _event(self, item: Item, place: Place) -> None:
        kind, at, say = item.type, self._at, self.happened.say
        if kind == "token_count":
            if item.info is not None:
                self._open(place)
                found = self.answers.count(item.info, place, at)
                if found is not None:
                    self.happened.prompted(found[0].tokens.prompt, place, at, found[1])
        elif kind in ("exec_command_end", "mcp_tool_call_end"):
            self.calls.measured(item)
        elif kind == "turn_aborted":
            self.answers.flush(RequestStatus.ABORTED, at)
            say(EventKind.ABORT, place, at)
        elif kind == "context_compacted":
            self.happened.folded(place, at, None)
        elif kind in ("entered_review_mode", "exited_review_mode"):
            entered = kind == "entered_review_mode"
            self.answers.review = entered or self.session.kind is ThreadKind.REVIEW
            self.happened.prompt = None
            say(EventKind.REVIEW, place, at, "entered" if entered else "left")
        elif kind == "thread_rolled_back":
            self._rolled_back(item.num_turns or 0, place)
        elif kind == "error":
            say(EventKind.ERROR, place, at)
        elif kind == "stream_error":
            say(EventKind.RETRY, place, at)
        elif kind == "collab_agent_spawn_end":
            if item.call_id and item.new_thread_id:
                self.calls.started(safe_id(item.call_id), item.new_thread_id)
        elif not is_known("event_msg/" + kind):
            self._unknown("event_msg/" + kind, item)

    def _rolled_back(self, turns: int, place: Place) -> None:
        self.answers.flush(RequestStatus.OK, self._at)
        kept = [turn for turn in self.turns if turn.in_conversation]
        for turn in kept[max(0, len(kept) - max(0, turns)) :]:
            turn.in_conversation = False
        self.happened.prompt = None
        self.happened.say(EventKind.REWIND, place, self._at)
