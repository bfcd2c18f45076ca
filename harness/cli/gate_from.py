"""``gate --from A.json B.json``: other tools' files, with the honest number of independent processes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.exits import Exit, highest
from harness.cli.run_inputs import kept
from harness.cli.streams import say
from harness.cli.targets import foreign
from harness.cli.words import is_input

if TYPE_CHECKING:
    from kpis.terms.claim import Verdict
    from kpis.terms.comparison import State

__all__ = ["compare_files"]


def compare_files(arguments: argparse.Namespace) -> Exit:
    """Compare two files bench by bench; the exit code is that of a gate."""
    from harness.jobs.compare_files import compare, judged
    from harness.record.gate_from import encode
    from harness.record.store import find_root, write_atomic
    from harness.report.gate_page import decided_by, sentence_of_comparison
    from harness.report.inert import encoding_of, inert

    base, head = (Path(name) for name in vars(arguments)["from"])
    if arguments.json not in (None, "-") and is_input(arguments.json, (base, head, *kept(find_root(Path.cwd())))):
        say(f"--json {arguments.json} would write over a file that is compared, or kept. Name another file.")
        return Exit.UNUSABLE
    if (refused := foreign(arguments.json, "gate.json")) is not None:
        say(refused)
        return Exit.UNUSABLE
    compared = compare(base, head)
    rows = compared.rows
    file = judged(compared)
    verdict = file.verdict
    for notice in compared.notices:
        say(notice)
    blob = encode(file)
    # Stored before anything is shown: a reader that goes away must not cost the result.
    if arguments.json == "-":
        sys.stdout.buffer.write(blob)
    elif arguments.json is not None:
        write_atomic(Path(arguments.json), blob)
    out = sys.stderr if arguments.json == "-" else sys.stdout
    for row in rows:
        told = sentence_of_comparison(row.comparison)
        lines = [f"{row.comparison.state.value}: {row.name}: {told}"]
        lines += [f"    warning, {each.code.value}: {each.message}" for each in row.comparison.warnings]
        for line in lines:
            print(inert(line, encoding_of(out)), file=out)
    print(inert(f"{verdict.state.value}: {verdict.basis.value}{decided_by(verdict)}", encoding_of(out)), file=out)
    return _exit(verdict, {row.comparison.state for row in rows}, strict=arguments.strict)


def _exit(verdict: Verdict, states: set[State], *, strict: bool) -> Exit:
    """What the verdict says to the shell; unknown never ends with 0. Of several codes the highest applies."""
    from kpis.terms.claim import VerdictBasis, VerdictState
    from kpis.terms.comparison import State

    if verdict.state is VerdictState.PASS:
        return Exit.OK
    if verdict.state is VerdictState.FAIL:
        return Exit.FAILED
    undecided = Exit.FAILED if strict else Exit.UNKNOWN
    held = {
        Exit.UNCOVERED: verdict.basis is VerdictBasis.NO_RULES or State.REMOVED in states,
        Exit.NO_BASELINE: State.NO_BASELINE in states,
        undecided: not states.isdisjoint({State.INCONCLUSIVE, State.VOID}),
    }
    codes = [code for code, applies in held.items() if applies]
    return highest(codes or [undecided])
