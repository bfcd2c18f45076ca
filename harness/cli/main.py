"""``loopladder`` and ``python -m harness``: dispatch, and turn whatever happens into one sentence and an exit code.

Each command imports what it needs when it runs, so that ``list``, ``explain`` and ``--help`` answer at once; and this
module imports nothing at all before its guard against Ctrl-C stands.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # the one of typing costs its import
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130  # Exit.INTERRUPTED, which may not be imported yet


def _main(words: list[str]) -> int:
    from harness.report.naming import set_program

    set_program(sys.argv[0])
    if words[:1] == ["hook"]:
        # Its start-up is a measured baseline: it must not pay for the other commands' parsers.
        from harness.cli.hook import main as hook_main

        return int(hook_main(words[1:]))
    from harness.cli import streams

    streams.prepare()
    return _drained(_guarded(words))


def _guarded(words: list[str]) -> int:
    """The exit code of the command, whatever it raised."""
    from harness.cli.exits import Exit
    from harness.cli.streams import lost, say, silence

    try:
        return _dispatch(words)
    except SystemExit as leaving:  # argparse has said what it had to say
        return int(leaving.code or 0) if isinstance(leaving.code, int | None) else int(Exit.UNUSABLE)
    except OSError as error:
        # Standard output on a full disk, or a file that vanished: what was measured is stored by then. A reader that
        # goes away is no error at all here, see harness.cli.streams.
        silence(sys.stdout)
        say(_exhausted(error) or lost(error))
        return int(Exit.INTERNAL)
    except Exception:
        import contextlib
        import traceback

        with contextlib.suppress(OSError):
            traceback.print_exc()
        say("This is a fault of loopladder itself, not of your input; what was measured is in .harness/runs.")
        return int(Exit.INTERNAL)


def _dispatch(words: list[str]) -> int:
    from harness.cli.exits import Exit
    from harness.cli.parser import parser
    from harness.cli.streams import say

    grammar = parser()
    arguments = grammar.parse_args(words)
    if arguments.command is None:
        grammar.print_help()
        return Exit.UNUSABLE
    if not _has_folder(arguments):
        say("The current folder has been removed, so there is no project here. Go to one that exists: cd ~")
        return Exit.UNUSABLE
    arguments.words = words
    try:
        return int(arguments.handler(arguments))
    except Exception as error:
        if not isinstance(error, _expected_errors()):
            raise
        for sentence in getattr(error, "sentences", (str(error),)):
            say(_exhausted(error.__cause__) or sentence)
        return _code_of(error)


def _has_folder(arguments: argparse.Namespace) -> bool:
    import os

    try:
        os.getcwd()  # noqa: PTH109 - pathlib would say no more
    except OSError:
        return bool(arguments.command == "schema")  # it needs none
    return True


def _code_of(error: Exception) -> int:
    """What could not be written is not the fault of the command line."""
    from harness.cli.exits import Exit
    from harness.record.store import StoreError

    unwritable = isinstance(error, StoreError) and isinstance(error.__cause__, OSError)
    return Exit.INTERNAL if unwritable else Exit.UNUSABLE


def _exhausted(error: BaseException | None) -> str | None:
    """The sentence for a process that has no file descriptors left; None for any other error."""
    import errno

    if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
        return None
    return "Too many files are open for one more. Raise the limit, then repeat the command: ulimit -n 1024"


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


def _drained(code: int) -> int:
    """``code``, once both streams have taken all that was printed; else the interpreter would end with 120 for us."""
    from harness.cli.exits import Exit, highest
    from harness.cli.streams import lost, say, silence

    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        silence(sys.stdout)
        if isinstance(error, OSError):
            say(lost(error))
        code = highest([Exit(code), Exit.INTERNAL])
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)
    return code
