"""What ``run`` is given by name: runtimes, workloads, and the files that must not be written over.

Whatever is given twice is measured once, and whatever cannot be read is told in a sentence; both are said here, and
the exit code is chosen by the command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.formats.workload import LoadedWorkload
    from harness.project import Project

__all__ = ["files", "kept", "read_runtimes", "read_workloads", "say_issues"]

_LOST = re.compile(r": E_(?:BAD|LONG|TORN)_LINE: (?:(\d+) lines |Line \d|The file ends in the middle)")
"""What a reader says of lines that it had to leave out; of NUL bytes after the last line it says something else."""


def files(workloads: Sequence[str], project: Project) -> list[Path]:
    """Every file that a run is made from or was written from one, whether or not it can be read."""
    from harness.project import plugin_kpi_files
    from kpis.registry import CATALOG

    own = [project.root / "pyproject.toml", *project.kpi_files, *plugin_kpi_files().values(), *CATALOG.glob("*.toml")]
    return [*map(Path, workloads), *own, *kept(project.root)]


def kept(root: Path) -> list[Path]:
    """What the project in ``root`` keeps: its documents, the record of its machines, and the runs that it has made."""
    from harness.jobs.authority import PAGE
    from harness.jobs.catalog import PAGE as CATALOG_PAGE
    from harness.record.store import runs

    pages = [root / name for name in (PAGE, CATALOG_PAGE, "README.md")]
    return [*pages, *(root / "docs").rglob("*.md"), *(root / "baselines").glob("*/**/*"), *runs(root)]


def read_runtimes(names: Sequence[str]) -> list[tuple[str, str]]:
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


def say_issues(loaded: LoadedWorkload) -> bool:
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


def read_workloads(names: Sequence[str]) -> tuple[list[LoadedWorkload], int]:
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
