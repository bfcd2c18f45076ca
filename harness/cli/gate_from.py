"""``gate --from A.json B.json``: other tools' files, with the honest number of independent processes."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from harness.cli.exits import Exit
from harness.cli.streams import say

__all__ = ["compare_files"]


def compare_files(arguments: argparse.Namespace) -> Exit:
    """Compare two files bench by bench; the exit code is that of a gate."""
    from harness.jobs.compare_files import compare
    from harness.judge.compose import claim_of, compose
    from harness.record.plain import plain
    from harness.record.store import write_atomic
    from harness.report.gate_page import sentence_of_comparison
    from harness.report.inert import encoding_of, inert
    from kpis.terms.claim import VerdictBasis, VerdictState
    from kpis.terms.comparison import State
    from kpis.terms.kpi import Gate

    base, head = (Path(name) for name in vars(arguments)["from"])
    compared = compare(base, head)
    claims = [claim_of(row.name, row.comparison, Gate.TIMED, row.direction) for row in compared.rows]
    verdict = compose(claims, compared.coverage)
    for notice in compared.notices:
        say(notice)
    document = {
        "schema": "harness.gate-from/1",
        "verdict": {**plain(verdict, "$"), "passed": verdict.passed},
        "rows": [{"name": row.name, **plain(row.comparison, "$")} for row in compared.rows],
    }
    blob = (json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
    out = sys.stderr if arguments.json == "-" else sys.stdout
    for row in compared.rows:
        text = f"{row.comparison.state.value}: {row.name}: {sentence_of_comparison(row.comparison)}"
        print(inert(text, encoding_of(out)), file=out)
    by = f" by {', '.join(verdict.by)}" if verdict.by else ""
    print(inert(f"{verdict.state.value}: {verdict.basis.value}{by}", encoding_of(out)), file=out)
    if arguments.json == "-":
        sys.stdout.buffer.write(blob)
    elif arguments.json is not None:
        write_atomic(Path(arguments.json), blob)
    if verdict.state is VerdictState.PASS:
        return Exit.OK
    if verdict.state is VerdictState.FAIL:
        return Exit.FAILED
    states = {row.comparison.state for row in compared.rows}
    if verdict.basis is VerdictBasis.NO_RULES or State.REMOVED in states:
        return Exit.UNCOVERED
    if State.NO_BASELINE in states:
        return Exit.NO_BASELINE
    return Exit.FAILED if arguments.strict else Exit.UNKNOWN
