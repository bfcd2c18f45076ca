"""A gate as text: the verdict first, then what moved and where, then what was excluded and how small it could be.

``ok`` is written as what it says: at most so much slower. The project's own KPIs come first; of the built-in ones, what
is left out or unchanged is a line with a number, since all of it is in the file. Refuses to show a ratio without its
bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from rich.console import Console
from rich.text import Text

from harness.gating.rows import left_out
from harness.jobs.plan import named
from harness.record.gate import GateFile, GateRow
from harness.report import brief
from harness.report.inert import encoding_of, inert
from harness.report.naming import said
from kpis.terms.claim import Verdict, VerdictBasis, VerdictState
from kpis.terms.comparison import Comparison, ComparisonWarn, State
from kpis.terms.reading import Leg

__all__ = ["decided_by", "render_gate", "sentence_of", "sentence_of_comparison"]

_NAMED = 20
"""Names in the line of the verdict: each of them has a line of its own above."""

_ORDER = (
    State.REGRESSED,
    State.VOID,
    State.REMOVED,
    State.INCONCLUSIVE,
    State.NO_BASELINE,
    State.IMPROVED,
    State.NEW,
    State.OK,
    State.UNCHANGED,
)
_STYLES = {State.REGRESSED: "bold red", State.VOID: "red", State.REMOVED: "red", State.IMPROVED: "green"}


class Line(Protocol):
    """Prints one text, wrapped."""

    def __call__(self, text: str, style: str = "", indent: int = 0) -> None: ...


def sentence_of(row: GateRow) -> str:
    """What one row says, in words."""
    return sentence_of_comparison(
        Comparison(
            row.state,
            row.ratio,
            row.low,
            row.high,
            row.pairs,
            row.smallest_visible,
            row.alpha,
            tuple(row.evidence),
            tuple(row.warnings),
        )
    )


def sentence_of_comparison(found: Comparison) -> str:
    """What one comparison says, in words: ``ok`` as what it excludes."""
    measured = found.ratio is not None and found.alpha is not None
    reported = any(notice.code is ComparisonWarn.REPORTED for notice in found.warnings)
    shown = f"{_change(found)} [{_bounds(found)}]; {found.pairs} pairs"
    match found.state:
        case State.OK if measured and found.high is not None:
            visible = _percent(found.smallest_visible)
            return f"{_at_most(found)}; {found.pairs} pairs, a change of {visible} would have shown"
        case State.REGRESSED | State.IMPROVED if measured:
            return shown
        case State.INCONCLUSIVE if found.ratio is not None and not reported:
            why = "; ".join(found.evidence[-1:])
            return f"{shown}, smallest visible {_percent(found.smallest_visible)}{'; ' if why else ''}{why}"
        case _:
            *others, last = found.evidence or (found.state.value,)
            return "; ".join((*(said.rstrip(".") for said in others), last))


def decided_by(verdict: Verdict) -> str:
    """`` by a, b and 3 more``: what a verdict rests on, some named and the rest counted; empty where it names none."""
    if not verdict.by:
        return ""
    rest = len(verdict.by) - _NAMED
    return f" by {', '.join(verdict.by[:_NAMED])}{f' and {rest:,} more' if rest > 0 else ''}"


def _percent(fraction: float | None) -> str:
    return "unknown" if fraction is None else f"{100 * fraction:.1f} %"


def _change(row: Comparison) -> str:
    return "" if row.ratio is None else f"{100 * (row.ratio - 1):+.1f} %"


def _at_most(row: Comparison) -> str:
    worst = 100 * ((row.high or 1.0) - 1)
    return f"at most {worst:.1f} % slower" if worst > 0 else f"at least {-worst:.1f} % faster"


def _bounds(row: Comparison) -> str:
    sides = ["?" if bound is None else f"{100 * (bound - 1):+.1f} %" for bound in (row.low, row.high)]
    return ", ".join(sides)


def _name(row: GateRow) -> str:
    name = named(row.kpi, row.params)
    return name if row.leg is Leg.MAIN else f"{name} {row.leg.value}"


def render_gate(
    file: GateFile,
    console: Console,
    *,
    built_in: Collection[str] = (),
    verbose: bool = False,
    observed: str | None = None,
) -> None:
    """Print ``file`` on ``console``; texts from outside are shown inert.

    ``built_in`` are the ids of the KPIs that the project has not brought itself. Beside its own they come last and,
    unless ``verbose``, are only counted where they are left out or unchanged. ``observed`` is what is on record of
    this machine's false alarms (:func:`harness.record.observed.observed`).
    """
    encoding = encoding_of(console.file)

    def line(text: str, style: str = "", indent: int = 0) -> None:
        shown = Text(inert(text, encoding), style=style)
        room = max(console.width - indent - 2, 20)
        for number, part in enumerate(shown.wrap(console, room - 4 if len(shown) > room else room)):
            part.rstrip()
            console.print(Text(" " * (indent + 4 * (number > 0))) + part, soft_wrap=True)

    commit = (file.base.commit or "")[:12]
    local = " with local changes" if file.head.dirty else ""
    line(f"Gate {file.id}: head {(file.head.commit or 'none')[:12]}{local} against base {commit}.")
    if file.injected:
        factors = ", ".join(f"{point} x {factor:g}" for point, factor in file.injected.items())
        line(f"Self-test: {factors} was injected. The verdict is about the gate, not about the code.", "bold")
    mine = [row for row in file.rows if row.kpi not in built_in]
    others = [row for row in file.rows if row.kpi in built_in]
    for rows, counted in ((mine, False), (others, bool(mine) and not verbose)):
        for state in _ORDER:
            chosen = [row for row in rows if row.state is state]
            absent = {id(row): why for row in chosen if (why := left_out(row)) is not None}
            _section(state, [row for row in chosen if id(row) not in absent], line, counted)
            _left_out_section([(row, absent[id(row)]) for row in chosen if id(row) in absent], line, counted)
    verdict = file.verdict
    style = {VerdictState.PASS: "bold green", VerdictState.FAIL: "bold red"}.get(verdict.state, "bold")
    by = decided_by(verdict)
    by += ", nothing was compared" if verdict.basis is VerdictBasis.NO_RULES else ""
    sure = f" ({verdict.confidence.value})" if verdict.confidence else ""
    if observed is not None:
        line(said(observed))
    console.print()
    line(f"{verdict.state.value}: {verdict.basis.value}{by}{sure}; {file.seconds:.0f} s.", style)


def _kpis(rows: Sequence[GateRow]) -> str:
    count = len({row.kpi for row in rows})
    return f"{count} built-in KPI{'s' * (count != 1)}"


def _left_out_section(rows: list[tuple[GateRow, str]], line: Line, counted: bool) -> None:
    if rows and counted:
        line(brief.sentence(len({row.kpi for row, _ in rows})))
        return
    for row, why in rows:
        word = "skipped" if row.runtime == "pytest" else "not offered"
        line(f"{word}: {_name(row)}: {why}")


def _never_begun(row: GateRow) -> bool:
    """Whether the budget ended before anything was seen of it."""
    return row.ratio is None and any(notice.code is ComparisonWarn.BUDGET for notice in row.warnings)


def _section(state: State, rows: list[GateRow], line: Line, counted: bool) -> None:
    for sentence, alike in _by_sentence(state, rows).items():
        shared = state is State.UNCHANGED or all(_never_begun(row) for row in alike)
        names = f"{_kpis(alike)} (named with --verbose)" if counted and shared else ", ".join(map(_name, alike))
        line(f"{state.value}: {names}: {sentence}", _STYLES.get(state, ""))
        for function in (function for row in alike for function in row.functions):
            line(function, indent=4)
        for notice in dict.fromkeys(notice for row in alike for notice in row.warnings):
            if notice.message not in sentence:
                line(f"warning, {notice.code.value}: {notice.message}", indent=4)


def _by_sentence(state: State, rows: list[GateRow]) -> dict[str, list[GateRow]]:
    """Rows of one state by what is to be said of them, which is said once: unchanged, not reached, not offered."""
    groups: dict[str, list[GateRow]] = {}
    for row in rows:
        sentence = sentence_of(row) if state is not State.UNCHANGED else "every touched file is the same on both sides"
        groups.setdefault(sentence, []).append(row)
    return groups
