"""``run``: measure KPIs and show them. Parses, reports progress, prints, chooses the exit code; decides no number."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.run_end import out_of_room, show
from harness.cli.run_inputs import files, read_runtimes, read_workloads, say_issues
from harness.cli.stopping import stopping
from harness.cli.streams import say
from harness.cli.targets import foreign
from harness.cli.words import duration_s, hook_command, is_input, parameter

if TYPE_CHECKING:
    from harness.formats.workload import LoadedWorkload
    from harness.jobs.plan import Plan
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
    what.add_argument(
        "--hook",
        metavar="CMD",
        type=hook_command,
        help="start this for each decision, in the place of our own hook; in a world other than the default, as that "
        "of the shipped workload is, `--world W` is appended to CMD",
    )
    effort = parser.add_argument_group("how long it takes").add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="3 processes of 3 values a point")
    effort.add_argument("--full", action="store_true", help="25 processes of 5 values a point (default 12 of 5)")
    effort.add_argument("--budget", type=duration_s, metavar="60s", help="as many processes as fit")
    out = parser.add_argument_group("what comes out")
    out.add_argument("--dry-run", action="store_true", help="say what would be measured and how long it takes")
    out.add_argument("--resume", action="store_true", help="go on with an interrupted run of the same selection")
    out.add_argument("--json", metavar="FILE", help="write the run file here too; - is standard output")
    out.add_argument("--verbose", action="store_true", help="name the built-in KPIs that the runtime does not offer")
    parser.set_defaults(handler=_run)


def _run(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.plan import make_plan
    from harness.jobs.rows import project_catalog
    from harness.project import load_project

    if not (arguments.layer or arguments.kpi or arguments.all):
        say("Say what to measure: --layer turn, --kpi ID or --all. See: python -m harness list")
        return Exit.UNUSABLE
    if arguments.dry_run and (arguments.json or arguments.resume):
        say("--dry-run prints a plan and measures nothing: leave out --json and --resume.")
        return Exit.UNUSABLE
    project = load_project(Path.cwd())
    catalog = project_catalog(project)
    if arguments.json not in (None, "-") and is_input(arguments.json, files(arguments.workload, project)):
        say(f"--json {arguments.json} names an input and would replace it. Name a new file: --json run.json")
        return Exit.UNUSABLE
    if (refused := foreign(arguments.json, "run.json")) is not None:
        say(refused)
        return Exit.UNUSABLE
    codes: list[Exit] = []
    workloads, unread = read_workloads(arguments.workload)
    if unread and not workloads:
        return Exit.UNUSABLE
    lost = [say_issues(load) for load in workloads]  # all of them are said, whichever lost lines
    if unread or any(lost):
        codes.append(Exit.PARTLY_READ)
    runtimes = read_runtimes(arguments.runtime or [project.runtime or "reference"])
    params: dict[str, list[str]] = {}
    for key, value in arguments.param:
        params.setdefault(key, []).append(value)
    plan = make_plan(
        catalog,
        layers=arguments.layer,
        kpis=arguments.kpi,
        params=params,
        runtimes=runtimes,
        workloads=workloads,
        effort=_effort(arguments),
    )
    if not plan.points:
        asked = ", ".join(arguments.kpi + arguments.layer) or "what was selected"
        say(f"Nothing emits {asked} yet: every selected KPI is proposed. See: python -m harness list")
        return Exit.UNCOVERED
    if arguments.hook is not None:
        from harness.jobs.own_hook import PARAM, with_hook

        hooked = with_hook(plan, arguments.hook)
        if hooked is None:
            say("--hook is given, and no selected KPI starts a hook. Add --kpi spawned_hook_baseline_p50_ns")
            return Exit.UNUSABLE
        plan, params = hooked, {**params, PARAM: [arguments.hook]}
    if arguments.dry_run:
        from harness.report.plan_page import plan_text

        print(plan_text(plan))
        return highest(codes)
    return _measure(arguments, project, catalog, plan, workloads, params, codes)


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
    from harness.record.store import StoreError
    from harness.report.progress import Progress

    selection = Selection(
        all=arguments.all,
        layers=list(arguments.layer),
        kpis=list(arguments.kpi),
        params=params,
        runtimes=list(arguments.runtime),
        workloads=[load.workload.name for load in workloads],
    )
    total = len(plan.points)
    with stopping(Interrupted):
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
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            say(out_of_room(error, project))
            return Exit.INTERNAL
    return show(arguments.json, catalog, finished, codes, verbose=arguments.verbose)
