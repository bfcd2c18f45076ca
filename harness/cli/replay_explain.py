"""``replay --explain NUMBER``: what a number means, the rule behind it, and the lines that it was counted from."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from harness.cli.exits import Exit
from harness.cli.streams import say

if TYPE_CHECKING:
    from kpis.formulas.recorded.pricing import PriceTable

__all__ = ["explain"]

_SHOWN = 20


def explain(arguments: argparse.Namespace, table: PriceTable) -> Exit:
    """Print the row of the metric, its value over all runs, and the lines behind it, the first of them or all."""
    from harness.jobs.replay import Asked, replay, runs_of
    from harness.report.page import console_on
    from harness.report.replay_explain import render_explained
    from kpis.errors import SelectionError
    from kpis.formulas.recorded.evaluate import metrics
    from kpis.formulas.recorded.evidence import evidence
    from kpis.recorded_metrics import row_of

    number = arguments.explain
    try:
        row = row_of(number)
    except SelectionError as error:
        say(str(error))
        return Exit.UNUSABLE
    result = replay(
        arguments.path, Asked(table, ledger=number.startswith("time_")), forced=arguments.format, processes=1
    )
    found = metrics(result.parts).get(number)
    if found is None:
        say(
            f"{number} is not a number of a transcript: it takes what `{', '.join(row.needs)}` say. "
            "See those that are: python -m harness replay --json - PATH"
        )
        return Exit.UNUSABLE
    lines = (line for run in runs_of(arguments.path, arguments.format) for line in evidence(run, number, table))
    render_explained(row, found, lines, console_on(sys.stdout), most=None if arguments.verbose else _SHOWN)
    return Exit.OK if result.runs else Exit.UNUSABLE
