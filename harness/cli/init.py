"""``init``: set a project up for its first gate, and run it once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.cli.exits import Exit

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Add ``init`` to the command line."""
    words = "a first KPI, its probe and a gate for this project"
    parser = commands.add_parser("init", help=words, description=f"Write {words}; run the gate once.")
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="what to measure first")
    parser.add_argument("--args", default="", help="arguments to call it with, as plain values: \"3, 'x'\"")
    parser.add_argument("--no-gate", action="store_true", help="write the files only")
    parser.set_defaults(handler=_init)


def _init(arguments: argparse.Namespace) -> Exit:
    from harness.jobs.init import InitError, check_for, files_for, find_target, require_absent, write_files
    from harness.project import load_project
    from harness.report.inert import inert
    from harness.report.naming import said

    root = load_project(Path.cwd()).root
    try:
        pyproject = root / "pyproject.toml"
        if pyproject.is_file() and "[tool.harness]" in pyproject.read_text(encoding="utf-8"):
            raise InitError("pyproject.toml has a [tool.harness] table already. See: python -m harness list")
        target = find_target(root, arguments.function, arguments.args)
        require_absent(root)  # before anything of the project is run
        check = check_for(root, target)
        written = write_files(root, files_for(target, check))
    except InitError as error:
        print(f"loopladder: {said(str(error))}", file=sys.stderr)
        return Exit.UNUSABLE
    print("Wrote " + ", ".join(written) + ".")
    if check.expression is not None:
        print(f"The probe checks: {inert(check.expression)}")
    else:
        print(f"The probe checks nothing yet: {inert(check.why)}.")
    if arguments.no_gate:
        print(said(f"Next: python -m harness gate --against HEAD --kpi {target.kpi} --all"))
        return Exit.OK
    print(said(f"Now: python -m harness gate --against HEAD --kpi {target.kpi} --all"), flush=True)
    from harness.cli.main import main

    return Exit(main(["gate", "--against", "HEAD", "--kpi", target.kpi, "--all"]))
