"""The registry of the metrics of recorded runs: every row by id, and which of them may never stand in one number.

Rows are read from all TOML files of one folder. A composite is refused where its members are of different classes, or
are a pair that is known to be taken for one another; the refusal names both. Nothing is computed here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kpis.errors import CatalogError, SelectionError, did_you_mean
from kpis.terms.kpi import Direction
from kpis.terms.metric import Combine, MetricClass, MetricKind, MetricRow
from kpis.terms.quantity import Unit

__all__ = ["CATALOG", "CompositeError", "load", "read_rows", "refuse_composite", "row_named", "row_of"]

CATALOG = Path(__file__).parent / "catalog_recorded"
"""The folder of the built-in rows."""

_TEXTS = ("definition", "undefined")
_KEYS = frozenset({"class", "kind", "unit", "direction", "combine", "needs", "target", "symbol", "fence", *_TEXTS})

_APART: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (("invalidated_suffix_tokens",), ("pma_",), "one is a sum and the other is relative to what was reclaimed"),
    (("recall_trigger_rate",), ("recall_success_given_trigger",), "not asking and asking in vain differ"),
    (("modelled_cost_usd",), ("realised_cost_usd",), "one is a model and the other a bill"),
    (("modelled_cost_usd",), ("provider_",), "one is a model and the other what was reported"),
)
"""Members of one class that are never combined, by beginnings of their ids, and why."""


class CompositeError(ValueError):
    """One number was asked for of metrics that must stay apart: one sentence that names both."""


def _row(metric_id: str, table: dict[str, Any]) -> MetricRow:
    unknown = table.keys() - _KEYS
    if unknown:
        raise ValueError(f"unknown key {min(unknown)}")
    row = MetricRow(
        id=metric_id,
        metric_class=MetricClass(table["class"]),
        kind=MetricKind(table["kind"]),
        unit=Unit(table["unit"]),
        direction=Direction(table["direction"]),
        definition=table["definition"],
        undefined=table["undefined"],
        combine=Combine(table["combine"]),
        needs=tuple(table["needs"]),
        target=table.get("target"),
        symbol=table.get("symbol"),
        fence=table.get("fence"),
    )
    if row.kind is MetricKind.GATE and (row.target is None or row.direction is Direction.NEUTRAL):
        raise ValueError("a gate has a target and a direction")
    if row.kind is MetricKind.SIGNAL and row.direction is not Direction.NEUTRAL:
        raise ValueError("a signal has no better direction")
    return row


def read_rows(files: Mapping[str, str]) -> dict[str, MetricRow]:
    """The rows of TOML texts by file name, in the order given: tables ``[metric.ID]``.

    Raises:
        CatalogError: a text is no TOML, a row lacks or misspells something, or two rows share an id.
    """
    rows: dict[str, MetricRow] = {}
    owners: dict[str, str] = {}
    faults = []
    for name, text in files.items():
        try:
            tables = tomllib.loads(text).get("metric", {})
        except tomllib.TOMLDecodeError as error:
            faults.append(f"{name} is no TOML: {error}. Correct it, then run `python -m harness doctor`.")
            continue
        for metric_id, table in tables.items():
            what = None
            if metric_id in rows:
                what = f"is also a row of {owners[metric_id]}"
            else:
                try:
                    rows[metric_id] = _row(metric_id, table)
                    owners[metric_id] = name
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    what = f"lacks {error}" if isinstance(error, KeyError) else f"is not sound: {error}"
            if what is not None:
                faults.append(f"{name}: metric {metric_id} {what}. Correct it, then run `python -m harness doctor`.")
    if faults:
        raise CatalogError(faults)
    return rows


@cache
def load() -> Mapping[str, MetricRow]:
    """Every built-in row by id, files in order of their names. Read once a process.

    Raises:
        CatalogError: as :func:`read_rows`.
    """
    return MappingProxyType(
        read_rows({path.name: path.read_text(encoding="utf-8") for path in sorted(CATALOG.glob("*.toml"))})
    )


def row_of(metric_id: str, rows: Mapping[str, MetricRow] | None = None) -> MetricRow:
    """The row with this id, of the built-in ones unless others are given.

    Raises:
        SelectionError: there is none; the sentence names the closest one.
    """
    known = load() if rows is None else rows
    found = known.get(metric_id)
    if found is None:
        name = metric_id or "''"
        raise SelectionError(
            f"There is no metric of recorded runs named {name}{did_you_mean(metric_id, known)}; "
            "`python -m harness list --recorded` shows all."
        )
    return found


def row_named(name: str, rows: Mapping[str, MetricRow] | None = None) -> MetricRow:
    """The row with the id or the symbol ``name``, a symbol in letters of either case.

    Raises:
        SelectionError: there is none, or several have that symbol; the sentence names the closest one, or all.
    """
    known = load() if rows is None else rows
    alike = [row for row in known.values() if row.symbol and row.symbol.lower() == name.lower()]
    if name in known or not alike:
        return row_of(name, known)
    if len(alike) > 1:
        ids = ", ".join(row.id for row in alike)
        raise SelectionError(
            f"{name} is the symbol of {ids}: name one of them; `python -m harness list --recorded` shows all."
        )
    return alike[0]


def refuse_composite(ids: Iterable[str], rows: Mapping[str, MetricRow] | None = None) -> MetricClass:
    """The class that all of ``ids`` share, if one number may be made of them.

    Raises:
        CompositeError: two of them must stay apart; both are named.
        SelectionError: one is unknown.
        ValueError: none is given.
    """
    members = [row_of(each, rows) for each in ids]
    if not members:
        raise ValueError("a composite has members")
    first = members[0]
    for other in members[1:]:
        if other.metric_class is not first.metric_class:
            raise CompositeError(
                f"{first.id} ({first.metric_class.value}) and {other.id} ({other.metric_class.value}) are of different "
                "classes and never stand in one number: report each on its own."
            )
    _refuse_pairs([each.id for each in members])
    return first.metric_class


def _refuse_pairs(ids: Sequence[str]) -> None:
    for left, right, why in _APART:
        one = next((each for each in ids if each.startswith(left)), None)
        other = next((each for each in ids if each.startswith(right)), None)
        if one is not None and other is not None:
            raise CompositeError(f"{one} and {other} never stand in one number, since {why}: report each on its own.")
