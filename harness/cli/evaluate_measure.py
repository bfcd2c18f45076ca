"""``evaluate --measure``: how often each detector is right on labelled cases. Parses, prints, chooses the exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.cli.exits import Exit
from harness.cli.streams import say
from harness.cli.words import is_input

__all__ = ["SHIPPED", "add_measure", "measure_detectors"]

SHIPPED = object()
"""What stands for the corpus, or the table, that comes with this package."""


def add_measure(parser: Any) -> None:
    """Add the words of ``--measure``."""
    parser.add_argument(
        "--measure",
        nargs="?",
        const=SHIPPED,
        metavar="CORPUS",
        help="judge no case: count how often each detector is right on labelled ones, a file or a folder (the one that "
        "ships)",
    )
    parser.add_argument("--to", metavar="FILE", help="with --measure: write the accuracy table (TOML)")
    parser.add_argument(
        "--check",
        nargs="?",
        const=SHIPPED,
        metavar="TABLE",
        help="with --measure: fail unless this accuracy table (the one that ships) is what the corpus gives",
    )


def measure_detectors(arguments: argparse.Namespace) -> Exit:
    """Measure, print the page, and write or compare the table.

    Raises:
        StoreError: the table cannot be written.
    """
    from harness.formats.labelled import SHIPPED as OUR_CORPUS
    from harness.formats.labelled import corpus_files
    from harness.formats.limits import FormatError
    from harness.jobs.measure_accuracy import differing, measure
    from harness.record.accuracy import OURS, decode, named_bytes
    from harness.record.atomic import write_atomic
    from harness.report.accuracy_page import accuracy_page

    if arguments.to == "-":
        say(
            "--to - would write a file of that name, and the page goes to standard output. "
            "Name a file: python -m harness evaluate --measure --to FILE"
        )
        return Exit.UNUSABLE
    ours = arguments.measure is SHIPPED
    corpus = OUR_CORPUS if ours else Path(arguments.measure)
    word = OURS if arguments.check in (None, SHIPPED) else arguments.check
    again = f"python -m harness evaluate --measure{'' if ours else f' {corpus}'} --to FILE"
    if arguments.to is not None and is_input(arguments.to, corpus_files(corpus)):
        say(f"--to {arguments.to} names labelled cases and would replace them. Name a new file: {again}")
        return Exit.UNUSABLE
    try:
        measured = measure(corpus, "measured" if arguments.to is None else Path(arguments.to).stem)
        kept = None if arguments.check is None else named_bytes(word, Path())
        table = None if kept is None else decode(kept, word)
    except FormatError as error:
        say(str(error))
        return Exit.UNUSABLE
    sys.stdout.write(accuracy_page(measured))
    if arguments.to is not None:
        write_atomic(Path(arguments.to), measured.body)
    if table is None or kept == measured.body:
        return Exit.OK
    rules = differing(measured.table, table)
    what = f"other counts for {', '.join(rules)}" if rules else "the same counts of other cases, rules or words"
    say(f"The accuracy table {word} is not what {corpus} gives: {what}. If the change is meant, run: {again}")
    return Exit.FAILED
