"""``run``: measure KPIs and show them. Parses, reports progress, prints, chooses the exit code; decides no number."""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.streams import lost, say, silence
from harness.cli.words import duration_s, is_input, parameter

if TYPE_CHECKING:
    from harness.formats.workload import LoadedWorkload
    from harness.jobs.plan import Plan
    from harness.jobs.run import Finished
    from harness.project import Project
    from kpis.registry import Catalog

__all__ = ["add_parser"]

_LOST = re.compile(r": E_(?:BAD|LONG|TORN)_LINE: (?:(\d+) lines |Line \d|The file ends in the middle)")
"""What a reader says of lines that it had to leave out; of NUL bytes after the last line it says something else."""


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
    from harness.project import load_project

    if not (arguments.layer or arguments.kpi or arguments.all):
        say("Say what to measure: --layer turn, --kpi ID or --all. See: python -m harness list")
        return Exit.UNUSABLE
    if arguments.dry_run and (arguments.json or arguments.resume):
        say("--dry-run prints a plan and measures nothing: leave out --json and --resume.")
        return Exit.UNUSABLE
    project = load_project(Path.cwd())
    catalog = project_catalog(project)
    if arguments.json not in (None, "-") and is_input(arguments.json, _inputs(arguments, project)):
        say(
            f"--json {arguments.json} names an input, which the run file would replace. Name a new file: --json run.json"
        )
        return Exit.UNUSABLE
    codes: list[Exit] = []
    workloads, unread = _workloads(arguments.workload)
    if unread and not workloads:
        return Exit.UNUSABLE
    lost = [_say_issues(load) for load in workloads]  # all of them are said, whichever lost lines
    if unread or any(lost):
        codes.append(Exit.PARTLY_READ)
    runtimes = _runtimes(arguments.runtime or [project.runtime or "reference"])
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
    if arguments.dry_run:
        from harness.report.plan_page import plan_text

        print(plan_text(plan))
        return highest(codes)
    return _measure(arguments, project, catalog, plan, workloads, params, codes)


def _inputs(arguments: argparse.Namespace, project: Project) -> list[Path]:
    """Every file that the run is made from, whether or not it can be read."""
    from harness.project import plugin_kpi_files
    from kpis.registry import CATALOG

    own = [project.root / "pyproject.toml", *project.kpi_files, *plugin_kpi_files().values(), *CATALOG.glob("*.toml")]
    return [*map(Path, arguments.workload), *own]


def _runtimes(names: Sequence[str]) -> list[tuple[str, str]]:
    """Name and reference of each runtime; one that is given twice, under two names too, is measured once.

    Raises:
        ProjectError: there is no such runtime.
    """
    from harness.project import runtime_reference

    found: dict[str, str] = {}
    for name in names:
        shown, reference = runtime_reference(name)
        if reference in found:
            same = "" if found[reference] == shown else f" (as {found[reference]})"
            say(f"The runtime {shown} is given twice{same}; it is measured once.")
        else:
            found[reference] = shown
    return [(shown, reference) for reference, shown in found.items()]


def _say_issues(loaded: LoadedWorkload) -> bool:
    """Say in one sentence what the reader found amiss in a workload; whether lines of it were lost."""
    if not loaded.issues:
        return False
    file, _, first = loaded.issues[0].partition(": ")
    lost = [(match, issue) for issue in loaded.issues if (match := _LOST.search(issue)) is not None]
    if not lost:
        others = f" (and {len(loaded.issues) - 1} more)" if len(loaded.issues) > 1 else ""
        say(f"{file} was read with a remark: {first.partition(': ')[2]}{others}")
        return False
    lines = sum(int(match[1] or 1) for match, _ in lost)
    first = lost[0][1][lost[0][0].start() :].partition(": ")[2].partition(": ")[2]
    say(f"{lines} line{'s' * (lines != 1)} of {file} could not be read: {first}")
    return True


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
            say(str(error))
            unread += 1
            continue
        if any(other.workload.sha256 == one.workload.sha256 for other in loaded):
            say(f"{name} is given twice; it is measured once.")
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
    heard: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        # Only the first signal stops the measuring; a second one must not cut off the writing of what was measured.
        if not heard:
            heard.append(number)
            raise Interrupted(number)

    # What was ignored when we were started, as by nohup, stays ignored.
    ours = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, stop) for each in ours if signal.getsignal(each) is not signal.SIG_IGN}
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
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        say(_out_of_room(error, project))
        return Exit.INTERNAL
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return _show(arguments, catalog, finished, codes)


def _show(arguments: argparse.Namespace, catalog: Catalog, finished: Finished, codes: list[Exit]) -> Exit:
    from harness.record.run import encode
    from harness.record.store import write_atomic

    blob = encode(finished.run)
    to_stdout = arguments.json == "-"
    kept = "" if finished.path is None else f" The run is kept at {finished.path}."
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
            said.append((f"{error}{kept}", Exit.INTERNAL))
    try:
        _put(finished, catalog, blob if to_stdout else None)
    except BrokenPipeError:  # a reader that goes away is no error
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        said.append((lost(error) + kept, Exit.INTERNAL))
    for sentence, code in said:
        say(sentence)
        codes.append(code)
    undefined = [reading.undefined for reading in finished.run.readings if reading.undefined is not None]
    if any(item.reason.void for item in undefined) or len(undefined) == len(finished.run.readings):
        codes.append(Exit.UNKNOWN)
    return highest(codes)


def _put(finished: Finished, catalog: Catalog, blob: bytes | None) -> None:
    """The page on standard output; or ``blob`` there, and the page on standard error if that takes it.

    Raises:
        OSError: standard output does not take it.
    """
    from harness.report.page import console_on
    from harness.report.table import render_run

    if blob is None:
        render_run(finished.run, catalog, console_on(sys.stdout), path=finished.path)
    else:
        with contextlib.suppress(OSError):
            render_run(finished.run, catalog, console_on(sys.stderr), path=finished.path)
        sys.stdout.buffer.write(blob)
    sys.stdout.flush()


def _out_of_room(error: OSError, project: Project) -> str:
    """Why measuring could not begin or go on; what is in the journal by then is kept."""
    import errno
    import tempfile

    from harness.report.naming import typed

    again = "give the same command again"
    if any((project.root / ".harness" / "runs").glob("*.journal")):
        again += " with --resume, since what was measured is kept"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"Too many files are open for one more: raise the limit with `ulimit -n 1024`, then {again}."
    try:
        folder = tempfile.gettempdir()
    except OSError:
        return f"There is no folder for temporary files: set TMPDIR to one that can be written, then {again}."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        full = f"The folder for temporary files, {folder}, is full; see `df -h {typed(folder)}`"
        return f"{full}. Make room or set TMPDIR to another folder, then {again}."
    what = f" at {error.filename}" if error.filename else ""
    return f"It cannot be measured: {error.strerror or error}{what}. Mend that, then {again}."
