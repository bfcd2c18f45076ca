"""Where the time of recorded runs went, in words: one line for all of it, and a table of the longest turns.

What is shown adds up to the wall that is shown, because the shares are rounded together. What ran in parallel stands
beside it and is no part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console

from harness.record.replay import RunResult
from harness.report.inert import inert
from harness.report.lines import put_line
from harness.report.progress import duration
from harness.report.replay_names import put_row
from harness.report.replay_place import place
from kpis.formulas.recorded.ledger import TurnLedger
from kpis.formulas.recorded.ledger_spans import Spent
from kpis.formulas.recorded.shares import split
from kpis.terms.metric import Metric

__all__ = ["elapsed", "render_turns", "time_pieces"]

_SPANS = ("model", "tool", "hook", "approval", "user_idle", "retry", "subagent_wait", "harness", "unattributed")
_COLUMNS = ("model", "tool", "user_idle")
_CELL = 12
"""Of which one is blank, so that no two columns touch."""
_SHOWN = 15
_SECOND = 1_000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE


def _step(wall: float) -> int:
    """What times are rounded to, in milliseconds, where they add up to ``wall``."""
    return 1 if wall < _SECOND else 100 if wall < _MINUTE else _SECOND if wall < _HOUR else _MINUTE


def elapsed(ms: float) -> str:
    """``640 ms``, ``3.5 s``, ``42 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if ms >= _MINUTE:
        return duration(ms / _SECOND)
    if ms % 100:
        return f"{ms / _SECOND:.1f} s" if ms >= _SECOND else f"{ms:.0f} ms"
    return f"{ms / _SECOND:.1f}".removesuffix(".0") + " s"


def _shares(wall: float, spent: Sequence[float]) -> list[int]:
    """The shares in milliseconds, rounded so that they add up to the rounded wall."""
    step = _step(wall)
    return [step * units for units in split(round(wall / step), [round(ms) for ms in spent])]


def time_pieces(found: Mapping[str, Metric]) -> Iterator[str]:
    """The pieces of the line ``time``: the wall, what it is made of, and what ran side by side."""
    wall = found["time_wall_ms"]
    if wall.value is None:
        yield f"unknown: {wall.undefined}"
        return
    step = _step(wall.value)
    shares = _shares(wall.value, [found[f"time_{name}_ms"].value or 0 for name in _SPANS])
    told = [f"{name.replace('_', ' ')} {elapsed(ms)}" for name, ms in zip(_SPANS, shares, strict=True) if ms]
    yield f"wall {elapsed(step * round(wall.value / step))}" + ":" * bool(told)
    yield from told
    overlaps = [(word, found[f"time_{name}_overlap_ms"].value or 0) for word, name in _PARALLEL]
    parallel = [f"{word} {elapsed(step * round(ms / step))}" for word, ms in overlaps if round(ms / step)]
    if parallel:
        yield f"(in parallel, beyond the wall: {', '.join(parallel)})"


_PARALLEL = (("tools", "tool"), ("agents", "agent"))


def render_turns(runs: Iterable[RunResult], console: Console, *, verbose: bool) -> None:
    """Print the longest turns of ``runs``, all where ``verbose``, in the order in which they were."""
    turns = [(run, turn) for run in runs for turn in run.turns]
    if not turns:
        return
    shown = list(range(len(turns)))
    if not verbose:
        shown = sorted(sorted(shown, key=lambda at: -turns[at][1].parts.wall)[:_SHOWN])
    wide = max(19, console.width - 1 - _CELL * (len(_COLUMNS) + 2))
    heads = ("wall", *(name.replace("_", " ") for name in _COLUMNS), "other")
    put_line(console, "")
    put_line(console, f"{'turn, first answer':<{wide}}" + _row(heads), "bold")
    for run, turn in (turns[at] for at in shown):
        where = f"run {run.run_id}" if turn.file is None else place(turn.file, turn.line, run.source_format)
        put_row(console, inert(where), wide, _row(_cells(turn)), whole=verbose)
    if len(shown) < len(turns):
        put_line(console, f"and {len(turns) - len(shown):,} shorter ones; --verbose names all")


def _row(cells: Iterable[str]) -> str:
    return "".join(f" {cell:>{_CELL - 1}}" for cell in cells)


def _cells(turn: TurnLedger) -> Iterator[str]:
    """The wall, the columns, and the rest of it."""
    named = [getattr(turn.parts, name) for name in _COLUMNS]
    rest = sum(getattr(turn.parts, spent.value) for spent in Spent) - sum(named)
    wall = turn.parts.wall
    for ms in (_step(wall) * round(wall / _step(wall)), *_shares(wall, [*named, rest])):
        yield elapsed(ms) if ms else "-"
