"""Which part of a Claude Code session is its conversation, and in which order its blocks were sent.

Cost is of all responses; the conversation is only what lies on the way back from the last line. Sub-agents' threads
have no branches. This module refuses to count anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.formats.branch import walk
from harness.formats.claude_drafts import BlockDraft, EventDraft, Gathered, RequestDraft
from kpis.terms.trace import Event, EventKind, Node

__all__ = ["MAIN", "Conversation", "nodes"]

MAIN = "main"


class Conversation:
    """Which places of the main thread's log belong to the conversation. Sub-agents' threads have no branches."""

    def __init__(self, out: Gathered) -> None:
        self._out = out
        found = walk(out.links)
        self.phantoms = found.phantoms
        self._resumes = found.resumes
        kept = set(found.kept)
        # Parallel calls leave siblings: further lines of a kept response, and results of its calls, are kept too.
        for request in out.requests.values():
            if not kept.isdisjoint(request.places):
                kept.update(request.places)
        for call in out.calls.values():
            if call.at in kept and call.answered_at is not None:
                kept.add(call.answered_at)
        self._kept = kept

    def holds(self, at: int | None) -> bool:
        """Whether the line at that place is part of the conversation."""
        return at is None or at in self._kept

    def holds_request(self, request: RequestDraft) -> bool:
        """Whether any line of the response is."""
        return not request.places or not self._kept.isdisjoint(request.places)

    def events(self) -> Iterator[Event]:
        """A rewind for each abandoned branch, at the line where it begins; a resume for each taken-up session."""
        links, lines = self._out.links, self._out.link_lines
        abandoned = {link.uuid for at, link in enumerate(links) if link.leaf and at not in self._kept}
        for at, link in enumerate(links):
            if link.uuid in abandoned and link.parent not in abandoned:
                yield Event(EventKind.REWIND, MAIN, line=lines[at])
        for at in self._resumes:
            yield Event(EventKind.RESUME, MAIN, line=lines[at])


def nodes(log: Sequence[RequestDraft | BlockDraft | EventDraft], conversation: Conversation) -> Iterator[Node]:
    """The blocks of one thread as the model was sent them, abandoned ones last.

    A response's blocks are in the log as they streamed, between them the results that already came; the next request
    carries all of the response first.
    """
    order = {
        draft.key: at
        for at, draft in enumerate(e for e in log if isinstance(e, RequestDraft) and conversation.holds_request(e))
    }
    begun = 0
    kept: list[tuple[int, int, BlockDraft]] = []
    abandoned: list[BlockDraft] = []
    for entry in log:
        if isinstance(entry, RequestDraft):
            begun = max(begun, order.get(entry.key, -1) + 1)
        elif isinstance(entry, BlockDraft):
            made = entry.request is not None
            if not conversation.holds(entry.at) or (entry.request is not None and entry.request.key not in order):
                abandoned.append(entry)
            else:
                step = order[entry.request.key] + 1 if entry.request is not None else begun
                kept.append((step, 0 if made else 1, entry))
    kept.sort(key=lambda item: item[:2])  # stable: file order within a step
    for step, _, block in kept:
        yield _node(block, step if step < len(order) else None, True)
    for block in abandoned:
        yield _node(block, None, False)


def _node(block: BlockDraft, step: int | None, kept: bool) -> Node:
    producer = block.request.key if block.request is not None else None
    return Node(block.thread, block.turn, block.role, block.size, block.digest, block.head, producer, step, kept)
