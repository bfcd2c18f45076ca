"""``loopladder`` and ``python -m harness``: parse, dispatch, and turn an error into one sentence and an exit code.

Each command imports what it needs when it runs, so that ``list``, ``explain`` and ``--help`` answer at once.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from harness import __version__
from harness.cli.exits import Exit
from harness.report.naming import program, said, set_program

__all__ = ["main"]

_EPILOG = """\
exit codes: 0 pass · 1 a check failed · 2 unusable command line or input
3 unknown or void · 4 no baseline · 5 nothing selected, or coverage differs
6 some input unreadable · 70 internal or unwritable · 130/143 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """argparse, with errors that end in the next command to type."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        sentence = message[:1].upper() + message[1:].rstrip(".")
        self.exit(Exit.UNUSABLE, f"{self.prog}: {sentence}. See: {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    import harness.cli.doctor as doctor_command
    import harness.cli.gate as gate_command
    import harness.cli.listing as listing_commands
    import harness.cli.run as run_command

    parser = _Parser(
        prog=program(),
        description="Benchmark harness and KPI registry for agent runtimes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"loopladder {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    run_command.add_parser(commands)
    gate_command.add_parser(commands)
    listing_commands.add_parsers(commands)
    doctor_command.add_parser(commands)
    hook = commands.add_parser("hook", help="decide one tool call from standard input", add_help=False)
    hook.add_argument("rest", nargs=argparse.REMAINDER)
    schema = commands.add_parser("schema", help="print a published JSON Schema")
    schema.add_argument("name", choices=("run", "kpi"), help="run: the run file; kpi: a user's KPI table")
    schema.set_defaults(handler=_schema)
    return parser


def _schema(arguments: argparse.Namespace) -> Exit:
    import json

    if arguments.name == "run":
        from harness.record.run import schema
    else:
        from kpis.schema import kpi_schema as schema
    print(json.dumps(schema(), indent=1, sort_keys=True))
    return Exit.OK


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    set_program(sys.argv[0])
    if words[:1] == ["hook"]:
        # Its start-up is a measured baseline: it must not pay for the other commands' parsers.
        from harness.cli.hook import main as hook_main

        return int(hook_main(words[1:]))
    try:
        code = int(_dispatch(words))
        sys.stdout.flush()
    except SystemExit as leaving:  # argparse has said what it had to say
        return int(leaving.code or 0) if isinstance(leaving.code, int | None) else int(Exit.UNUSABLE)
    except BrokenPipeError:
        _silence_stdout()
        return int(Exit.OK)
    except OSError as error:
        # Standard output on a full disk, or a file that vanished: what was measured is stored by then.
        _silence_stdout()
        _complain(f"The output could not be written: {error.strerror or error}.")
        return int(Exit.INTERNAL)
    except Exception:
        import traceback

        with contextlib.suppress(OSError):
            traceback.print_exc()
        _complain("This is a fault of loopladder itself, not of your input; what was measured is in .harness/runs.")
        return int(Exit.INTERNAL)
    return code


def _dispatch(words: list[str]) -> int:
    parser = _parser()
    arguments = parser.parse_args(words)
    if arguments.command is None:
        parser.print_help()
        return Exit.UNUSABLE
    arguments.words = words
    try:
        return int(arguments.handler(arguments))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as error:
        if not isinstance(error, _expected_errors()):
            raise
        _complain(str(error))
        return Exit.UNUSABLE


def _expected_errors() -> tuple[type[Exception], ...]:
    """Errors whose text is a whole sentence for the user; anything else is a fault of ours and keeps its traceback."""
    from harness.formats.limits import FormatError
    from harness.project import ProjectError
    from harness.record.lock import Busy
    from harness.record.run import RunFileError
    from harness.record.store import StoreError
    from harness.subject import SubjectError
    from kpis.errors import CatalogError, SelectionError

    return (FormatError, ProjectError, Busy, RunFileError, StoreError, SubjectError, CatalogError, SelectionError)


def _complain(sentence: str) -> None:
    with contextlib.suppress(OSError):
        print(f"loopladder: {said(sentence)}", file=sys.stderr)


def _silence_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's own flush at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
