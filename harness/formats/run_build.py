"""From what a reader yielded to one :class:`~kpis.terms.recorded.RecordedRun`, in an order that no file order changes.

A request that an earlier run counts already is marked as copied and so are its calls. This module refuses to drop
anything: what is copied stays in the run, and sums leave it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import (
    Event,
    Issue,
    IssueCode,
    Node,
    Recording,
    Request,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    ToolCall,
    TraceEvent,
    Turn,
)

if TYPE_CHECKING:
    from kpis.terms.context_run import ContextRun

__all__ = ["build_run", "key_of", "mark_copied"]

_KINDS = (Recording, Thread, Turn, Request, ToolCall, Event, Issue, RunFacts, Node)


def build_run(run_id: str, source_format: str, stream: Iterable[TraceEvent | ContextRun | Issue]) -> RecordedRun:
    """Assemble what a reader said of one run. Content blocks (:class:`~kpis.terms.trace.Node`) are left out."""
    held: dict[type[Any], list[Any]] = {kind: [] for kind in _KINDS}
    contexts: list[ContextRun] = []  # what is no term of the trace
    for item in stream:
        held.get(type(item), contexts).append(item)
    place = {thread.thread_id: at for at, thread in enumerate(_threads(held[Thread], held[Request]))}
    named = {item.thread_id for kind in (Turn, Request, ToolCall) for item in held[kind]}
    for thread_id in sorted(named - place.keys()):  # a thread that nothing describes has a place of its own as well
        place[thread_id] = len(place)

    def by_place(item: Any) -> tuple[int, int]:
        return place[item.thread_id], item.index

    return RecordedRun(
        run_id,
        source_format,
        tuple(sorted(held[Recording], key=lambda each: each.file or "")),
        threads=tuple(sorted(held[Thread], key=lambda each: place[each.thread_id])),
        turns=tuple(sorted(held[Turn], key=by_place)),
        requests=tuple(sorted(held[Request], key=by_place)),
        calls=tuple(sorted(held[ToolCall], key=by_place)),
        events=tuple(sorted(held[Event], key=_when)),
        issues=tuple(sorted(held[Issue], key=lambda each: (each.file or "", each.line or 0, each.code.value))),
        facts=tuple(sorted(held[RunFacts], key=lambda each: each.file or "")),
        contexts=tuple(contexts),
    )


def _threads(threads: Iterable[Thread], requests: Iterable[Request]) -> list[Thread]:
    """The main thread first, then the others in the order in which they began to ask."""
    began: dict[str, int] = {}
    for request in requests:
        if request.t_first is not None and request.t_first < began.get(request.thread_id, 1 << 62):
            began[request.thread_id] = request.t_first
    return sorted(
        threads,
        key=lambda each: (each.kind is not ThreadKind.MAIN, began.get(each.thread_id, 1 << 62), each.thread_id),
    )


def _when(event: Event) -> tuple[int, str, int]:
    return (1 << 62) if event.t is None else event.t, event.file or "", event.line or 0


def key_of(request_id: str) -> int:
    """64 bits of a request's id: what is kept of it to know it again."""
    return int.from_bytes(blake2b(request_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def mark_copied(run: RecordedRun, known: Callable[[str], bool]) -> RecordedRun:
    """``run`` with every request that ``known`` says of, and its calls, marked as copied; a note says how many.

    The marks are set in place: a run is marked by whoever has just read it and handed it to nobody.
    """
    copied = {request.request_id for request in run.requests if known(request.request_id)}
    if not copied:
        return run
    for request in run.requests:
        request.copied = request.copied or request.request_id in copied
    for call in run.calls:
        call.copied = call.copied or call.request_id in copied
    some = "request is" if len(copied) == 1 else "requests are"
    said = f"{len(copied):,} {some} an earlier run's, shown again; the earlier run counts them."
    note = Issue(Severity.NOTE, IssueCode.W_COPIED_HISTORY, said, file=_first_file(run))
    return replace(run, issues=(*run.issues, note))


def _first_file(run: RecordedRun) -> str | None:
    return next((each.file for each in run.recordings if each.file is not None), None)
