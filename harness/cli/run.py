"""``run``: measure KPIs and show them. Parses, reports progress, prints, chooses the exit code; decides no number."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.words import duration_s, parameter

if TYPE_CHECKING:
    from harness.formats.workload import LoadedWorkload
    from harness.jobs.plan import Plan
    from harness.jobs.run import Finished
    from harness.project import Project
    from kpis.registry import Catalog

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Add ``run`` to the command line."""
    parser = commands.add_parser(
        "run", help="measure KPIs", description="Measure KPIs in fresh worker processes.", allow_abbrev=False
    )
    what = parser.add_argument_group("what is measured")
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    what.add_argument("--layer", metavar="L", help="every KPI of these layers, and those of --kpi", **several)
    what.add_argument("--kpi", metavar="ID", help="these KPIs", **several)
    what.add_argument("--all", action="store_true", help="every KPI of every layer")
    again: dict[str, Any] = {"type": parameter, "action": "append", "default": []}
    what.add_argument("--param", metavar="K=V", help="only this value; may be given again", **again)
    what.add_argument("--runtime", metavar="R", help="module:factory or name", **several)
    what.add_argument("--workload", metavar="FILE", help="recorded runs to replay", **several)
    effort = parser.add_argument_group("how long it takes").add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="3 processes of 3 values a point")
    effort.add_argument("--full", action="store_true", help="25 processes of 5 values a point (default 12 of 5)")
    effort.add_argument("--budget", type=duration_s, metavar="60s", help="as many processes as fit")
    out = parser.add_argument_group("what comes out")
    out.add_argument("--dry-run", action="store_true", help="say what would be measured and how long it takes")
    out.add_argument("--resume", action="store_true", help="go on with an interrupted run of the same selection")
    out.add_argument("--json", metavar="FILE", help="write the run file here too; - is standard output")
    parser.set_defaults(handler=_run)


def _run(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.plan import make_plan
    from harness.jobs.rows import project_catalog
    from harness.project import load_project, runtime_reference

    if not (arguments.layer or arguments.kpi or arguments.all):
        _say("Say what to measure: --layer turn, --kpi ID or --all. See: python -m harness list")
        return Exit.UNUSABLE
    if arguments.dry_run and (arguments.json or arguments.resume):
        _say("--dry-run prints a plan and measures nothing: leave out --json and --resume.")
        return Exit.UNUSABLE
    project = load_project(Path.cwd())
    catalog = project_catalog(project)
    codes: list[Exit] = []
    workloads, unread = _workloads(arguments.workload)
    if unread:
        if not workloads:
            return Exit.UNUSABLE
        codes.append(Exit.PARTLY_READ)
    names = arguments.runtime or [project.runtime or "reference"]
    params: dict[str, list[str]] = {}
    for key, value in arguments.param:
        params.setdefault(key, []).append(value)
    plan = make_plan(
        catalog,
        layers=arguments.layer,
        kpis=arguments.kpi,
        params=params,
        runtimes=[runtime_reference(name) for name in names],
        workloads=workloads,
        effort=_effort(arguments),
    )
    if not plan.points:
        asked = ", ".join(arguments.kpi + arguments.layer) or "what was selected"
        _say(f"Nothing emits {asked} yet: every selected KPI is proposed. See: python -m harness list")
        return Exit.UNCOVERED
    if arguments.dry_run:
        from harness.report.plan_page import plan_text

        print(plan_text(plan))
        return highest(codes)
    return _measure(arguments, project, catalog, plan, workloads, params, codes)


def _workloads(names: Sequence[str]) -> tuple[list[LoadedWorkload], int]:
    """The workloads that could be read, and how many could not; a sentence for each of those."""
    from harness.formats.limits import FormatError
    from harness.formats.workload import load

    loaded: list[LoadedWorkload] = []
    unread = 0
    for name in names:
        try:
            one = load(Path(name))
        except FormatError as error:
            _say(str(error))
            unread += 1
            continue
        if any(other.workload.sha256 == one.workload.sha256 for other in loaded):
            _say(f"{name} is given twice; it is measured once.")
            continue
        loaded.append(one)
    return loaded, unread


def _effort(arguments: argparse.Namespace) -> Any:
    from harness.jobs import modes

    if arguments.budget is not None:
        return modes.budgeted(arguments.budget)
    if arguments.quick:
        return modes.QUICK
    return modes.FULL if arguments.full else modes.DEFAULT


def _measure(
    arguments: argparse.Namespace,
    project: Project,
    catalog: Catalog,
    plan: Plan,
    workloads: Sequence[LoadedWorkload],
    params: dict[str, list[str]],
    codes: list[Exit],
) -> Exit:
    from harness.jobs.run import Interrupted, run
    from harness.record.run import Selection
    from harness.report.progress import Progress

    selection = Selection(
        all=arguments.all,
        layers=list(arguments.layer),
        kpis=list(arguments.kpi),
        params=params,
        runtimes=list(arguments.runtime),
        workloads=[load.workload.name for load in workloads],
    )
    heard: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        # Only the first signal stops the measuring; a second one must not cut off the writing of what was measured.
        if not heard:
            heard.append(number)
            raise Interrupted(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    total = len(plan.points)
    try:
        with Progress(plan.estimate_s()) as progress:
            finished = run(
                project,
                catalog,
                plan,
                selection=selection,
                argv=arguments.words,
                resume=arguments.resume,
                on_step=lambda point, done: progress.show(point.kpi.id, round(done * total), total),
            )
    except Interrupted as stopped:
        return Exit(128 + stopped.number) if stopped.number in (2, 15) else Exit.TERMINATED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return _show(arguments, catalog, finished, codes)


def _show(arguments: argparse.Namespace, catalog: Catalog, finished: Finished, codes: list[Exit]) -> Exit:
    from harness.record.run import encode
    from harness.record.store import write_atomic
    from harness.report.page import console_on
    from harness.report.table import render_run

    blob = encode(finished.run)
    to_stdout = arguments.json == "-"
    said: list[tuple[str, Exit]] = []
    if finished.trouble is not None:
        said.append((f"Not everything could be stored: {finished.trouble}", Exit.INTERNAL))
    if finished.stopped_by is not None:
        code = Exit.INTERRUPTED if finished.stopped_by == signal.SIGINT else Exit.TERMINATED
        said.append(("Stopped; what was measured is kept. Go on with the same command and --resume.", code))
    if arguments.json is not None and not to_stdout:
        # Before the page: a reader of the page that goes away must not cost the file.
        try:
            write_atomic(Path(arguments.json), blob)
        except OSError as error:
            said.append((f"{error} The run is kept at {finished.path}.", Exit.INTERNAL))
    try:
        render_run(finished.run, catalog, console_on(sys.stderr if to_stdout else sys.stdout), path=finished.path)
    finally:
        for sentence, _ in said:
            _say(sentence)
    codes += [code for _, code in said]
    if to_stdout:
        sys.stdout.buffer.write(blob)
    undefined = [reading.undefined for reading in finished.run.readings if reading.undefined is not None]
    if any(item.reason.void for item in undefined) or len(undefined) == len(finished.run.readings):
        codes.append(Exit.UNKNOWN)
    return highest(codes)


def _say(sentence: str) -> None:
    from harness.report.naming import said

    print(f"loopladder: {said(sentence)}", file=sys.stderr)
