"""What the clocks of a recording say: the wall of a run, and who claims which span of it.

Spans of main conversations are claimed by category, those of other threads by the wait for a sub-agent. A tool's span
is its own clock where there is one, else that of the lines around it, which holds an approval that nobody wrote down.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from kpis.formulas.recorded.intervals import Span, union
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import EventKind, Request, ThreadKind, ToolCall, ToolOp, UserKind

__all__ = ["TURN_CLOCK", "Dated", "Spent", "dated_of", "end_of", "thread_spans", "tool_spans"]

TURN_CLOCK = "turn_duration"
"""The ``detail`` of an event that says how long a whole turn took."""


class Spent(Enum):
    """What time was spent on, in the order in which categories own an instant."""

    APPROVAL = "approval"
    HOOK = "hook"
    RETRY = "retry"
    TOOL = "tool"
    MODEL = "model"
    SUBAGENT_WAIT = "subagent_wait"
    USER_IDLE = "user_idle"
    HARNESS = "harness"
    UNATTRIBUTED = "unattributed"


@dataclass(slots=True)
class Dated:
    """What a run's clocks say: the wall, who claims what, when a person spoke, and spans whose overlap is measured."""

    start: int
    end: int
    claims: list[list[Span]]
    inputs: list[int]
    tools: list[Span]
    agents: list[Span]


def _is_main(view: RunView, thread_id: str) -> bool:
    return view.kind_of(thread_id) is ThreadKind.MAIN


def end_of(request: Request) -> int | None:
    """When the last line of an answer was written."""
    return request.t_last if request.t_last is not None else request.t_first


def _tool_span(call: ToolCall) -> Span | None:
    """The tool's own clock where there is one, else the lines around it."""
    if call.t_end is None or (call.t_start is None and call.duration_ms is None):
        return None
    if call.duration_ms is not None:
        return call.t_end - max(0, call.duration_ms), call.t_end
    return (call.t_start, call.t_end) if call.t_start is not None else None


def _copied_until(view: RunView) -> tuple[dict[str | None, int], dict[str, int]]:
    """By file and by thread when its history last is another's, shown again: that time is the other's own."""
    files: dict[str | None, int] = {}
    threads: dict[str, int] = {}
    copied = [(each.file, each.thread_id, end_of(each)) for each in view.run.requests if each.copied]
    copied += [(each.file, each.thread_id, each.t_end) for each in view.run.calls if each.copied]
    for file, thread, end in copied:
        if end is not None:
            files[file] = max(end, files.get(file, end))
            threads[thread] = max(end, threads.get(thread, end))
    return files, threads


def _after(until: int | None, *times: int | None) -> list[int]:
    """Those of ``times`` that are known and later than ``until``."""
    return [t for t in times if t is not None and (until is None or t > until)]


def dated_of(view: RunView) -> Dated | None:
    """The clocks of one run; None where it has no time at all."""
    run = view.run
    calls = [call for call in view.calls if _is_main(view, call.thread_id)]
    requests = [request for request in view.billed if _is_main(view, request.thread_id)]
    turns = [turn for turn in run.turns if _is_main(view, turn.thread_id)]
    files, threads = _copied_until(view)
    times = [
        *(_after(files.get(each.file), each.t_start, each.t_end) for each in run.recordings),
        *(_after(None, each.t_first, each.t_last) for each in view.billed),
        *(_after(None, each.t_start, each.t_end) for each in view.calls),
        *(_after(threads.get(each.thread_id), each.t_start, each.t_end) for each in turns),
    ]
    known = [t for each in times for t in each]
    if not known:
        return None
    spoken = (turn for turn in turns if turn.user_kind is UserKind.HUMAN)
    inputs = sorted(t for turn in spoken for t in _after(threads.get(turn.thread_id), turn.t_start))
    opened = [t.t_start for t in turns if t.t_start is not None]
    opened += [call.t_end for call in calls if call.t_end is not None]
    opened += [e.t for e in run.events if e.kind is EventKind.COMPACTION and e.t is not None]
    ends = [end for request in requests if (end := end_of(request)) is not None]
    ends += [call.t_end for call in calls if call.t_end is not None]
    agents = [span for _, span in thread_spans(view)]
    spawned = {call.call_id for call in calls if call.op is ToolOp.SPAWN}
    claims: dict[Spent, list[Span]] = {spent: [] for spent in Spent if spent is not Spent.UNATTRIBUTED}
    for call in calls:
        span = _tool_span(call)
        if span is not None:
            claims[Spent.SUBAGENT_WAIT if call.call_id in spawned else Spent.TOOL].append(span)
            if call.duration_ms is not None and call.t_start is not None:
                claims[Spent.HARNESS].append((call.t_start, span[1]))
    claims[Spent.SUBAGENT_WAIT] += union(agents)
    waits = (EventKind.RETRY, EventKind.RATE_LIMIT)
    failed = sorted(e.t for e in run.events if e.kind in waits and e.t is not None and _is_main(view, e.thread_id))
    claims[Spent.MODEL] = list(_model_spans(requests, sorted(opened), failed))
    claims[Spent.USER_IDLE] = list(_idle(inputs, sorted(ends)))
    if requests and all(request.duration_ms is not None for request in requests):
        claims[Spent.HARNESS] += [(t.t_start, t.t_end) for t in turns if t.t_start is not None and t.t_end is not None]
    _event_spans(view, claims)
    tools = [span for _, span in tool_spans(view)]
    return Dated(min(known), max(known), list(claims.values()), inputs, tools, agents)


def _model_spans(requests: Sequence[Request], opened: Sequence[int], failed: Sequence[int]) -> Iterator[Span]:
    """From the last input before an answer to its end.

    With no input since the answer before it, the first of the attempts that ``failed`` since then is known to be of the
    same question; without one the start is unknown, and only the answer's own lines count. An input of the very time at
    which an answer is first seen is that answer's: a log with one time a record says nothing of how long it took.
    """
    before: int | None = None
    began: int | None = None
    for request in requests:
        end, first = end_of(request), request.t_first if request.t_first is not None else request.t_last
        if end is None or first is None:
            continue
        if request.duration_ms is not None:
            yield end - max(0, request.duration_ms), end
        else:
            at = bisect_right(opened, first)
            start = opened[at - 1] if at else first
            if before is not None and (start < before or start == before == began):
                after = bisect_left(failed, before)
                start = min(failed[after], first) if after < len(failed) else first
            yield start, end
        before, began = end, first


def _idle(inputs: Sequence[int], ends: Sequence[int]) -> Iterator[Span]:
    for spoke in inputs:
        at = bisect_left(ends, spoke)
        if at:
            yield ends[at - 1], spoke


def tool_spans(view: RunView) -> Iterator[tuple[ToolCall, Span]]:
    """Each call that did not start a sub-agent, with the time that it took, where both its ends are known."""
    for call in view.calls:
        if call.op is not ToolOp.SPAWN and (span := _tool_span(call)) is not None:
            yield call, span


def thread_spans(view: RunView) -> Iterator[tuple[str, Span]]:
    """From the first to the last answer or result of each thread that is not a main one."""
    spans: dict[str, list[int]] = {}
    for request in view.billed:
        if not _is_main(view, request.thread_id):
            spans.setdefault(request.thread_id, []).extend(
                t for t in (request.t_first, request.t_last) if t is not None
            )
    for call in view.calls:
        if call.t_end is not None and not _is_main(view, call.thread_id):
            spans.setdefault(call.thread_id, []).append(call.t_end)
    for thread_id, times in spans.items():
        if times:
            yield thread_id, (min(times), max(times))


def _event_spans(view: RunView, claims: dict[Spent, list[Span]]) -> None:
    """Spans that a client's clock gives: a hook and an approval end when they are written, a retry waits from then.

    The clock of a whole turn is no hook, though a client writes it as a notice of the same kind: what nothing else
    claims of it is the client's own.
    """
    for event in view.run.events:
        if event.t is None or not event.duration_ms or event.duration_ms < 0 or not _is_main(view, event.thread_id):
            continue
        if event.detail == TURN_CLOCK:
            claims[Spent.HARNESS].append((event.t - event.duration_ms, event.t))
        elif event.kind is EventKind.HOOK:
            claims[Spent.HOOK].append((event.t - event.duration_ms, event.t))
        elif event.kind is EventKind.PERMISSION:
            claims[Spent.APPROVAL].append((event.t - event.duration_ms, event.t))
        elif event.kind in (EventKind.RETRY, EventKind.RATE_LIMIT):
            claims[Spent.RETRY].append((event.t, event.t + event.duration_ms))
