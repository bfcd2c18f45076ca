"""A whole recorded run: everything that the files of one run of an agent say together.

One session and its sub-agents, a fork with its parent, a trajectory with its continuation are one run. The totals of a
run are sums over requests that are not ``copied``; nothing here computes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kpis.terms.trace import Event, Issue, Recording, Request, RunFacts, Thread, ToolCall, Turn

if TYPE_CHECKING:
    from kpis.terms.context_run import ContextRun  # few recordings hold any

__all__ = ["RecordedRun"]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run. ``run_id`` is the recording's own id, or a digest of its first file's name where it has none.

    ``recordings`` and ``facts`` are one a file; the other tuples hold what all files say, in the order in which it was
    recorded: requests by (thread, index), calls by (thread, index), events by time. ``contexts`` are the runs of a
    recording that says what every prompt held; of any other there are none.
    """

    run_id: str
    source_format: str
    recordings: tuple[Recording, ...]
    threads: tuple[Thread, ...] = ()
    turns: tuple[Turn, ...] = ()
    requests: tuple[Request, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    events: tuple[Event, ...] = ()
    issues: tuple[Issue, ...] = ()
    facts: tuple[RunFacts, ...] = ()
    contexts: tuple[ContextRun, ...] = ()
