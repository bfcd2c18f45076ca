"""Attribution of whole requests: by agent, model, project, branch of version control, or day.

Every request has exactly one key of each kind, so these rows add up without a residual and nothing in them is derived
but the division into new and carried tokens. A key that a recording does not say is named as such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from kpis.formulas.recorded.flow import flows
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import Recording, Request

__all__ = ["REQUEST_KEYS", "UNSAID", "keyed_requests"]

UNSAID = "(not recorded)"


def _agents(view: RunView) -> Callable[[Request], str]:
    names = {
        thread.thread_id: f"{thread.kind.value} {thread.agent}" if thread.agent else thread.kind.value
        for thread in view.run.threads
    }
    return lambda request: names.get(request.thread_id, UNSAID)


def _of_recording(view: RunView, of: Callable[[Recording], str | None]) -> Callable[[Request], str]:
    """A key that is a file's: that of the request's own file, else the one that all files of the run share."""
    by_file = {recording.file: of(recording) for recording in view.run.recordings}
    said = {key for key in by_file.values() if key is not None}
    shared = said.pop() if len(said) == 1 else None
    return lambda request: by_file.get(request.file) or shared or UNSAID


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
