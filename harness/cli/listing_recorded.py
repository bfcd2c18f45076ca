"""``list --recorded`` and ``explain`` for metrics of recorded runs. Whatever it needs is imported when it runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit
from harness.cli.streams import say

if TYPE_CHECKING:
    from kpis.terms.metric import MetricRow

__all__ = ["explain_recorded", "is_recorded", "list_recorded", "plain_metric"]


def list_recorded(arguments: argparse.Namespace) -> Exit:
    """Print the metrics that have the given text in id, definition or fence; 5 where there is none."""
    from harness.cli.listing import print_json
    from harness.report.recorded_text import recorded_list
    from harness.report.width import columns
    from kpis.recorded_metrics import load

    if arguments.layer or arguments.status or arguments.gate:
        say("Metrics of recorded runs have no layer, status or gate: python -m harness list --recorded")
        return Exit.UNUSABLE
    text = (arguments.text or "").lower()
    rows = [
        row
        for row in load().values()
        if any(text in words.lower() for words in (row.id, row.definition, row.fence or "", row.metric_class.value))
    ]
    if arguments.json:
        print_json({"schema": "harness.list/1", "metrics": [plain_metric(row) for row in rows]})
    else:
        print(recorded_list(rows, columns(sys.stdout)), end="")
    if not rows:
        say("No metric passes these filters; `python -m harness list --recorded` shows all.", prefix="")
        return Exit.UNCOVERED
    return Exit.OK


def is_recorded(name: str, kpis: Collection[str]) -> bool:
    """Whether ``name`` is that of a metric of recorded runs, or nearer to one than to any of ``kpis``."""
    from kpis.errors import did_you_mean
    from kpis.recorded_metrics import load

    symbols = {row.symbol.lower() for row in load().values() if row.symbol is not None}
    if name in load() or name.lower() in symbols:
        return True
    return did_you_mean(name, [*kpis, *load()]) != did_you_mean(name, kpis)


def explain_recorded(arguments: argparse.Namespace) -> Exit:
    """Print everything about one metric of recorded runs."""
    from harness.cli.listing import print_json
    from harness.report.naming import said
    from harness.report.recorded_text import recorded_text
    from harness.report.width import columns
    from kpis.formulas.recorded.evaluate import metric_ids
    from kpis.recorded_metrics import row_named

    row = row_named(arguments.kpi)
    if arguments.json:
        print_json({"schema": "harness.explain/1", "metric": plain_metric(row)})
    else:
        print(said(recorded_text(row, columns(sys.stdout), metric_ids())), end="")
    return Exit.OK


def plain_metric(row: MetricRow) -> dict[str, Any]:
    """The row as plain values; every key is there, null where it does not apply."""
    from dataclasses import asdict

    told = asdict(row)
    told["class"] = told.pop("metric_class")
    return {**told, **{key: told[key].value for key in ("class", "kind", "unit", "direction", "combine")}}
