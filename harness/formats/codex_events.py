"""What happens in a Codex thread besides answers and calls, with their position in it.

A compaction is written twice, as a line of its own and as an event, and old builds do not write it at all: then it
shows by a prompt that fell by more than half. This module refuses to call a fall a compaction where something else
explains it: a rollback, or a review that starts from little.
"""

from __future__ import annotations

from dataclasses import replace

from harness.formats.codex_calls import Place
from kpis.terms.trace import Event, EventKind

__all__ = ["Happened"]


class Happened:
    """``events`` in file order; ``prompt``: size of the last one, None where the next cannot be compared."""

    __slots__ = ("_fold", "_thread", "events", "prompt")

    def __init__(self, thread: str) -> None:
        self.events: list[tuple[int, Event]] = []
        self.prompt: int | None = None
        self._thread = thread
        self._fold: int | None = None

    def say(self, kind: EventKind, place: Place, at: int, detail: str | None = None) -> None:
        """An event of ``kind`` at position ``at``."""
        self.events.append((at, Event(kind, self._thread, place.when, line=place.line, file=place.file, detail=detail)))

    def folded(self, place: Place, at: int, summary: int | None) -> None:
        """A compaction; ``summary`` is the size of its text where the line holds it."""
        if self._fold is None:
            self._fold = len(self.events)
            self.say(EventKind.COMPACTION, place, at)
            self._change(self._fold, pre_tokens=self.prompt)
        if summary is not None:
            self._change(self._fold, summary_bytes=summary)

    def prompted(self, prompt: int | None, place: Place, at: int, copied: bool) -> None:
        """An answer's prompt: the one after a compaction, or one that tells of a compaction that no line does."""
        if prompt is None:
            return
        if self._fold is not None:
            self._change(self._fold, post_tokens=prompt)
            self._fold = None
        elif self.prompt is not None and 2 * prompt < self.prompt and not copied:
            self.say(EventKind.COMPACTION, place, at)
            self._change(len(self.events) - 1, pre_tokens=self.prompt, post_tokens=prompt, implicit=True)
        self.prompt = prompt

    def _change(self, index: int, **known: int | bool | None) -> None:
        at, event = self.events[index]
        self.events[index] = (at, replace(event, **known))  # type: ignore[arg-type]
