"""``evaluate``: outputs and trajectories against the rules, case by case. Parses, prints, and chooses the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from harness.cli.evaluate_measure import add_measure, measure_detectors
from harness.cli.evaluate_seen import Seen
from harness.cli.exits import Exit
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.evaluate import Answer
    from harness.jobs.evaluate_config import Deployment
    from harness.report.evaluation_page import EvaluationPage
    from harness.report.progress import Progress

__all__ = ["add_parser"]

_STDIN = "-"
_NAMES = ("config", "measure", "to", "check")
"""The words that name a file."""

_STEP = 200
"""Cases between two looks at the progress line."""


def add_parser(commands: Any) -> None:
    """Add ``evaluate`` to the command line."""
    parser = commands.add_parser(
        "evaluate",
        help="is an agent's output, or its trajectory, good enough to ship?",
        description="Judge cases, one JSON object a line: an output, and what is known of how it came about. "
        "Writes one JSON object a line, in the same order. Calls no model, sends nothing.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "file", nargs="?", default=_STDIN, metavar="FILE", help="the cases; - is standard input (the default)"
    )
    parser.add_argument("--config", metavar="FILE", help="what you chose: thresholds, critical rules, prior (TOML)")
    parser.add_argument(
        "--table", action="store_true", help="for people: what decided, on what evidence, what was not judged"
    )
    add_measure(parser)
    parser.set_defaults(handler=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> Exit:
    from harness.formats.limits import FormatError
    from harness.jobs.evaluate_config import Deployment, deployment

    for word, value in (("FILE", arguments.file), *((f"--{key}", getattr(arguments, key)) for key in _NAMES)):
        if value == "":
            say(f"{word} is an empty word, as of an unset variable. Name a file: python -m harness evaluate FILE")
            return Exit.UNUSABLE
    if arguments.measure is not None:
        if arguments.table or arguments.config is not None or arguments.file != _STDIN:
            say("--measure goes with --to and --check alone: python -m harness evaluate --measure --check")
            return Exit.UNUSABLE
        return measure_detectors(arguments)
    if arguments.to is not None or arguments.check is not None:
        say("--to and --check belong to --measure: python -m harness evaluate --measure --check")
        return Exit.UNUSABLE
    if arguments.file == _STDIN and sys.stdin.isatty():
        say("Nothing is piped in, and no file is named: python -m harness evaluate cases.jsonl")
        return Exit.UNUSABLE
    try:
        chosen = Deployment() if arguments.config is None else deployment(Path(arguments.config))
    except FormatError as error:
        say(str(error))
        return Exit.UNUSABLE
    with ExitStack() as held:
        try:
            stream = (
                sys.stdin.buffer if arguments.file == _STDIN else held.enter_context(Path(arguments.file).open("rb"))
            )
        except OSError as error:
            say(
                f"{arguments.file} cannot be read: {error.strerror}. "
                "Name a file of cases: python -m harness evaluate FILE"
            )
            return Exit.UNUSABLE
        return _each(stream, chosen, arguments)


def _each(stream: BinaryIO, chosen: Deployment, arguments: argparse.Namespace) -> Exit:
    from datetime import UTC, datetime

    from harness.jobs.evaluate import STDIN, evaluate_stream
    from harness.report.progress import Progress

    def now() -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    size = 0 if arguments.file == _STDIN else Path(arguments.file).stat().st_size
    name = STDIN if arguments.file == _STDIN else arguments.file
    page = _table() if arguments.table else None
    seen = Seen()
    # Two writers on one terminal would tear each other's lines.
    unread: _UnreadError | None = None
    try:
        with Progress(1.0) as progress:
            for answer in _read(evaluate_stream(stream, name, chosen, now)):
                told = _told(answer, name, page)
                seen.add(told)
                if page is None and not size:
                    sys.stdout.buffer.flush()  # whoever feeds us line by line waits for each answer
                if size and not sys.stdout.isatty() and seen.cases % _STEP == 0:
                    _show(progress, name, answer.line.read, size)
    except _UnreadError as error:
        unread = error
    if page is not None:
        page.end()
    if unread is None:
        return seen.end(name)
    say(
        f"{name} cannot be read on: {unread}. The answers so far are of its beginning only. When it can be read, run "
        f"again: python -m harness evaluate {arguments.file}"
    )
    return Exit.UNUSABLE


class _UnreadError(Exception):
    """The input broke off; the text says why."""


def _read(answers: Iterator[Answer]) -> Iterator[Answer]:
    """``answers``, where an error in reading their lines is told from one in writing what they say.

    Raises:
        _UnreadError: a line cannot be read.
    """
    try:
        yield from answers
    except OSError as error:
        raise _UnreadError(error.strerror or str(error)) from None


def _told(answer: Answer, name: str, page: EvaluationPage | None) -> Answer:
    """Print ``answer``, or that it cannot be: the one that was printed."""
    from harness.jobs.evaluate import broken
    from harness.record.evaluation_write import encode

    try:
        if page is not None:
            page.show(answer)
            return answer
        line = encode(answer.document)
    except OSError:  # of the output, not of the answer
        raise
    except Exception as error:
        if answer.fault is not None:
            raise
        return _told(broken(answer.line, name, error), name, page)
    sys.stdout.buffer.write(line)
    return answer


def _show(progress: Progress, name: str, read: int, size: int) -> None:
    progress.show(name, read >> 20, max(1, size >> 20))


def _table() -> EvaluationPage:
    from harness.report.evaluation_page import EvaluationPage
    from harness.report.page import console_on

    return EvaluationPage(console_on(sys.stdout))
