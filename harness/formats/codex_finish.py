"""From one gathered Codex thread to the events of the trace, copies left out or marked.

A copied beginning is left out, because the parent's thread holds it and both are one run; a thread that is nothing but
a copy is yielded marked as copied, so that it can be seen. Turns, answers and calls keep the numbers that they have in
the file. This module refuses to change what was gathered but for those marks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from operator import itemgetter

from harness.formats.codex_thread import Gathered
from kpis.terms.trace import (
    Outcome,
    Request,
    RequestStatus,
    Thread,
    ThreadKind,
    TraceEvent,
    Turn,
)

__all__ = ["Finished"]


class Finished:
    """A thread whose lines are all read. ``known`` are ids of requests that other threads of the run count."""

    def __init__(self, thread: Gathered, known: Collection[str], spawned_by: str | None) -> None:
        thread.finish()
        copies = thread.copies
        self.thread = thread
        self.spawned_by = spawned_by
        self.copied = copies.matched if copies.matched >= copies.least else 0
        kind = thread.session.kind
        answers = thread.answers
        everything = bool(answers.billed) and all(
            index in answers.copied or request.request_id in known for index, (_, request) in enumerate(answers.billed)
        )
        self.mirrored = everything and kind not in (ThreadKind.FORK, ThreadKind.MAIN) and not _replays(thread)
        self.end = copies.end if self.copied or copies.least == 1 else -1
        if self.mirrored:
            self.end = -1
        self._known = known
        self.requests = self._kept()

    def _kept(self) -> list[Request]:
        answers = self.thread.answers
        kept: list[Request] = []
        places = [(at, index, request) for index, (at, request) in enumerate(answers.billed)]
        if answers.unbilled:
            places += [(at, -1, request) for at, request in answers.unbilled]
            places.sort(key=itemgetter(0))
        last: str | None = None
        renamed: dict[str, str | None] = {}
        number = 0
        for at, index, request in places:
            if index < 0 and answers.billed and request.status is not RequestStatus.ABORTED:
                # Parts without a counter are an answer where none is kept, or where it was cut off. Else they are the
                # answer's before.
                renamed[request.request_id] = last
                continue
            request.index = number
            number += 1
            if not self.mirrored and (at <= self.end if index < 0 else self.copied and index in answers.copied):
                continue
            request.copied = self.mirrored or request.request_id in self._known
            if request.copied:
                name = f"{request.request_id}.copy"
                renamed[request.request_id], request.request_id = name, name
            request.in_conversation = self._in_conversation(request.turn)
            kept.append(request)
            last = request.request_id
        if renamed:
            for call in self.thread.calls:
                if call.request_id in renamed:
                    call.request_id = renamed[call.request_id]
        return kept

    def _in_conversation(self, turn: int | None) -> bool:
        turns = self.thread.turns
        return turn is None or not 0 <= turn < len(turns) or turns[turn].in_conversation

    def events(self) -> Iterator[TraceEvent]:
        """The thread, its turns, requests, calls and events."""
        thread, session = self.thread, self.thread.session
        yield Thread(
            session.thread_id,
            session.kind,
            session.parent,
            self.spawned_by,
            0 if self.mirrored else self.copied,
            session.agent,
        )
        own = {request.turn for request in self.requests}
        calls = []
        for call in thread.calls:
            if call.call_id in thread.copied_calls and self.end >= 0:
                continue
            call.in_conversation = self._in_conversation(call.turn)
            call.copied = self.mirrored and call.call_id in thread.copied_calls
            own.add(call.turn if call.turn is not None else -1)
            calls.append(call)
        for index, turn in enumerate(thread.turns):
            if turn.at > self.end or index in own:
                yield Turn(session.thread_id, index, turn.kind, turn.t_start, turn.t_end, turn.in_conversation)
        yield from self.requests
        yield from calls
        for at, event in thread.happened.events:
            if at > self.end:
                yield event

    def unanswered(self) -> tuple[int, int]:
        """How many calls have no result, and how many results no call."""
        outcomes = [call.outcome for call in self.thread.calls]
        return outcomes.count(Outcome.UNANSWERED), outcomes.count(Outcome.ORPHAN)


def _replays(thread: Gathered) -> bool:
    """Whether the file repeats its parent's description, as forks do and reviews do not."""
    return bool(thread.ancestors)
