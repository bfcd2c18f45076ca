"""``ratchet``: hold a run against the record of this machine, put one onto it, or let a row be for a while.

Parses, prints, and chooses the exit code; decides nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.run_inputs import files
from harness.cli.streams import say
from harness.cli.targets import foreign
from harness.cli.words import is_input

if TYPE_CHECKING:
    from harness.record.ratchet import RatchetFile

__all__ = ["add_parser", "exit_code"]


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; write it as 2031-01-31") from None


def add_parser(commands: Any) -> None:
    """Add ``ratchet`` to the command line."""
    parser = commands.add_parser(
        "ratchet",
        help="is a run as good as what is on record?",
        description="The committed record of this machine, baselines/<machine>/: check a run against it, accept one, "
        "or waive a row. Measures nothing.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="hold a run against the record", allow_abbrev=False)
    check.add_argument(
        "--run", metavar="FILE", help="this run file (default: the newest of everything on this machine)"
    )
    check.add_argument("--against", metavar="REV", help="what was red at this revision already is not blamed")
    check.add_argument("--strict", action="store_true", help="what is too thin or undecided fails (exit 1)")
    check.add_argument("--json", metavar="FILE", help="write the ratchet file here; - is standard output")
    check.add_argument("--verbose", action="store_true", help="name every row")
    check.set_defaults(handler=_check)
    accept = actions.add_parser("accept", help="put a run onto the record", allow_abbrev=False)
    accept.add_argument("kpi", nargs="*", metavar="KPI", help="only these rows; with --why they may move for the worse")
    accept.add_argument("--why", metavar="TEXT", help="the reason, which stays on record")
    accept.add_argument("--afresh", action="store_true", help="begin rows again that another machine or input made")
    accept.add_argument("--release", metavar="TAG", help="and anchor the record as that of a release")
    accept.add_argument("--run", metavar="FILE", help="this run file (default: as for check)")
    accept.set_defaults(handler=_accept)
    waive = actions.add_parser("waive", help="let rows not fail until a day", allow_abbrev=False)
    waive.add_argument("kpi", nargs="+", metavar="KPI", help="a KPI, or one row of it")
    waive.add_argument("--why", metavar="TEXT", required=True, help="the reason, shown in every report")
    waive.add_argument("--until", metavar="DATE", type=_day, required=True, help="the last day on which it holds")
    waive.set_defaults(handler=_waive)


def _today() -> date:
    return datetime.now(UTC).date()


def _check(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.ratchet import check
    from harness.jobs.rows import project_catalog
    from harness.project import load_project
    from harness.record.ratchet import encode
    from harness.record.store import write_atomic
    from harness.report.page import console_on
    from harness.report.ratchet_page import render_ratchet

    project = load_project(Path.cwd())
    target, to_stdout = arguments.json, arguments.json == "-"
    named = [] if arguments.run is None else [Path(arguments.run)]
    if target is not None and not to_stdout and is_input(target, [*named, *files((), project)]):
        say(f"--json {target} names an input and would replace it. Name a new file: --json ratchet.json")
        return Exit.UNUSABLE
    if (refused := foreign(target, "ratchet.json")) is not None:
        say(refused)
        return Exit.UNUSABLE
    catalog = project_catalog(project)
    file = None if arguments.run is None else Path(arguments.run)
    checked = check(project, catalog, file=file, against=arguments.against, today=_today())
    blob = encode(checked)
    # Stored before anything is shown: a reader that goes away must not cost the result.
    if to_stdout:
        sys.stdout.buffer.write(blob)
    elif target is not None:
        write_atomic(Path(target), blob)
    render_ratchet(checked, console_on(sys.stderr if to_stdout else sys.stdout), verbose=arguments.verbose)
    return exit_code(checked, strict=arguments.strict)


def exit_code(file: RatchetFile, *, strict: bool) -> Exit:
    """What the verdict says to the shell. Unknown never ends with 0.

    Rows that the catalog, the record and the run do not all hold are 5; rows without a comparable record, or a record
    that is too thin throughout, 4; whatever else is undecided 3, and 1 where it was asked to be strict.
    """
    from kpis.terms.claim import ClaimKind, Gap, VerdictBasis, VerdictState
    from kpis.terms.comparison import ComparisonWarn, State

    thin = any(row.state is State.THIN for row in file.rows)
    codes = {Exit.FAILED} if strict and thin else set()
    if file.verdict.state is VerdictState.PASS:
        return highest(codes)
    if file.verdict.state is VerdictState.FAIL:
        return Exit.FAILED
    undecided = Exit.FAILED if strict else Exit.UNKNOWN
    if not file.rows:
        codes.add(Exit.NO_BASELINE if file.notes else Exit.UNCOVERED)
    elif file.verdict.basis is VerdictBasis.NO_RULES:
        codes.add(Exit.NO_BASELINE if thin else Exit.UNCOVERED)
    for claim in file.claims:
        if claim.kind is ClaimKind.MEASUREMENT or claim.gap in (None, Gap.NEW):
            continue
        if claim.gap is Gap.REMOVED:
            codes.add(Exit.UNCOVERED)
        elif claim.gap is Gap.NO_BASELINE:
            codes.add(Exit.NO_BASELINE)
        else:
            codes.add(Exit.FAILED if claim.critical and claim.gap is Gap.VOID else undecided)
    for row in file.rows:
        left_out = any(notice.code is ComparisonWarn.LEFT_OUT for notice in row.warnings)
        if row.state is State.NEW and not left_out:
            codes.add(Exit.UNCOVERED)
    return highest(codes or {undecided})


def _accept(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.ratchet_accept import Asked, accept
    from harness.jobs.ratchet_move import Refusal
    from harness.jobs.rows import project_catalog
    from harness.project import load_project

    project = load_project(Path.cwd())
    asked = Asked(tuple(arguments.kpi), arguments.why, arguments.afresh, arguments.release)
    file = None if arguments.run is None else Path(arguments.run)
    done = accept(project, project_catalog(project), asked, file=file, today=_today())
    _put(f"accepted: {names}: {sentence}" for sentence, names in _grouped((name, told) for name, told in done.moved))
    _put(
        f"refused: {names}: {sentence}" for sentence, names in _grouped((name, told) for name, told, _ in done.refused)
    )
    kinds = {kind for _, _, kind in done.refused}
    if Refusal.WORSE in kinds:
        _put(["A row moves for the worse where it is named: python -m harness ratchet accept KPI --why TEXT"])
    where = ", ".join(path.relative_to(project.root).as_posix() for path in done.written)
    _put([f"Run {done.run}: {where} written." if where else f"Run {done.run}: nothing moved, nothing was written."])
    codes = {
        Refusal.WORSE: Exit.FAILED,
        Refusal.GONE: Exit.UNCOVERED,
        Refusal.UNLIKE: Exit.NO_BASELINE,
        Refusal.VOID: Exit.UNKNOWN,
        Refusal.SLOW: Exit.UNKNOWN,
        Refusal.LIMIT: Exit.OK,  # the record stays as it was, which is what it is for
    }
    return highest(codes[kind] for kind in kinds)


def _waive(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.ratchet_waive import NoRecordError, waive
    from harness.jobs.rows import project_catalog
    from harness.project import load_project

    project = load_project(Path.cwd())
    try:
        rows, _ = waive(
            project,
            project_catalog(project),
            arguments.kpi,
            why=arguments.why,
            until=arguments.until,
            today=_today(),
        )
    except NoRecordError as error:
        say(str(error))
        return Exit.NO_BASELINE
    _put([f"waived until {arguments.until}: {', '.join(rows)}"])
    return Exit.OK


def _grouped(told: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """(sentence, names) of rows that say the same, at most three of them by name."""
    groups: dict[str, list[str]] = {}
    for name, sentence in told:
        groups.setdefault(sentence, []).append(name)
    return [
        (sentence, ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
        for sentence, names in groups.items()
    ]


def _put(sentences: Iterable[str]) -> None:
    import textwrap

    from harness.report.inert import encoding_of, inert
    from harness.report.naming import said
    from harness.report.width import WHOLE_WORDS, columns

    for sentence in sentences:
        text = inert(said(sentence), encoding_of(sys.stdout))
        print(textwrap.fill(text, columns(sys.stdout), subsequent_indent="    ", **WHOLE_WORDS))
