"""``authority``: generate every published number, or check them. Arguments in, text and an exit code out.

What is true is decided in ``harness.jobs``. Whatever the command needs is imported when it runs; to measure a number
again is the business of :mod:`harness.cli.authority_repro`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit
from harness.cli.words import parameter

if TYPE_CHECKING:
    from harness.jobs.authority_findings import Finding

__all__ = ["add_parser", "print_findings"]

_EPILOG = """\
authority writes BENCHMARK-AUTHORITY.md and fills, in README.md and docs/, the
blocks between
  <!-- authority:begin NAME kpis=a,b [points=all] [machine=SLUG] -->
  <!-- authority:end -->
and the constants <!--=package.module:NAME format-->TEXT<!--=-->.
"""


def add_parser(commands: Any) -> None:
    """Add ``authority`` to the command line."""
    words = "generate every published number from committed runs, or check them"
    parser = commands.add_parser(
        "authority",
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a number is not what it says")
    parser.add_argument("--strict", action="store_true", help="check, and fail on stale numbers too, as for a release")
    parser.set_defaults(handler=_authority)
    below = parser.add_subparsers(dest="what", metavar="[repro KPI]", parser_class=type(parser))
    repro = below.add_parser(
        "repro",
        help="measure a committed number again",
        description="Measure a committed number again: an exact one to the digit, a timed one against its interval.",
        allow_abbrev=False,
    )
    repro.add_argument("kpi", metavar="KPI", help="its id, alias or symbol")
    again: dict[str, Any] = {"type": parameter, "action": "append", "default": []}
    repro.add_argument("--param", metavar="K=V", help="only this value; may be given again", **again)
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    repro.add_argument("--runtime", metavar="R", help="only numbers of this runtime", **several)
    repro.add_argument("--workload", metavar="FILE", help="only numbers taken from these recordings", **several)
    repro.set_defaults(handler=_repro)


def _repro(arguments: argparse.Namespace) -> Exit:
    from harness.cli.authority_repro import repro

    return repro(arguments)


def _authority(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.authority import PAGE, check, write
    from harness.project import load_project
    from harness.report.inert import inert

    root = load_project(Path.cwd()).root
    if arguments.check or arguments.strict:
        state, findings = check(root)
        return _report(findings, strict=arguments.strict, empty=not state.authority.artifacts)
    done = write(root)
    if done.unsound:
        print_findings(done.unsound)
        print("Nothing is written: a run file is not sound.")
        return Exit.FAILED
    print_findings(done.unread)
    stands = f"{PAGE} and the documents stand as they are."
    print(inert(f"Written: {', '.join(done.changed)}; commit them.") if done.changed else stands)
    return Exit.PARTLY_READ if done.unread else Exit.OK


def print_findings(findings: Iterable[Finding]) -> None:
    """Print each on a line, its kind first."""
    from harness.report.inert import inert
    from harness.report.naming import said

    for finding in findings:
        print(said(f"{finding.fault.value}: {inert(finding.sentence)}"))


def _report(findings: Sequence[Finding], *, strict: bool, empty: bool) -> Exit:
    """Print the findings: 1 where one fails, 4 where no run file is there to hold anything against."""
    from harness.jobs.authority_findings import Fault
    from harness.report.naming import said

    stale = [finding for finding in findings if finding.fault is Fault.STALE]
    failures = [finding for finding in findings if strict or finding.fault is not Fault.STALE]
    print_findings(failures)
    if stale and not strict:
        count = "1 number is stale and leads" if len(stale) == 1 else f"{len(stale)} numbers are stale and lead"
        print(said(f"{count} no table; see `python -m harness authority --check --strict`."))
    if failures:
        print(f"The authority fails the check: {len(failures)} to mend.")
        return Exit.FAILED
    if empty:
        print(said("No run file is committed, so no number is published; try `python -m harness run --all`."))
        return Exit.NO_BASELINE
    print("Every published number is what its run file says.")
    return Exit.OK
