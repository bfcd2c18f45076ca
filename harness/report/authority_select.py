"""What a block in a document shows: the numbers of the KPIs that its mark names.

The mark reads ``<!-- authority:begin NAME kpis=a,b [points=all] [machine=SLUG] -->``. Without ``points=all`` a timed
KPI is shown at its gate point alone. Refuses to leave one out: a KPI without a number has a line that says why, and a
retired one is struck through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.report.authority import Authority
from harness.report.authority_blocks import Block
from harness.report.authority_numbers import cell
from harness.report.authority_rows import Row
from harness.report.authority_tables import name_of, tables
from kpis.registry import Catalog

__all__ = ["OPTIONS", "block_faults", "block_text", "kpis_of"]

OPTIONS = ("kpis", "points", "machine")


def kpis_of(block: Block) -> list[str]:
    """The names that the mark lists, in its order."""
    return [name for name in block.options.get("kpis", "").split(",") if name]


def block_faults(block: Block, authority: Authority, catalog: Catalog) -> Iterator[str]:
    """What is wrong with the mark, each without a full stop."""
    unknown = [word for word in block.words[1:] if word.partition("=")[0] not in OPTIONS or "=" not in word]
    if unknown:
        yield f"the mark has {unknown[0]!r}, and takes {', '.join(OPTIONS)}"
    if not block.name or "=" in block.name:
        yield "the mark has no name"
    if not kpis_of(block):
        yield "the mark names no KPI, as kpis=a,b"
    if block.options.get("points", "gate") not in ("gate", "all"):
        yield f"points={block.options['points']} is neither gate nor all"
    for name in kpis_of(block):
        if name not in catalog and authority.stone(name) is None:
            yield f"the mark names {name}, which the catalog does not have"


def block_text(block: Block, authority: Authority, catalog: Catalog, folder: str) -> str:
    """The content of the block, in a document in ``folder``."""
    chosen: list[Row] = []
    lines: list[str] = []
    for name in kpis_of(block):
        stone = authority.stone(name)
        if stone is not None:
            lines.append(f"- ~~`{name}`~~ is retired since {stone.on}: {cell(stone.reason)} {cell(stone.instead)}")
        elif name in catalog:
            rows = _rows(catalog.get(name).id, block, authority, catalog)
            chosen += [row for row in rows if row.table is not None]
            lines += _without(catalog.get(name).id, rows, authority)
    leading = [row for row in chosen if not row.marks]
    others = [row for row in chosen if row.marks]
    text = [*tables(leading, folder, short=True), *tables(others, folder, short=True, marked=True), *lines]
    return "\n".join(text)


def _rows(kpi: str, block: Block, authority: Authority, catalog: Catalog) -> list[Row]:
    row = catalog.get(kpi)
    everywhere = block.options.get("points") == "all" or not row.estimand.timed
    machine = block.options.get("machine")
    return [
        each
        for each in authority.rows
        if each.kpi == kpi
        and (everywhere or each.reading.params == row.gate_point)
        and machine in (None, each.artifact.run.machine.slug)
    ]


def _without(kpi: str, rows: Sequence[Row], authority: Authority) -> list[str]:
    """Lines for what has no number."""
    if not rows:
        missing = dict(authority.pending).get(kpi, "no committed run holds it at the points and machine asked for")
        return [f"- `{kpi}` is pending: {cell(missing)}"]
    undefined = [(row, row.reading.undefined) for row in rows]
    return [
        f"- {name_of(row)} is undefined, {told.reason.value}: {cell(told.detail)}" for row, told in undefined if told
    ]
