"""``replay``: recorded runs of agents, and what they came to. Parses, prints, and chooses the exit code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.streams import say

if TYPE_CHECKING:
    from rich.console import Console

    from harness.jobs.replay import Asked
    from harness.jobs.replay_gate import Gated
    from harness.record.replay import Replayed
    from harness.record.replay_cache import ReplayCache

__all__ = ["add_parser", "exit_code", "put", "read", "tell_unmatched", "written"]

_PRICE_BYTES = 1 << 20
"""A price table of a thousand models is a tenth of this."""

_LEDGER_BYTES = 16 << 20
"""Up to this much the time ledger costs nothing that is felt, and is on the first screen."""


def add_parser(commands: Any) -> None:
    """Add ``replay`` to the command line."""
    parser = commands.add_parser(
        "replay",
        help="what did recorded agent runs cost, and what went wrong in them?",
        description="Read recorded runs of agents, files or whole folders, in whatever known format they are. "
        "Measures nothing, sends nothing, and keeps no text.",
        allow_abbrev=False,
    )
    parser.add_argument("path", nargs="*", metavar="PATH", help="a recording, or a folder with recordings below it")
    parser.add_argument("--format", metavar="NAME", help="read every file as this format (default: by its content)")
    parser.add_argument(
        "--by", metavar="KEY", help="attribute tokens and cost by tool, file, agent, model, project, branch or day"
    )
    parser.add_argument("--time", action="store_true", help="where the time went, for many runs too")
    parser.add_argument("--explain", metavar="NUMBER", help="the lines and the rule behind one number, by its id")
    parser.add_argument("--prices", metavar="FILE", help="a price table (TOML) that goes before what ships")
    parser.add_argument("--oracles", metavar="FILE", help="an evaluator's verdicts on the runs, JSON Lines")
    parser.add_argument(
        "--compare", nargs="+", metavar=("ARM_A", "ARM_B"), help="hold the runs of folders against those of the first"
    )
    parser.add_argument("--gate", metavar="NAME", help="hold the runs against the record baselines/replay/NAME.toml")
    parser.add_argument("--accept", action="store_true", help="with --gate: put what is measured onto that record")
    parser.add_argument(
        "--worse", nargs="+", default=[], metavar="ID", help="with --accept: metrics that may move for the worse"
    )
    parser.add_argument("--why", metavar="TEXT", help="with --worse: the reason, which stays on record")
    parser.add_argument(
        "--evaluate", action="store_true", help="judge each run: did it go in circles, did a tool fail for good?"
    )
    parser.add_argument("--config", metavar="FILE", help="with --evaluate: what you chose, as evaluate takes it (TOML)")
    parser.add_argument("--json", metavar="FILE", help="write the replay file here; - is standard output")
    parser.add_argument("--processes", type=int, metavar="N", help="read with N processes (default: one a core)")
    parser.add_argument("--afresh", action="store_true", help="read everything again, whatever was read before")
    parser.add_argument("--verbose", action="store_true", help="name every run, row and remark")
    parser.set_defaults(handler=_replay)


def _replay(arguments: argparse.Namespace) -> Exit:
    from harness.cli.replay_words import fault_of
    from harness.formats.limits import FormatError, regular_bytes
    from harness.jobs.replay import Asked
    from harness.jobs.replay_oracles import read_oracles
    from kpis.prices import PriceError, shipped_prices, user_prices

    if (fault := fault_of(arguments)) is not None:
        say(fault)
        return Exit.UNUSABLE
    try:
        read_table = partial(regular_bytes, most=_PRICE_BYTES)
        table = shipped_prices() if arguments.prices is None else user_prices(Path(arguments.prices), read_table)
        oracles = {} if arguments.oracles is None else read_oracles(Path(arguments.oracles))
    except (PriceError, FormatError) as error:
        say(str(error))
        return Exit.UNUSABLE
    if arguments.explain is not None:
        from harness.cli.replay_explain import explain

        return explain(arguments, Asked(table, ledger=arguments.explain.startswith("time_"), oracles=oracles))
    paths = arguments.compare or arguments.path
    asked = Asked(table, ledger=arguments.time or _small(paths), by=arguments.by, oracles=oracles)
    if arguments.compare is not None:
        from harness.cli.replay_compare import compare_folders

        return compare_folders(arguments, asked)
    if arguments.evaluate:
        from harness.cli.replay_evaluate import evaluate_runs

        return evaluate_runs(arguments, asked)
    result = read(arguments, arguments.path, asked)
    code = exit_code(result)
    if arguments.gate is not None and code is not Exit.UNUSABLE:
        from harness.cli.replay_ends import gate_runs

        tell_unmatched(asked, [result])
        return highest([gate_runs(arguments, result, table.name), code])
    if code is not Exit.UNUSABLE:
        put(result, arguments, table.name)
        tell_unmatched(asked, [result])
    return code


def tell_unmatched(asked: Asked, arms: Sequence[Replayed]) -> None:
    """Say it to the shell where verdicts were given and none of them is on any run."""
    from harness.jobs.replay_judged import none_matches

    if asked.oracles and none_matches(asked.oracles, [run for arm in arms for run in arm.runs]):
        say(
            "None of the verdicts is on a run that was read: they name runs or cases as the recordings do. See what "
            "these are called: python -m harness replay --json - PATH"
        )


def read(arguments: argparse.Namespace, paths: list[str], asked: Asked) -> Replayed:
    """The runs among ``paths``, with a line of progress."""
    from harness.jobs.replay import replay
    from harness.report.progress import Progress

    with Progress(1.0) as progress:
        return replay(
            paths,
            asked,
            forced=arguments.format,
            processes=arguments.processes,
            cache=_cache(arguments, paths, asked),
            on_step=lambda group, done, total: progress.show(group.pieces[0].name, done >> 20, max(1, total >> 20)),
        )


def _cache(arguments: argparse.Namespace, paths: list[str], asked: Asked) -> ReplayCache | None:
    """What was read before, where a tree is large enough for that to be felt and nothing special is asked."""
    from harness.record.replay_cache import ReplayCache, cache_folder

    folder = cache_folder()
    if arguments.afresh or folder is None or asked.by is not None or asked.oracles or asked.judge or _small(paths):
        return None
    return ReplayCache(folder, paths, repr((asked.table, asked.ledger, arguments.format)))


def put(result: Replayed, arguments: argparse.Namespace, prices: str, gated: Gated | None = None) -> None:
    """Write the replay file where it was asked for, and print the page."""
    from harness.report.replay_page import render_replay

    with written(result, arguments, prices, gated) as console:
        render_replay(result, console, prices, by=arguments.by, turns=arguments.time, verbose=arguments.verbose)
        if gated is not None:
            from harness.report.replay_gate import render_gated

            render_gated(gated, console, verbose=arguments.verbose)


def written(
    result: Replayed, arguments: argparse.Namespace, prices: str, gated: Gated | None = None
) -> AbstractContextManager[Console]:
    """Write the replay file where it was asked for; lends the console that is left for the page."""
    from harness.cli.replay_file import beside
    from harness.record.replay import encode

    if arguments.json is None:
        return beside(None, b"")
    told = None if gated is None else (gated.verdict, gated.claims)
    return beside(arguments.json, encode(result, prices, arguments.by, told))


def exit_code(result: Replayed) -> Exit:
    """What the reading alone says to the shell."""
    from kpis.terms.trace import Severity

    every = [*result.issues, *(issue for run in result.runs for issue in run.issues)]
    lost = any(issue.severity is Severity.ERROR for issue in every)
    if any(run.parts.tokens.sums.rows or run.parts.verdicts.calls or run.facts or run.threads for run in result.runs):
        return Exit.PARTLY_READ if lost else Exit.OK
    told = [issue.message for issue in every[:3]]
    if lost and "python -m harness" not in told[-1]:
        told[-1] += " Name a file or a folder that can be read: python -m harness replay PATH"
    for message in told:
        say(message)
    if not lost:
        from harness.formats.run_formats import NAMES

        say(
            f"No recorded run is there, in none of the known formats ({', '.join(NAMES)}). Name a file or a folder "
            "that has one: python -m harness replay ~/.claude/projects"
        )
    return Exit.UNUSABLE


def _small(paths: list[str]) -> bool:
    """Whether all that was named, and is below it, is at most :data:`_LEDGER_BYTES` together."""
    from harness.jobs.replay_find import is_small

    return is_small(paths, _LEDGER_BYTES)
