"""A check as text: what failed first, then what is open, then what is merely told; the verdict comes last.

A waived row is in every report, with its reason and its end, and so is a row that a person moved for the worse. A timed
row says how much worse it would have to be before the record gates it. Refuses to let a large number of rows hide that:
only rows that say the same are put on one line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.text import Text

from harness.record.ratchet import RatchetFile, RatchetRow, passed_over
from harness.report.inert import encoding_of, inert
from harness.report.naming import said
from harness.report.units import Signs, shown, signs_for
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.comparison import ComparisonWarn, State
from kpis.terms.quantity import Unit

__all__ = ["render_ratchet", "sentence_of"]

_ORDER = (
    State.REGRESSED,
    State.VOID,
    State.REMOVED,
    State.NEW,
    State.NO_BASELINE,
    State.INCONCLUSIVE,
    State.IMPROVED,
    State.THIN,
    State.WITHIN,
    State.OK,
)
_STYLES = {State.REGRESSED: "bold red", State.VOID: "red", State.REMOVED: "red", State.IMPROVED: "green"}

Line = Callable[..., None]


def _percent(fraction: float | None) -> str:
    return "unknown" if fraction is None else f"{100 * fraction:.1f} %"


def _change(row: RatchetRow) -> str:
    return "" if row.ratio is None else f"{100 * (row.ratio - 1):+.1f} %"


def sentence_of(row: RatchetRow) -> str:
    """What one row says, in words."""
    sees = f"gates beyond {_percent(row.beyond)}, sees {_percent(row.smallest_visible)} four times in five"
    against = f"{_change(row)} against {row.sessions} sessions"
    match row.state:
        case State.OK | State.WITHIN if row.beyond is not None:
            return f"{against}; {sees}{_also(row)}"
        case State.REGRESSED if row.beyond is not None:
            return f"{against}, beyond {_percent(row.beyond)}{_also(row)}"
        case State.IMPROVED if row.beyond is not None:
            return f"{against}{_also(row)}; take it onto the record with: python -m harness ratchet accept"
        case State.INCONCLUSIVE if row.beyond is not None:
            return row.evidence[-1]  # why it is open: once for all rows of the run
        case State.OK if row.evidence:
            same = "the same as on record" if row.ratio in (None, 1.0) else row.evidence[0]
            return "; ".join((same, *row.evidence[1:]))
        case _:
            return "; ".join(row.evidence) or row.state.value


def _also(row: RatchetRow) -> str:
    """What was said besides the numbers of the test: that it was so before, another name, a limit that was passed."""
    past = [each.message for each in row.warnings if each.code is ComparisonWarn.PAST_LIMIT]
    return "".join(f"; {each}" for each in (*row.evidence[1:], *past))


def _numbers(row: RatchetRow, signs: Signs) -> str:
    """Recorded and measured, for a row that moved or is open."""
    if row.recorded is None or row.measured is None or row.beyond is None:
        return ""
    unit = Unit(row.unit)
    return f" ({shown(row.recorded, unit, signs)} on record, {shown(row.measured, unit, signs)} now)"


def render_ratchet(file: RatchetFile, console: Console, *, verbose: bool = False) -> None:
    """Print ``file`` on ``console``; texts from outside are shown inert. ``verbose`` spells out rows that are alike."""
    encoding = encoding_of(console.file)
    signs = signs_for(encoding)

    def line(text: str, style: str = "", indent: int = 0) -> None:
        text = inert(said(text), encoding)
        room = max(console.width - indent - 2, 20)
        for number, part in enumerate(Text(text, style=style).wrap(console, room - 4 if len(text) > room else room)):
            part.rstrip()
            console.print(Text(" " * (indent + 4 * (number > 0))) + part, soft_wrap=True)

    if file.run is not None:
        local = " with local changes" if file.run.dirty else ""
        commit = f", commit {file.run.commit[:12]}{local}" if file.run.commit else ""
        line(f"Run {file.run.id} on {file.slug}{commit}, against the record of this machine.")
    for state in _ORDER:
        _section(state, [row for row in file.rows if row.state is state], line, signs, verbose)
    _waived(file.rows, line)
    _told(file, line)
    verdict = file.verdict
    style = {VerdictState.PASS: "bold green", VerdictState.FAIL: "bold red"}.get(verdict.state, "bold")
    by = f" by {', '.join(verdict.by)}" if verdict.by else ""
    by += ", nothing was compared" if verdict.basis is VerdictBasis.NO_RULES else ""
    sure = f" ({verdict.confidence.value})" if verdict.confidence else ""
    console.print()
    line(f"{verdict.state.value}: {_basis(file)}{by}{sure}.", style)


def _basis(file: RatchetFile) -> str:
    """Why the verdict is what it is; a pass says what it passed over."""
    if file.verdict.state is not VerdictState.PASS:
        return file.verdict.basis.value
    over = Counter(word for row in file.rows if (word := passed_over(row)) is not None)
    told = ", ".join(f"{count} {'row' if count == 1 else 'rows'} {word}" for word, count in sorted(over.items()))
    loud = {*over} - {"too thin to judge"}
    begins = "nothing else failed" if loud else file.verdict.basis.value
    return f"{begins}; {told}" if told else begins


def _name(row: RatchetRow) -> str:
    return row.name if row.anchor == "record" else f"{row.name} since {row.anchor}"


def _quiet(row: RatchetRow) -> bool:
    return row.state in (State.OK, State.THIN) or any(each.code is ComparisonWarn.LEFT_OUT for each in row.warnings)


def _section(state: State, rows: Sequence[RatchetRow], line: Line, signs: Signs, verbose: bool) -> None:
    for sentence, alike in _by_sentence(rows).items():
        counted = len(alike) > 3 and not verbose and all(_quiet(row) for row in alike)
        names = f"{len(alike)} rows (named with --verbose)" if counted else ", ".join(map(_name, alike))
        numbers = _numbers(alike[0], signs) if len(alike) == 1 and not _quiet(alike[0]) else ""
        word = "left out" if state is State.NEW and all(_quiet(row) for row in alike) else state.value
        line(f"{word}: {names}: {sentence}{numbers}", _STYLES.get(state, "") if alike[0].decides else "")


def _by_sentence(rows: Iterable[RatchetRow]) -> dict[str, list[RatchetRow]]:
    groups: dict[str, list[RatchetRow]] = {}
    for row in rows:
        groups.setdefault(sentence_of(row), []).append(row)
    return groups


def _waived(rows: Iterable[RatchetRow], line: Line) -> None:
    for row in rows:
        if row.waiver is not None and row.anchor == "record":
            word = "waiver ended" if row.waiver.expired else "waived"
            line(
                f"{word}: {row.name}: until {row.waiver.until}: {row.waiver.why}",
                "bold red" if row.waiver.expired else "",
            )


def _told(file: RatchetFile, line: Line) -> None:
    pending: dict[str, list[str]] = {}
    for row in file.rows:
        if row.pending is not None and row.anchor == "record":
            pending.setdefault(row.pending, []).append(row.name)
        if row.moved is not None and row.anchor == "record":
            line(f"moved by hand: {row.name}: on {row.moved['on']}: {row.moved['why']}")
    for since, names in pending.items():
        shown_names = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        line(f"pending since {since}, until a second session bears them out: {shown_names}")
    if file.unselected:
        line(f"{file.unselected} rows on record were not asked of this run.")
    if file.base is not None and file.base.red:
        line(f"Red at the base {file.base.commit[:12]} already: {', '.join(file.base.red)}.")
    if file.ruler is not None and file.ruler["off"] is not None:
        line(f"The ruler: {file.ruler['off']}.", "bold")
    for note in file.notes:
        line(note)
