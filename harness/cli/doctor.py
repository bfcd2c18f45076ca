"""``doctor``: print what the job found, in words or as JSON. Exit code 0 whatever it finds: it is no gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from harness.cli.exits import Exit
from harness.cli.run_inputs import kept
from harness.cli.streams import say
from harness.cli.targets import foreign
from harness.cli.words import is_input

if TYPE_CHECKING:
    from harness.jobs.doctor import Diagnosis
    from harness.jobs.doctor_finding import Finding

__all__ = ["SCHEMA", "add_parser", "document", "in_words"]

SCHEMA = "harness.doctor/1"


def add_parser(commands: Any) -> None:
    """Add ``doctor`` to the command line."""
    parser = commands.add_parser(
        "doctor",
        help="what makes numbers noisy here, and what to do about it",
        description="Look at the machine, the clock and loopladder's own start-up. Takes a few seconds; changes "
        "nothing.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="the findings as JSON; FILE or standard output"
    )
    parser.set_defaults(handler=_doctor)


def _doctor(arguments: argparse.Namespace) -> Exit:
    import json

    from harness.jobs.doctor import examine
    from harness.record.store import find_root, write_atomic
    from harness.report.width import columns

    root = find_root(Path.cwd())
    if arguments.json not in (None, "-") and is_input(arguments.json, [root / "pyproject.toml", *kept(root)]):
        say(f"--json {arguments.json} names the project's own file. Name a new one: --json doctor.json")
        return Exit.UNUSABLE
    if (refused := foreign(arguments.json, "doctor.json")) is not None:
        say(refused)
        return Exit.UNUSABLE
    diagnosis = examine(root)
    words = in_words(diagnosis, columns(sys.stdout))
    blob = json.dumps(document(diagnosis), indent=1, sort_keys=True, allow_nan=False) + "\n"
    if arguments.json == "-":
        print(blob, end="")
        return Exit.OK
    if arguments.json is not None:
        write_atomic(Path(arguments.json), blob.encode("ascii"))
    print(inert_lines(words, sys.stdout))
    return Exit.OK


def inert_lines(text: str, stream: IO[str]) -> str:
    """Each line of ``text`` inert: error lines of other programs are quoted in it."""
    from harness.report.inert import encoding_of, inert

    return "\n".join(inert(line, encoding_of(stream)) for line in text.split("\n"))


def in_words(diagnosis: Diagnosis, width: int) -> str:
    """The findings, the noisy ones first, wrapped to ``width`` columns; ours by themselves; last the next command."""
    from harness.jobs.doctor_finding import Severity
    from harness.report.naming import command

    titles = {Severity.NOISY: "Noisy", Severity.NOTE: "Worth knowing", Severity.GOOD: "In order"}
    width = max(40, width)
    lines = [f"This machine is {diagnosis.slug}."]
    for severity, title in titles.items():
        chosen = [finding for finding in diagnosis.findings if finding.severity is severity and not finding.own]
        lines += _block(f"{title}:", chosen, width)
    own = [finding for severity in titles for finding in diagnosis.findings if finding.severity is severity]
    lines += _block("Start-up of loopladder itself:", [finding for finding in own if finding.own], width)
    lines += ["", f"Next: {command(['run', '--layer', 'turn', '--quick'])}"]
    return "\n".join(lines)


def _block(title: str, findings: Sequence[Finding], width: int) -> list[str]:
    import textwrap

    from harness.report.naming import said

    lines = ["", title] if findings else []
    for finding in findings:
        text = finding.fact if finding.advice is None else f"{finding.fact} {finding.advice}"
        lines += textwrap.wrap(
            said(text),
            width,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def document(diagnosis: Diagnosis) -> dict[str, Any]:
    """The same as plain data: ``harness.doctor/1``."""
    from dataclasses import asdict

    return {
        "schema": SCHEMA,
        "machine": {"slug": diagnosis.slug, "fingerprint": diagnosis.fingerprint},
        "noise": diagnosis.noise,
        "environment": diagnosis.environment,
        "clock": diagnosis.clock,
        "startup": [
            {**asdict(each), "times_ns": list(each.times_ns), "median_ns": each.median_ns} for each in diagnosis.startup
        ],
        "findings": [
            {"severity": each.severity.value, "fact": each.fact, "advice": each.advice, "own": each.own}
            for each in diagnosis.findings
        ],
    }
