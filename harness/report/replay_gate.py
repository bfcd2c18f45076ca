"""What recorded runs are against their record, as text: what is worse first, then what is open, the verdict last."""

from __future__ import annotations

from functools import partial

from rich.console import Console

from harness.jobs.replay_gate import Gated, GateRow
from harness.report.lines import put_text
from harness.report.replay_compare import several
from kpis.terms.comparison import State

__all__ = ["render_gated"]

_ORDER = (
    State.REGRESSED,
    State.REMOVED,
    State.VOID,
    State.INCONCLUSIVE,
    State.NO_BASELINE,
    State.NEW,
    State.IMPROVED,
    State.UNCHANGED,
    State.OK,
)
_QUIET = (State.OK, State.UNCHANGED)
_SHOWN = 5


def render_gated(gated: Gated, console: Console, *, verbose: bool) -> None:
    """Print the rows by state, those that are as on record only counted unless ``verbose``."""
    put = partial(put_text, console)
    put("")
    for state in _ORDER:
        rows = [row for row in gated.rows if row.comparison.state is state]
        if not rows:
            continue
        if state in _QUIET and not verbose:
            put(f"{state.value}: {several(len(rows), 'metric')}")
            continue
        style = "bold red" if state is State.REGRESSED else ""
        for row in rows if verbose or state is State.REGRESSED else rows[:_SHOWN]:
            put(f"{state.value}: {row.metric_id}: {_said(row)}", style)
        if not verbose and state is not State.REGRESSED and len(rows) > _SHOWN:
            put(f"{state.value}: and {len(rows) - _SHOWN:,} more; --verbose names all")
    verdict = gated.verdict
    by = f" by {', '.join(verdict.by[:5])}" if verdict.by else ""
    more = f" and {len(verdict.by) - 5:,} more" if len(verdict.by) > 5 else ""
    put(f"{verdict.state.value}: {verdict.basis.value}{by}{more}", "bold")


def _said(row: GateRow) -> str:
    why = f"; accepted for: {row.recorded.why}" if row.recorded is not None and row.recorded.why else ""
    return "; ".join(row.comparison.evidence) + why
