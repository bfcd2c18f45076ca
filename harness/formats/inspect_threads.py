"""Which thread of a sample an event of an Inspect log belongs to.

Spans nest: an agent inside a tool's span is a sub-agent, and what scorers ask is no part of the work. Logs from before
spans mark the scorers by steps. This module refuses to look at anything but spans, steps and times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_str
from kpis.terms.trace import Thread, ThreadKind, Turn, UserKind

__all__ = ["SampleThreads"]

_SCORING = frozenset(("scorer", "scorers"))


@dataclass(slots=True)
class _Span:
    """Where a span's events belong, and whether it is within a tool's."""

    thread: str
    in_tool: bool = False


class SampleThreads:
    """The threads of one sample; ``main`` is the sample's own. ``agents`` are the sub-agents' threads by span."""

    __slots__ = ("_scoring", "_spans", "_threads", "_times", "_used", "agents", "main")

    def __init__(self, main: str) -> None:
        self.main = main
        self.agents: dict[str, str] = {}
        self._threads = {main: Thread(main, ThreadKind.MAIN)}
        self._times: dict[str, tuple[int, int]] = {}
        self._spans: dict[str, _Span] = {}
        self._scoring = 0
        self._used = {main}

    def inside(self, span: str, above: str, name: str | None) -> str:
        """The thread of the sub-agent that works in ``span``, started from the thread ``above``."""
        made = f"{self.main}:{safe_id(span)}"
        self.agents[span] = made
        named = None if name is None else safe_name(name)
        self._threads.setdefault(made, Thread(made, ThreadKind.SUBAGENT, above, agent=named))
        return made

    def span(self, event: Mapping[str, Any]) -> None:
        """A span begins."""
        own, kind = as_str(event.get("id")), as_str(event.get("type"))
        if own is None:
            return
        above = self._spans.get(as_str(event.get("parent_id")) or "", _Span(self.main))
        if kind in _SCORING:
            self._spans[own] = _Span(self._scorers())
        elif kind == "agent" and above.in_tool:
            self._spans[own] = _Span(self.inside(own, above.thread, as_str(event.get("name"))))
        else:
            self._spans[own] = _Span(above.thread, above.in_tool or kind == "tool")

    def step(self, event: Mapping[str, Any]) -> None:
        """A step begins or ends."""
        if as_str(event.get("type")) in _SCORING:
            self._scoring = max(0, self._scoring + (1 if event.get("action") == "begin" else -1))

    def place(self, event: Mapping[str, Any]) -> str:
        """The thread of ``event``."""
        span = self._spans.get(as_str(event.get("span_id")) or "")
        if span is not None:
            return span.thread
        return self._scorers() if self._scoring else self.main

    def seen(self, thread_id: str, *times: int | None) -> None:
        """Something happened in a thread, at these Unix milliseconds where they are known."""
        self._used.add(thread_id)
        known = [time for time in (*self._times.get(thread_id, ()), *times) if time is not None]
        if known:
            self._times[thread_id] = min(known), max(known)

    def finished(self, spawned: Mapping[str, str]) -> Iterator[Thread | Turn]:
        """The threads in which something happened, and the one turn that each is.

        ``spawned`` are the calls that started threads, by thread.
        """
        for each in self._threads.values():
            if each.thread_id not in self._used:
                continue
            yield Thread(each.thread_id, each.kind, each.parent_thread_id, spawned.get(each.thread_id), 0, each.agent)
            start, end = self._times.get(each.thread_id, (None, None))
            user = {ThreadKind.MAIN: UserKind.HUMAN, ThreadKind.SUBAGENT: UserKind.TOOL}.get(each.kind, UserKind.SYSTEM)
            yield Turn(each.thread_id, 0, user, start, end)

    def _scorers(self) -> str:
        made = f"{self.main}:scorers"
        self._threads.setdefault(made, Thread(made, ThreadKind.SIDE_MODEL, self.main))
        return made
