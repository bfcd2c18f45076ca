"""The threads of a managed session, their turns, and what happened in them besides requests and calls."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from harness.formats.managed_agents_events import SessionEvent
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.span_values import millis, text_of
from kpis.terms.trace import Event, EventKind, Request, Thread, ThreadKind, Turn, UserKind

__all__ = ["Threads", "ToldSoFar"]


@dataclass(slots=True)
class ToldSoFar:
    """What is known of one thread: its turn, how many requests and calls it has, and its latest request."""

    turn: int = 0
    requests: int = 0
    calls: int = 0
    open: Request | None = None
    turns: dict[int, Turn] = field(default_factory=dict)


class Threads:
    """The session is the main thread ``main``; what it announces is below it."""

    def __init__(self, main: str, agent: str | None) -> None:
        self.main = main
        self.known = {main: Thread(main, ThreadKind.MAIN, agent=agent)}
        self.told: dict[str, ToldSoFar] = defaultdict(ToldSoFar)
        self.events: list[Event] = []

    def home(self, event: SessionEvent) -> str:
        """The thread of an event: one that was announced, else the main one."""
        named = text_of(event.fields.get("session_thread_id"))
        thread = self.main if named is None else safe_id(named)
        return thread if thread in self.known else self.main

    def touch(self, thread: str, event: SessionEvent) -> int:
        """The index of the turn in which ``event`` is, and which lasts at least until it."""
        told, t = self.told[thread], millis(event.t)
        turn = told.turns.get(told.turn)
        if turn is None:
            kind = UserKind.HUMAN if thread == self.main else UserKind.TOOL
            told.turns[told.turn] = Turn(thread, told.turn, kind, t, t)
        elif t is not None:
            told.turns[told.turn] = replace(turn, t_start=t if turn.t_start is None else turn.t_start, t_end=t)
        return told.turn

    def new_turn(self, event: SessionEvent) -> None:
        """A user says something."""
        thread = self.home(event)
        told = self.told[thread]
        if told.turns:
            told.turn = max(told.turns) + 1
        self.touch(thread, event)

    def announced(self, event: SessionEvent) -> None:
        """The session starts a sub-agent."""
        named = text_of(event.fields.get("session_thread_id"))
        if named is not None and safe_id(named) not in self.known:
            agent = text_of(event.fields.get("agent_name"))
            name = None if agent is None else safe_name(agent)
            self.known[safe_id(named)] = Thread(safe_id(named), ThreadKind.SUBAGENT, self.main, agent=name)

    def side(self, name: str) -> str:
        """The thread of a side model of this ``name``."""
        thread = safe_id(f"{self.main}:{name}")
        self.known.setdefault(thread, Thread(thread, ThreadKind.SIDE_MODEL, self.main))
        return thread

    def note(
        self,
        kind: EventKind,
        event: SessionEvent,
        trigger: str | None = None,
        detail: str | None = None,
        duration_ms: int | None = None,
    ) -> None:
        """Something that happened in the thread of ``event``."""
        self.events.append(
            Event(
                kind,
                self.home(event),
                millis(event.t),
                trigger=trigger,
                line=event.line,
                file=event.file,
                duration_ms=duration_ms,
                detail=detail,
            )
        )

    def used(self) -> list[Thread]:
        """The main thread and all in which something happened."""
        names = {self.main, *(name for name, told in self.told.items() if told.turns)}
        names |= {event.thread_id for event in self.events}
        return [self.known[name] for name in sorted(names)]
