"""``calibrate``: record how this machine errs, and say how much is on record. Parses, prints, chooses the exit code."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit
from harness.cli.run_inputs import files
from harness.cli.stopping import stopping
from harness.cli.streams import note, say
from harness.cli.words import duration_s, is_input

if TYPE_CHECKING:
    from harness.jobs.calibrate import Calibrated

__all__ = ["add_parser", "exit_code"]


def add_parser(commands: Any) -> None:
    """Add ``calibrate`` to the command line."""
    parser = commands.add_parser(
        "calibrate",
        help="record how often this machine errs, and what it can see",
        description="Time HEAD against itself, against edits that must not cost time, and against injected slowdowns, "
        "with this machine idle and busy. Goes on where the last call ended; baselines/<machine>/ takes the record.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--budget", type=duration_s, default=1200.0, metavar="20m", help="begin nothing after this long (default: 20m)"
    )
    parser.add_argument("--json", metavar="FILE", help="write what was added and what is on record here; - is stdout")
    parser.set_defaults(handler=_calibrate)


def _calibrate(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.calibrate import calibrate
    from harness.jobs.rows import project_catalog
    from harness.project import load_project
    from harness.record.store import write_atomic
    from harness.report.progress import Progress

    project = load_project(Path.cwd())
    target, to_stdout = arguments.json, arguments.json == "-"
    if target is not None and not to_stdout and is_input(target, files((), project)):
        say(f"--json {target} names an input and would replace it. Name a new file: --json calibrated.json")
        return Exit.UNUSABLE
    with (
        stopping(KeyboardInterrupt, (signal.SIGINT, signal.SIGTERM)) as heard,
        Progress(arguments.budget) as progress,
    ):
        found = calibrate(
            project,
            project_catalog(project),
            budget_s=arguments.budget,
            on_step=lambda what, share: progress.show(what, round(share * 100), 100),
        )
    blob = f"{json.dumps(_plain(found), indent=1, sort_keys=True)}\n".encode()
    if to_stdout:
        sys.stdout.buffer.write(blob)
    elif target is not None:
        write_atomic(Path(target), blob)
    _print(found, project.root, to_stdout=to_stdout)
    return exit_code(found, terminated=heard[:1] == [signal.SIGTERM])


def exit_code(found: Calibrated, *, terminated: bool = False) -> Exit:
    """Nothing to time is 5, and a budget that was too short for one trial leaves everything open: 3."""
    if found.interrupted:
        return Exit.TERMINATED if terminated else Exit.INTERRUPTED
    if not found.points:
        return Exit.UNCOVERED
    return Exit.OK if found.made else Exit.UNKNOWN


def _print(found: Calibrated, root: Path, *, to_stdout: bool) -> None:
    import textwrap

    from harness.report.calibrate_page import page
    from harness.report.inert import encoding_of, inert
    from harness.report.naming import said
    from harness.report.width import NARROW, WHOLE_WORDS, columns

    stream = sys.stderr if to_stdout else sys.stdout
    width = min(columns(stream), NARROW)
    for line in page(found):
        text = inert(said(line), encoding_of(stream))
        print(textwrap.fill(text, width, subsequent_indent="    ", **WHOLE_WORDS), file=stream)
    if found.interrupted:
        note(f"Stopped; the {found.made} trials so far are kept. Go on with the same command.")
    elif not found.points:
        note("No timed gate point gives a number here, so nothing was recorded. See: python -m harness list")
    elif not found.made:
        note(
            f"The budget was over after {found.seconds:.0f} s, before one trial could begin; nothing was recorded. "
            "Give it more: python -m harness calibrate --budget 20m"
        )
    elif found.path is not None:
        where = found.path.parent.relative_to(root).as_posix()
        note(f"A gate reads it once it is committed: git add {where} && git commit --message Calibrated")


def _plain(found: Calibrated) -> dict[str, Any]:
    return {
        "schema": "harness.calibrated/1",
        "machine": found.slug,
        "made": found.made,
        "before": found.before,
        "after": found.after,
        "points": list(found.points),
        "left_out": list(found.left_out),
        "interrupted": found.interrupted,
        "seconds": found.seconds,
        "calibration": found.document,
    }
