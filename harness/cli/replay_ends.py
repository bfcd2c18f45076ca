"""What ``replay`` does with runs beyond showing them: hold them against a record, or two arms against each other."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.exits import Exit, highest
from harness.cli.replay import exit_code, put, read, tell_unmatched
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.replay import Asked
    from harness.jobs.replay_gate import Gated
    from harness.record.replay import Replayed
    from harness.record.replay_baseline import ReplayBaseline

__all__ = ["compare_arms", "gate_code", "gate_runs"]


def compare_arms(arguments: argparse.Namespace, asked: Asked) -> Exit:
    """Read both arms and print them side by side."""
    from harness.jobs.replay_compare import compare
    from harness.report.page import console_on
    from harness.report.replay_compare import render_compared

    arms = [read(arguments, [path], asked) for path in arguments.compare]
    codes = [exit_code(arm) for arm in arms]
    if Exit.UNUSABLE in codes:
        return Exit.UNUSABLE
    tell_unmatched(asked, arms)
    one, two = (Path(path).name or path for path in arguments.compare)
    console = console_on(sys.stdout)
    render_compared(compare(*arms), (one, two), console, verbose=arguments.verbose)
    if all(arm.contexts for arm in arms):
        from harness.jobs.replay_compare_context import compare_contexts
        from harness.report.replay_compare_context import render_contexts

        render_contexts(compare_contexts(*(arm.contexts for arm in arms)), console, verbose=arguments.verbose)
    return highest(codes)


def gate_runs(arguments: argparse.Namespace, result: Replayed, prices: str) -> Exit:
    """Hold ``result`` against the record that is named, or put it there."""
    from harness.jobs.replay_gate import gate
    from harness.project import load_project
    from harness.record.replay_baseline import baseline_path, read_baseline
    from harness.record.store import require_inside

    root = load_project(Path.cwd()).root
    path = baseline_path(root, arguments.gate)
    if arguments.accept:
        require_inside(path, root)
    before = read_baseline(path)
    if arguments.accept:
        put(result, arguments, prices)
        return _accept(arguments, result, path, before, root)
    gated = gate(result, before)
    put(result, arguments, prices, gated)
    if before is None:
        say(
            f"Nothing is on record as {arguments.gate}. Put this there: python -m harness replay --gate "
            f"{arguments.gate} --accept PATH"
        )
    return gate_code(gated)


def gate_code(gated: Gated) -> Exit:
    """The ratchet's exit codes: unknown never ends with 0."""
    from kpis.terms.claim import Gap, VerdictState

    match gated.verdict.state:
        case VerdictState.PASS:
            return Exit.OK
        case VerdictState.FAIL:
            return Exit.FAILED
    gaps = {claim.gap for claim in gated.claims} - {None, Gap.NEW}
    codes = {Gap.REMOVED: Exit.UNCOVERED, Gap.NO_BASELINE: Exit.NO_BASELINE}
    return highest(codes.get(gap, Exit.UNKNOWN) for gap in gaps if gap is not None) if gaps else Exit.UNCOVERED


def _accept(
    arguments: argparse.Namespace, result: Replayed, path: Path, before: ReplayBaseline | None, root: Path
) -> Exit:
    from harness.jobs.replay_gate import accepted
    from harness.record.replay_baseline import encode
    from harness.record.store import write_atomic

    done = accepted(result, before, arguments.worse, arguments.why)
    if done.refused:
        say(
            f"{', '.join(done.refused)}: worse than on record, and left as on record. If it is meant: python -m "
            f"harness replay --gate {arguments.gate} --accept --worse {done.refused[0]} --why TEXT PATH"
        )
    blob = encode(done.baseline)
    if before is None or blob != encode(before):
        write_atomic(path, blob, within=root)
        runs = f"{done.baseline.runs:,} run{'s' * (done.baseline.runs != 1)}"
        said = f"{len(done.baseline.metrics):,} metrics of {runs} are on record: {path.name}"
    else:
        said = "Nothing moved, and nothing was written."
    print(said, file=sys.stderr if arguments.json == "-" else sys.stdout)
    return Exit.FAILED if done.refused else Exit.OK
