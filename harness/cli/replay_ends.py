"""What ``replay`` does with runs beyond showing them: hold them against a record, or put them there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.exits import Exit, highest
from harness.cli.replay import put
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.replay_gate import Gated
    from harness.record.replay import Replayed
    from harness.record.replay_baseline import ReplayBaseline

__all__ = ["gate_code", "gate_runs"]


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
    from harness.jobs.replay_accept import accepted
    from harness.record.atomic import sweep_dead
    from harness.record.replay_baseline import encode
    from harness.record.store import write_atomic

    if result.errors:
        say(
            f"Nothing was put on record: {result.errors[0].message} Mend it or leave it out, then run again: python -m "
            f"harness replay --gate {arguments.gate} --accept PATH"
        )
        return Exit.PARTLY_READ
    done = accepted(result, before, arguments.worse, arguments.why)
    strange = next((each for each in arguments.worse if each not in done.baseline.metrics), None)
    if strange is not None:
        say(
            f"Nothing was put on record: these runs have no {strange} for --worse to move. See what they have: python "
            f"-m harness replay --gate {arguments.gate} --verbose PATH"
        )
        return Exit.UNUSABLE
    if done.refused:
        say(
            f"{', '.join(done.refused)}: worse than on record, and left as on record. If it is meant: python -m "
            f"harness replay --gate {arguments.gate} --accept --worse {done.refused[0]} --why TEXT PATH"
        )
    sweep_dead(path.parent)
    blob = encode(done.baseline)
    if before is None or blob != encode(before):
        write_atomic(path, blob, within=root)
        runs = f"{done.baseline.runs:,} run{'s' * (done.baseline.runs != 1)}"
        said = f"{len(done.baseline.metrics):,} metrics of {runs} are on record: {path.name}"
    else:
        said = "Nothing moved, and nothing was written."
    print(said, file=sys.stderr if arguments.json == "-" else sys.stdout)
    return Exit.FAILED if done.refused else Exit.OK
