"""Attribution of whole requests: by agent, model, project, branch of version control, or day.

Every request has exactly one key of each kind, so these rows add up without a residual and nothing in them is derived
but the division into new and carried tokens. A key that a recording does not say is named as such. Each sub-agent has a
key of its own, which says whether the conversation that started it went on to read its result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from kpis.formulas.recorded.flow import flows
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.view import RunView
from kpis.formulas.recorded.waste import spawned
from kpis.terms.trace import Place, Recording, Request

__all__ = ["REQUEST_KEYS", "UNSAID", "agent_kind", "keyed_requests"]

UNSAID = "(not recorded)"


_OWN = ": "
"""Stands between the kind of a sub-agent and its own name."""

_READ = {True: "result read", False: "result never read", None: "reading unknown"}


def _agents(view: RunView) -> Callable[[Request], str]:
    names = {
        thread.thread_id: f"{thread.kind.value} {thread.agent}" if thread.agent else thread.kind.value
        for thread in view.run.threads
    }
    for each in spawned(view):
        name = each.thread.thread_id
        names[name] = f"{names[name]}, {_READ[each.read]}{_OWN}{name}"
    return lambda request: names.get(request.thread_id, UNSAID)


def agent_kind(key: str) -> str:
    """A key by agent without a sub-agent's own name."""
    return key.rpartition(_OWN)[0] or key


def _of_recording(view: RunView, of: Callable[[Recording | Place], str | None]) -> Callable[[Request], str]:
    """A key of a stretch of a file: what the request's own line is in, else the one that all files of the run share."""
    by_file: dict[str | None, tuple[list[int], list[str | None]]] = {}
    said: set[str | None] = set()
    for recording in view.run.recordings:
        keys = [of(recording), *(of(place) for place in recording.places)]
        said.update(keys)
        if any(keys):
            by_file[recording.file] = [place.line for place in recording.places], keys
    said.discard(None)
    shared = said.pop() if len(said) == 1 else None

    def key(request: Request) -> str:
        lines, keys = by_file.get(request.file, ([], [shared]))
        return keys[bisect_right(lines, request.line or 0)] or UNSAID

    return key


def _day(request: Request) -> str:
    when = request.t_first if request.t_first is not None else request.t_last
    try:
        return UNSAID if when is None else f"{datetime.fromtimestamp(when / 1000, UTC):%Y-%m-%d}"
    except (OverflowError, OSError, ValueError):  # a clock that says the year 50,000
        return UNSAID


REQUEST_KEYS: Mapping[str, Callable[[RunView], Callable[[Request], str]]] = {
    "agent": _agents,
    "model": lambda _: lambda request: request.model or UNSAID,
    "project": lambda view: _of_recording(view, lambda recording: recording.project),
    "branch": lambda view: _of_recording(view, lambda recording: recording.branch),
    "day": lambda _: _day,
}


def keyed_requests(view: RunView, table: PriceTable, by: str) -> dict[str, list[int]]:
    """For each key: requests, new and carried tokens, output, and the cost of each of the three in picodollars."""
    key_of = REQUEST_KEYS[by](view)
    rows: dict[str, list[int]] = {}
    for _, requests in flows(view, table):
        for flow in requests:
            if flow.request.copied:
                continue
            row = rows.setdefault(key_of(flow.request), [0] * 7)
            said = (1, flow.new, flow.carried, flow.out, flow.new_cost, flow.carried_cost, flow.out_cost)
            for at, value in enumerate(said):
                row[at] += value
    return rows
