"""``gate``: compare the working tree with a revision, and end with an exit code that a workflow can act on."""

from __future__ import annotations

import argparse
import signal
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.run_inputs import files
from harness.cli.stopping import stopping
from harness.cli.streams import note, say
from harness.cli.targets import foreign
from harness.cli.words import duration_s, is_input

if TYPE_CHECKING:
    from harness.record.gate import GateFile

__all__ = ["add_parser", "exit_code"]


def _injection(text: str) -> tuple[str, float]:
    point, equals, factor = text.rpartition("=")
    try:
        value = float(factor)
    except ValueError:
        value = 0.0
    if not equals or not point or not 1.0 < value <= 4.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form POINT=1.10 (a factor above 1, at most 4)")
    return point, value


def add_parser(commands: Any) -> None:
    """Add ``gate`` to the command line."""
    parser = commands.add_parser(
        "gate",
        help="is this tree slower than a revision?",
        description="Compare the working tree with the merge base of REV, in pairs of fresh processes.",
        allow_abbrev=False,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--against", metavar="REV", help="the revision to compare with")
    what.add_argument(
        "--from", nargs=2, metavar=("A.json", "B.json"), help="compare two pyperf or pytest-benchmark files"
    )
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    parser.add_argument("--layer", metavar="L", help="only these layers", **several)
    parser.add_argument("--kpi", metavar="ID", help="only these KPIs", **several)
    parser.add_argument(
        "--pytest", metavar="PATH", help="in place of KPIs: the tests at PATH that use pytest-benchmark's fixture"
    )
    parser.add_argument("--params", choices=("gate", "all"), default="gate", help="all: time every parameter point")
    parser.add_argument(
        "--budget", type=duration_s, metavar="3m", help="stop timing after this long; what is open stays open"
    )
    parser.add_argument("--all", action="store_true", help="time points whose files are the same on both sides, too")
    parser.add_argument("--exact", action="store_true", help="count instructions and allocations of every timed point")
    parser.add_argument(
        "--plan", action="store_true", help="say what would be timed and what that could see; time nothing"
    )
    parser.add_argument("--strict", action="store_true", help="what cannot be decided fails (exit 1)")
    parser.add_argument(
        "--inject", type=_injection, action="append", default=[], metavar="POINT=X", help="self-test: slow a point down"
    )
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted gate of the same trees")
    parser.add_argument("--json", metavar="FILE", help="write the gate file here; - is standard output")
    parser.add_argument("--verbose", action="store_true", help="name every built-in KPI beside the project's own")
    parser.set_defaults(handler=_gate)


def _gate(arguments: argparse.Namespace) -> Exit:
    if vars(arguments)["from"] is not None:
        from harness.cli.gate_from import compare_files

        return compare_files(arguments)
    return _against(arguments)


def _against(arguments: argparse.Namespace) -> Exit:
    from harness.gating.options import GateOptions
    from harness.jobs.calibrated import observed_at
    from harness.jobs.gate import gate
    from harness.jobs.rows import project_catalog
    from harness.project import load_project
    from harness.record.gate import encode
    from harness.record.store import StoreError, write_atomic
    from harness.report.gate_page import render_gate
    from harness.report.inert import inert
    from harness.report.naming import said
    from harness.report.page import console_on
    from harness.report.progress import Progress
    from harness.report.width import WHOLE_WORDS, columns

    if arguments.plan and arguments.json is not None:
        say("--plan times nothing, so there is no gate file to write: leave out --json.")
        return Exit.UNUSABLE
    project = load_project(Path.cwd())
    catalog = project_catalog(project)
    tests = None if arguments.pytest is None else _tests(project.root, arguments)
    options = GateOptions(
        against=arguments.against,
        layers=tuple(arguments.layer),
        kpis=tuple(arguments.kpi),
        pytest=tests,
        all_params=arguments.params == "all",
        time_unchanged=arguments.all,
        exact_legs=arguments.exact,
        plan=arguments.plan,
        budget_s=arguments.budget,
        strict=arguments.strict,
        inject=dict(arguments.inject),
        resume=arguments.resume,
    )
    if arguments.json not in (None, "-") and is_input(arguments.json, files((), project)):
        say(f"--json {arguments.json} would write over a file of the project. Name another file.")
        return Exit.UNUSABLE
    if (refused := foreign(arguments.json, "gate.json")) is not None:
        say(refused)
        return Exit.UNUSABLE
    with stopping(KeyboardInterrupt) as heard:
        try:
            with Progress(arguments.budget or 60.0) as progress:
                gated = gate(
                    project,
                    catalog,
                    options,
                    argv=arguments.words,
                    on_step=lambda what, share: progress.show(what, round(share * 100), 100),
                    on_note=progress.say if sys.stderr.isatty() else note,
                )
        except KeyboardInterrupt:
            say("Stopped; the pairs so far are kept. Go on with the same command and --resume.")
            return Exit.TERMINATED if heard and heard[0] != signal.SIGINT else Exit.INTERRUPTED
    to_stdout = arguments.json == "-"
    for sentence in gated.notes:
        say(sentence)
    if arguments.plan:
        for sentence in gated.foresight:
            print(textwrap.fill(inert(said(sentence)), columns(sys.stdout), subsequent_indent="  ", **WHOLE_WORDS))
        return Exit.OK
    blob = encode(gated.file)
    trouble = gated.trouble
    if to_stdout:
        sys.stdout.buffer.write(blob)
    elif arguments.json is not None:
        try:
            write_atomic(Path(arguments.json), blob)
        except StoreError as error:
            trouble = trouble or error
    built_in = {kpi.id for kpi in catalog if kpi.origin == "catalog"}
    page = console_on(sys.stderr if to_stdout else sys.stdout)
    told = None if tests is not None else observed_at(project.root, gated.file)
    render_gate(gated.file, page, built_in=built_in, verbose=arguments.verbose, observed=told)
    if trouble is not None:
        sys.stdout.flush()
        raise trouble  # after the page: the pairs took minutes, and what they say is not lost with a file
    return exit_code(gated.file, strict=arguments.strict)


def _tests(root: Path, arguments: argparse.Namespace) -> str:
    """``--pytest PATH`` (a path, or a node id), relative to the project's root."""
    from harness.project import ProjectError

    if arguments.layer or arguments.kpi:
        raise ProjectError(
            "--pytest compares tests in place of KPIs, so it does not go with --layer or --kpi. Leave them out: "
            f"python -m harness gate --against {arguments.against} --pytest {arguments.pytest}"
        )
    named: str = arguments.pytest
    path, colons, rest = named.partition("::")
    file = Path.cwd() / path
    if not file.exists() or not file.resolve().is_relative_to(root.resolve()):
        raise ProjectError(f"There are no tests at {path} in the project {root}. Look with: ls {path}")
    return file.resolve().relative_to(root.resolve()).as_posix() + colons + rest


def exit_code(file: GateFile, *, strict: bool) -> Exit:
    """What the verdict says to the shell. Unknown never ends with 0.

    A critical row that is void fails outright; whatever else is undecided is 3, or 1 where it was asked to be strict;
    a gate that compared nothing, and one whose points are gone, is 5. Of several codes the highest applies, whatever
    layer the verdict names first. What only reports counts for nothing here.
    """
    from kpis.terms.claim import ClaimKind, Gap, VerdictBasis, VerdictState

    verdict = file.verdict
    if verdict.state is VerdictState.PASS:
        return Exit.OK
    if verdict.state is VerdictState.FAIL:
        return Exit.FAILED
    undecided = Exit.FAILED if strict else Exit.UNKNOWN
    codes = {Exit.UNCOVERED} if verdict.basis is VerdictBasis.NO_RULES else set()
    for claim in file.claims:
        if claim.kind is ClaimKind.MEASUREMENT or claim.gap in (None, Gap.NEW):
            continue
        if claim.gap is Gap.REMOVED:
            codes.add(Exit.UNCOVERED)
        else:
            codes.add(Exit.FAILED if claim.critical and claim.gap is Gap.VOID else undecided)
    return highest(codes or {undecided})
