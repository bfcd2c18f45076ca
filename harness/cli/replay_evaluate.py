"""``replay --evaluate``: the rules over trajectories on real runs. Parses, prints, and chooses the exit code.

What was read before is of no help here: it holds sums and no calls, so runs are read again and nothing is kept.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.exits import Exit, highest
from harness.cli.replay import exit_code, read, tell_unmatched, written
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.replay import Asked
    from harness.record.replay import Replayed

__all__ = ["evaluate_runs", "verdicts_code"]


def evaluate_runs(arguments: argparse.Namespace, asked: Asked) -> Exit:
    """Judge every run, write the replay file where it was asked for, and print what decided."""
    from harness.formats.limits import FormatError
    from harness.jobs.evaluate_config import Deployment, deployment
    from harness.jobs.replay_evaluate import RunJudge
    from harness.report.replay_evaluate import render_evaluated

    try:
        chosen = Deployment() if arguments.config is None else deployment(Path(arguments.config))
    except FormatError as error:
        say(str(error))
        return Exit.UNUSABLE
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    result = read(arguments, arguments.path, replace(asked, judge=RunJudge(chosen, now)))
    code = exit_code(result)
    if code is Exit.UNUSABLE:
        return code
    with written(result, arguments, asked.table.name) as console:
        render_evaluated(result, console, verbose=arguments.verbose)
    tell_unmatched(asked, [result])
    return highest([verdicts_code(result), code])


def verdicts_code(result: Replayed) -> Exit:
    """What the verdicts say to the shell, as those of ``evaluate`` do: unknown never ends with 0."""
    from kpis.terms.claim import VerdictState

    codes = {VerdictState.FAIL.value: Exit.FAILED, VerdictState.UNKNOWN.value: Exit.UNKNOWN}
    states = {json.loads(run.evaluation)["verdict"]["state"] for run in result.runs if run.evaluation is not None}
    return highest(codes.get(state, Exit.OK) for state in states)
