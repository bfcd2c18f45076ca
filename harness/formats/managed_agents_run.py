"""Reads the events of a session of Claude's managed agents.

A model request is a pair of events whose second one carries disjoint counters; a tool call and its result are events
that name each other; what a person said to a call is an event of its own, so a refusal is a verdict and not an error.
The session is the main thread, and each thread that it announces one below it. Times are the server's, in
microseconds: they order events, and between start and end they are the duration of a request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import ClassVar

from harness.formats.limits import Limits
from harness.formats.managed_agents_events import events_of
from harness.formats.managed_agents_story import Story
from harness.formats.pseudonym import safe_id
from harness.formats.run_format import Origin, Source
from harness.formats.span_files import decode, read_files
from harness.formats.span_values import Numbers, millis
from kpis.terms.trace import Issue, IssueCode, Severity, TraceEvent

__all__ = ["ManagedAgentsRun"]

_TYPED = re.compile(
    rb'(?<!\\)"type"\s*:\s*"(?:span\.(?:model_request|outcome_evaluation)_|agent\.(?:custom_|mcp_)?tool_use"|agent\.message"'
    rb"|session\.(?:status|thread)_|user\.(?:message|tool_confirmation|custom_tool_result|interrupt)\")"
)
_CALLED = re.compile(rb'"client\.beta\.sessions\.')
_SESSION = re.compile(rb'"(sesn_[A-Za-z0-9]{6,64})"')
_EVENT = re.compile(rb'(?<!\\)"id"\s*:\s*"([^"\\]{1,100})"')
_TIME = re.compile(rb'(?<!\\)"(?:processed_at|created_at)"\s*:\s*("[^"\\]{1,40}")')


class ManagedAgentsRun:
    """The reader of sessions of managed agents."""

    name: ClassVar[str] = "claude-managed-agents"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` holds such events: by their types, of which some are named nowhere else."""
        del filename  # the content tells
        if _TYPED.search(head):
            return 0.97
        return 0.7 if _CALLED.search(head) else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The session, else the first event, else the content itself."""
        del filename
        began = _TIME.search(head)
        started = None if began is None else millis(Numbers().micros(decode(began[1], Limits())))
        found = _SESSION.search(head) or _EVENT.search(head)
        if found is not None:
            return Origin(safe_id(found[1].decode("utf-8", "replace")), started=started)
        return Origin("session-" + blake2b(head, digest_size=12).hexdigest(), started=started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield everything that the events in ``sources`` say of the session.

        Raises:
            FormatError: no source holds any JSON.
        """
        files = read_files(sources, limits)
        events, states, repeats = events_of(files)
        numbers = {file.name: file.numbers for file in files}
        story = Story(states, numbers)
        for event in events:
            if not story.tell(event):
                next(file for file in files if file.name == event.file).unknown_kind(event.kind)
        for file in files:
            file.session = story.session
            yield file.recording(self.name)
        yield from story.told()
        for file in files:
            yield from file.issues()
        if repeats:
            said = (
                f"{repeats:,} event{'s stand' if repeats != 1 else ' stands'} in the recording again; each counts once."
            )
            yield Issue(Severity.NOTE, IssueCode.W_REPEATED_LINE, said, file=files[0].name)
