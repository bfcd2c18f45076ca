"""``authority repro KPI``: measure a committed number again, and say whether it is reproduced.

What may be compared, and what comes of it, is decided in :mod:`harness.jobs.authority_repro`. The run is stored as any
other is, so that nothing measured is lost.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.authority import print_findings
from harness.cli.exits import Exit, highest
from harness.cli.stopping import stopping
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.formats.workload import LoadedWorkload
    from harness.jobs.plan import Plan
    from harness.project import Project
    from harness.record.run import Run
    from harness.report.authority_rows import Row
    from kpis.registry import Catalog

__all__ = ["repro"]


class _Stopped(Exception):  # noqa: N818 - a signal is no fault
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def repro(arguments: argparse.Namespace) -> Exit:
    """Measure the numbers of one KPI again: 0 reproduced, 1 not, 3 undecided, 4 nothing comparable here."""
    from harness.cli.run_inputs import read_workloads
    from harness.jobs.authority_artifacts import artifacts_of
    from harness.jobs.authority_repro import Outcome, chosen, repeat, repro_plan
    from harness.jobs.authority_sources import Sources
    from harness.jobs.rows import project_catalog
    from harness.measure import machine
    from harness.project import load_project
    from harness.report.authority_rows import newest_rows

    project = load_project(Path.cwd())
    catalog = project_catalog(project)
    kpi = catalog.get(arguments.kpi).id
    workloads, unread = read_workloads(arguments.workload)
    if unread:
        return Exit.UNUSABLE
    artifacts, unsound = artifacts_of(project.root)
    print_findings(unsound)
    params: dict[str, list[str]] = {}
    for key, value in arguments.param:
        params.setdefault(key, []).append(value)
    every = newest_rows(artifacts, catalog, Sources(project, catalog).marks)
    rows = chosen(every, kpi, params=params, runtimes=arguments.runtime, workloads=workloads)
    if not rows:
        say(f"No committed run holds a number of {kpi} as asked for. See what is there: python -m harness authority")
        return Exit.FAILED if unsound else Exit.NO_BASELINE

    def measure(near: Sequence[Row]) -> Run:
        plan = repro_plan(catalog, near, params=params, workloads=workloads)
        return _measured(arguments, project, catalog, plan, params, workloads)

    try:
        found = repeat(rows, machine.fingerprint(), workloads, measure)
    except _Stopped as stopped:
        say("Stopped; what was measured is kept. Give the same command again.")
        return Exit.INTERRUPTED if stopped.number == signal.SIGINT else Exit.TERMINATED
    for each in found:
        _line(f"{each.outcome.value}: {each.sentence}.")
    if any(each.row.reading.distribution is not None and each.outcome is not Outcome.ELSEWHERE for each in found):
        _line(
            "Allowed is the committed interval, stretched about its median by the square root of 1 + n/m for one new "
            "median (n processes then, m now). What a machine wanders by between sessions is not in it."
        )
    codes = {
        Outcome.DIFFERS: Exit.FAILED,
        Outcome.UNKNOWN: Exit.UNKNOWN,
        Outcome.ELSEWHERE: Exit.NO_BASELINE,
    }
    return highest([*(codes.get(each.outcome, Exit.OK) for each in found), *([Exit.FAILED] if unsound else [])])


def _line(sentence: str) -> None:
    import textwrap

    from harness.report.inert import inert
    from harness.report.naming import said
    from harness.report.width import WHOLE_WORDS, columns

    print(textwrap.fill(said(inert(sentence)), columns(sys.stdout), subsequent_indent="  ", **WHOLE_WORDS))


def _measured(
    arguments: argparse.Namespace,
    project: Project,
    catalog: Catalog,
    plan: Plan,
    params: dict[str, list[str]],
    workloads: Sequence[LoadedWorkload],
) -> Run:
    """The plan, measured and stored as any run is.

    Raises:
        _Stopped: a signal asked to stop; what was measured is stored.
    """
    from harness.jobs.run import Interrupted, run
    from harness.record.run import Selection
    from harness.report.progress import Progress

    selection = Selection(
        all=False,
        layers=[],
        kpis=[arguments.kpi],
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
                    on_step=lambda point, done: progress.show(point.kpi.id, round(done * total), total),
                )
        except Interrupted as stopped:
            raise _Stopped(stopped.number) from None
    if finished.stopped_by is not None:
        raise _Stopped(finished.stopped_by)
    if finished.trouble is not None:
        say(finished.trouble)
    return finished.run
