"""``evaluate``: outputs and trajectories against the rules, case by case. Parses, prints, and chooses the exit code."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from harness.cli.evaluate_measure import add_measure, measure_detectors
from harness.cli.exits import Exit, highest
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.evaluate import Answer
    from harness.jobs.evaluate_config import Deployment
    from harness.report.evaluation_page import EvaluationPage
    from harness.report.progress import Progress

__all__ = ["add_parser"]

_STDIN = "-"
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
    seen = _Seen()
    # Two writers on one terminal would tear each other's lines.
    with Progress(1.0) as progress:
        for answer in evaluate_stream(stream, name, chosen, now):
            told = _told(answer, name, page)
            seen.add(told)
            if page is None and not size:
                sys.stdout.buffer.flush()  # whoever feeds us line by line waits for each answer
            if size and not sys.stdout.isatty() and seen.cases % _STEP == 0:
                _show(progress, name, answer.line.read, size)
    if page is not None:
        page.end()
    return seen.end(name)


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


class _Seen:
    """How many cases there were of each kind, and the first line that was none."""

    def __init__(self) -> None:
        self.cases = 0
        self._states: dict[Any, int] = {}
        self._first_bad: str | None = None
        self._faults = 0
        self._first_fault: Exception | None = None

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.cases += 1
        self._states[answer.state] = self._states.get(answer.state, 0) + 1
        if answer.fault is not None:
            self._faults += 1
            self._first_fault = self._first_fault or answer.fault
        elif answer.state is None and self._first_bad is None:
            self._first_bad = answer.document["error"]

    def end(self, name: str) -> Exit:
        """What all of it says to the shell; what was left out is told."""
        from kpis.terms.claim import VerdictState

        bad = self._states.get(None, 0) - self._faults
        if not self.cases:
            say(f"{name} holds no case. Write one JSON object a line, then: python -m harness evaluate FILE")
            return Exit.UNCOVERED
        if bad:
            say(f"{bad:,} of {self.cases:,} lines could not be read and say so in their place. {self._first_bad}")
        if self._first_fault is not None:
            import traceback

            with suppress(OSError):
                traceback.print_exception(self._first_fault)
            say(
                f"For {self._faults:,} of {self.cases:,} lines loopladder itself broke, and they say so in their "
                "place; the others have their answers. This is a fault of loopladder, not of your input."
            )
            return Exit.INTERNAL
        if bad == self.cases:
            return Exit.UNUSABLE
        codes = [
            code
            for state, code in (
                (VerdictState.FAIL, Exit.FAILED),
                (VerdictState.UNKNOWN, Exit.UNKNOWN),
                (None, Exit.PARTLY_READ),
            )
            if self._states.get(state)
        ]
        return highest(codes)
