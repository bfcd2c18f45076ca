"""The command line's grammar: every command with its words, and errors that end in the next command to type."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from harness import __version__
from harness.cli.exits import Exit
from harness.report.inert import inert
from harness.report.naming import named, program

__all__ = ["parser"]

# Plain ASCII: it is what somebody reads whose terminal cannot show more.
_EPILOG = """\
exit codes: 0 pass; 1 a check failed; 2 unusable command line or input;
3 unknown or void; 4 no baseline; 5 nothing selected, or coverage differs;
6 some input unreadable; 70 internal or unwritable; 130/143 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """argparse, with errors that end in the next command to type."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        sentence = inert(message[:1].upper() + message[1:].rstrip("."))
        see = program() + self.prog.removeprefix(named())  # what is typed may need the path of the script
        self.exit(Exit.UNUSABLE, f"{self.prog}: {sentence}. See: {see} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:
            file.write(message)  # argparse would hide that the help was lost
        else:
            super()._print_message(message, file)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets ``handler`` to what runs it."""
    import harness.cli.authority as authority_command
    import harness.cli.calibrate as calibrate_command
    import harness.cli.doctor as doctor_command
    import harness.cli.evaluate as evaluate_command
    import harness.cli.gate as gate_command
    import harness.cli.init as init_command
    import harness.cli.listing as listing_commands
    import harness.cli.ratchet as ratchet_command
    import harness.cli.replay as replay_command
    import harness.cli.run as run_command
    import harness.cli.schema as schema_command

    whole = _Parser(
        prog=named(),
        description="Benchmark harness and KPI registry for agent runtimes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"loopladder {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    run_command.add_parser(commands)
    gate_command.add_parser(commands)
    ratchet_command.add_parser(commands)
    calibrate_command.add_parser(commands)
    replay_command.add_parser(commands)
    evaluate_command.add_parser(commands)
    init_command.add_parser(commands)
    listing_commands.add_parsers(commands)
    authority_command.add_parser(commands)
    doctor_command.add_parser(commands)
    hook = commands.add_parser("hook", help="decide one tool call from standard input", add_help=False)
    hook.add_argument("rest", nargs=argparse.REMAINDER)
    schema_command.add_parser(commands)
    return whole
