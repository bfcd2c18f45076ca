"""Attribution as a table: a row for each tool, file, agent, model, project, branch or day, and what is in none.

The rows add up to the sentence below them. What a recording does not say is a dash and never a zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from harness.report.inert import inert
from harness.report.lines import put_line, put_text
from harness.report.replay_lines import amount, big
from harness.report.replay_names import put_row
from kpis.formulas.recorded.carried import CarriedParts, CarriedRow
from kpis.formulas.recorded.pricing import PICO
from kpis.formulas.recorded.request_keys import REQUEST_KEYS

__all__ = ["render_attribution"]

_HEADS = (9, 9, 9, 9, 11, 8)
_SHOWN = 15
"""Rows; what is left out is counted."""


def render_attribution(parts: CarriedParts, by: str, console: Console, *, verbose: bool) -> None:
    """Print the rows of ``parts``, the largest first, all where ``verbose``, and what they add up to."""
    wide = max(16, min(60, console.width - 1 - sum(_HEADS)))
    word = "requests" if by in REQUEST_KEYS else "calls"
    put_line(console, "")
    heads = (word, "initial", "carried", "output", "cost", "share")
    put_line(console, f"{'by ' + by:<{wide}}{_cells(heads)}", "bold")
    order = sorted(parts.rows.items(), key=lambda item: (-_tokens(item[1]), item[0]))
    shown = order if verbose else order[:_SHOWN]
    for key, row in shown:
        put_row(console, inert(key), wide, _cells(_row(row, parts)), whole=verbose or by == "agent")
    if len(shown) < len(order):
        put_line(console, f"and {len(order) - len(shown):,} smaller ones; --verbose names all")
    put_text(console, " ".join(_below(parts)), lead=" " * 9, indent=9)


def _cells(cells: tuple[str, ...]) -> str:
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, _HEADS, strict=True))


def _tokens(row: CarriedRow) -> int:
    return row.initial + row.carried + row.output


def _row(row: CarriedRow, parts: CarriedParts) -> tuple[str, ...]:
    if row.unsized and row.unsized == row.calls:
        return f"{row.calls:,}", "-", "-", big(row.output), "-", "-"
    cost = (row.initial_cost + row.carried_cost + row.output_cost) / PICO
    total = parts.prompt + parts.output
    return (
        f"{row.calls:,}",
        big(row.initial),
        big(row.carried),
        big(row.output),
        "-" if parts.unpriced and not cost else amount(cost),
        f"{100 * _tokens(row) / total if total else 0:.1f} %",
    )


def _below(parts: CarriedParts) -> Iterator[str]:
    whole = f"{big(parts.prompt)} prompt and {big(parts.output)} output tokens"
    whole += f", {amount(parts.cost / PICO)}" if parts.cost else ""
    yield f"All rows add up to {whole}."
    yield "A share is one of tokens."
    if parts.derived:
        yield f"{big(parts.derived)} of the tokens are split by size, not counted."
    if parts.unsized:
        some = "call does" if parts.unsized == 1 else "calls do"
        also = " or stand beside a prompt that is not known" if parts.unknown else ""
        also = also.replace("stand", "stands") if parts.unsized == 1 else also
        yield f"{parts.unsized:,} {some} not say how large the result was{also}, which is in the row of the prompt."
    if parts.unpriced:
        some = "request has" if parts.unpriced == 1 else "requests have"
        yield f"{parts.unpriced:,} {some} no price and no cost here."
    if parts.unknown:
        some = "request does" if parts.unknown == 1 else "requests do"
        yield f"{parts.unknown:,} {some} not say the whole prompt, whose tokens are in no row; the known cost is."
