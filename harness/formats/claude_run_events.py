"""The events of a run of Claude Code, each once, however many of its files tell of it."""

from __future__ import annotations

from harness.formats.claude_run_state import EventDraft, FileState, ThreadState
from kpis.terms.trace import EventKind

__all__ = ["Events"]


class Events:
    """The events of a run; ``all`` in the order in which they were met."""

    def __init__(self) -> None:
        self.all: list[EventDraft] = []
        self._told: set[tuple[EventKind, str, int, str | None]] = set()

    def note(
        self, kind: EventKind, thread: ThreadState, when: int, number: int, file: FileState, detail: str | None = None
    ) -> EventDraft | None:
        """Note an event; None where a copied history tells it again."""
        if when:
            mark = (kind, thread.thread_id, when, detail)
            if mark in self._told:
                return None
            self._told.add(mark)
        event = EventDraft(kind, thread.thread_id, when, number, file.name, thread.request, detail=detail)
        self.all.append(event)
        return event
