"""What recorded runs came to, on one screen: a single run whole, of many a line each and their sum.

Everything that a recording says is shown inert. Refuses to print what calls were about, but where a user asked for
attribution by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from harness.record.replay import Replayed, RunResult
from harness.report.lines import put_line
from harness.report.replay_by import render_attribution
from harness.report.replay_lines import amount, at_least, big, lines_of
from harness.report.replay_place import place
from harness.report.replay_time import render_turns
from kpis.formulas.recorded.evaluate import RunParts, metrics
from kpis.formulas.recorded.trust import Trust
from kpis.terms.trace import Issue, Severity, ThreadKind

if TYPE_CHECKING:
    from harness.record.replay_context import ContextResult

__all__ = ["render_replay"]

_LABEL = 9
_WIDE = 54
_SHOWN = 15
"""Rows of a table; what is left out is counted."""

_LEAST_KIND = 14
"""Columns for the name of a format; a longer one takes what it needs."""

_TRUST = {Trust.OK: "ok", Trust.LOWER_BOUND: "lower bound", Trust.NOT_RECORDED: "not recorded"}


def render_replay(
    result: Replayed,
    console: Console,
    prices: str,
    *,
    by: str | None = None,
    turns: bool = False,
    verbose: bool = False,
) -> None:
    """Print ``result``, its turns too where asked for; all runs and all issues where ``verbose``."""
    if len(result.runs) == 1:
        _heading(console, _title(result.runs[0]))
    elif result.runs:
        _table(result.runs, console, verbose=verbose)
        _heading(console, _sum_title(result))
    contexts = result.contexts
    if contexts:
        from harness.report.replay_context import context_pieces

        _line(console, "context", context_pieces(contexts))
    if result.runs:
        for label, pieces in lines_of(result.parts, metrics(result.parts), prices):
            _line(console, label, pieces)
    if contexts and verbose:
        _contexts(contexts, console)
    if result.carried is not None and by is not None:
        render_attribution(result.carried, by, console, verbose=verbose)
    if turns:
        render_turns(result.runs, console, verbose=verbose)
    issues = [("", issue) for issue in result.issues]
    issues += [(run.source_format, issue) for run in result.runs for issue in run.issues]
    _issues(issues, console, verbose=verbose)
    if result.passed_over:
        some = "file was" if result.passed_over == 1 else "files were"
        _line(console, "", [f"{result.passed_over:,} {some} in no known format and passed over."])


def _heading(console: Console, pieces: Sequence[str]) -> None:
    for at, line in enumerate(_flow(pieces, console.width, 0)):
        put_line(console, line if at == 0 else "  " + line, "bold")


def _line(console: Console, label: str, pieces: Iterable[str]) -> None:
    for at, line in enumerate(_flow(list(pieces), console.width, _LABEL)):
        put_line(console, f"{label if at == 0 else '':<{_LABEL}}{line}".rstrip())


def _contexts(results: Sequence[ContextResult], console: Console) -> None:
    """Every context metric with its value or the reason why there is none."""
    from harness.report.replay_context import context_rows

    put_line(console, "")
    put_line(console, f"{'context metric':<{_WIDE}}value", "bold")
    for name, said in context_rows(results):
        for at, line in enumerate(_flow([said], console.width, _WIDE)):
            put_line(console, f"{name if at == 0 else '':<{_WIDE}}{line}")
    put_line(console, "")


def _flow(pieces: Sequence[str], width: int, indent: int) -> list[str]:
    """Lines of whole pieces, two blanks between them; a piece that is longer than a line is broken between words."""
    room = max(20, width - indent)
    lines: list[str] = []
    for piece in pieces:
        if lines and len(lines[-1]) + 2 + len(piece) <= room:
            lines[-1] += "  " + piece
            continue
        lines.append("")
        for word in piece.split(" "):
            if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
                lines.append(word)
            else:
                lines[-1] += " " * bool(lines[-1]) + word
    return lines


def _title(run: RunResult) -> list[str]:
    versions = sorted({each.source_version for each in run.recordings if each.source_version})
    kinds = [thread.kind for thread in run.threads]
    others = len(kinds) - kinds.count(ThreadKind.MAIN)
    pieces = [f"run {run.run_id[:36]}", " ".join([run.source_format, *versions[-1:]])]
    if others:
        pieces.append(f"main + {others} sub-agent{'s' * (others != 1)}")
    return [*pieces, *_work_done(run.parts)]


def _sum_title(result: Replayed) -> list[str]:
    return [f"all {len(result.runs):,} runs", *_work_done(result.parts)]


def _work_done(parts: RunParts) -> list[str]:
    found = metrics(parts)
    calls, errors = found["tool_calls"].value or 0, found["tool_errors"].value or 0
    share = f", {100 * errors / calls:.1f} %" if calls and errors else ""
    requests, folds = found["recorded_requests"].value or 0, found["compactions"].value or 0
    return [
        f"{requests:,} request{'s' * (requests != 1)}",
        f"{calls:,} tool call{'s' * (calls != 1)} ({errors:,} error{'s' * (errors != 1)}{share})",
        f"{folds:,} compaction{'s' * (folds != 1)}",
    ]


def _table(runs: Sequence[RunResult], console: Console, *, verbose: bool) -> None:
    shown = runs if verbose else sorted(runs, key=lambda run: -run.parts.tokens.prompt)[:_SHOWN]
    kind = max(_LEAST_KIND, *(len(run.source_format) + 1 for run in shown))
    wide = max(12, min(36, console.width - 48 - kind))
    put_line(
        console,
        f"{'run':<{wide}} {'format':<{kind}}{'requests':>9}{'prompt':>9}{'hit':>7}{'out':>9}{'cost':>11}",
        "bold",
    )
    for run in shown:
        found = metrics(run.parts)
        hit, cost, out = found["cache_hit_ratio"].value, found["cost_computed_usd"], found["output_tokens"]
        cells = [
            f"{found['recorded_requests'].value or 0:,}",
            "-" if found["exposed_tokens"].value is None else big(run.parts.tokens.prompt),
            "-" if hit is None else f"{100 * hit:.0f} %",
            "-" if out.value is None else at_least(out, big(out.value)).replace(">= ", ">="),
            "-" if cost.value is None else at_least(cost, amount(cost.value)).replace(">= ", ">="),
        ]
        widths = (9, 9, 7, 9, 11)
        mark = "" if run.parts.trust.level is Trust.OK else f"  {_TRUST[run.parts.trust.level]}" * (console.width > 92)
        row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        put_line(console, f"{run.run_id[:wide]:<{wide}} {run.source_format:<{kind}}{row}{mark}")
    if len(shown) < len(runs):
        put_line(console, f"and {len(runs) - len(shown):,} more with smaller prompts; --verbose names all")
    put_line(console, "")


def _issues(issues: Sequence[tuple[str, Issue]], console: Console, *, verbose: bool) -> None:
    """What was found, each beside the format of the recording that it was found in."""
    order = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
    told = sorted(issues, key=lambda each: order.index(each[1].severity))
    least = [each for each in told if each[1].severity is not Severity.NOTE]
    shown = told if verbose else least[:5]
    for source_format, issue in shown:
        known = issue.file is not None or issue.line is not None
        where = place(issue.file, issue.line, source_format, issue.code) if known else ""
        _line(
            console,
            issue.severity.value,
            [f"{where + ': ' if where and where not in issue.message else ''}{issue.message}"],
        )
    if len(shown) < len(told):
        left = len(told) - len(shown)
        _line(console, "", [f"{left:,} more remark{'s' * (left != 1)}; --verbose shows all"])
