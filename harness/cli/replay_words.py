"""What is wrong with the words of ``replay``, before anything is read: a sentence that ends in right ones."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

from harness.cli.targets import foreign
from harness.cli.words import is_input

__all__ = ["fault_of"]


def fault_of(arguments: argparse.Namespace) -> str | None:
    """The sentence, or None where the words can be followed."""
    from harness.formats.run_formats import NAMES
    from kpis.errors import did_you_mean
    from kpis.formulas.recorded.carried import BY

    paths = arguments.compare or arguments.path
    if arguments.compare is not None and (told := _compared_with(arguments)) is not None:
        return told
    if (told := _evaluated_with(arguments)) is not None:
        return told
    if arguments.explain is not None and (arguments.compare or arguments.gate or arguments.json or arguments.by):
        return (
            "--explain goes with what is read, and with no other question: python -m harness replay --explain ID PATH"
        )
    if not paths:
        return "Nothing was named to read. Name a file or a folder: python -m harness replay ~/.claude/projects"
    if arguments.format is not None and arguments.format not in NAMES:
        hint = did_you_mean(arguments.format, NAMES)
        said = f"There is no format {arguments.format!r}{hint}; it is one of {', '.join(NAMES)}."
        return f"{said} Without one the content decides: python -m harness replay PATH"
    if arguments.by is not None and arguments.by not in BY:
        return (
            f"Nothing is attributed by {arguments.by!r}, but by {', '.join(BY)}. See: python -m harness replay --help"
        )
    if arguments.processes is not None and arguments.processes < 1:
        return "--processes takes a number from 1 on: python -m harness replay --processes 2 PATH"
    if arguments.accept and arguments.gate is None:
        return "--accept puts runs onto a record, and none is named: python -m harness replay --gate NAME --accept PATH"
    if arguments.worse and not (arguments.accept and (arguments.why or "").strip()):
        return "--worse goes with a reason: python -m harness replay --gate NAME --accept --worse ID --why TEXT PATH"
    if arguments.why is not None and not arguments.worse:
        return (
            "--why is the reason of --worse: python -m harness replay --gate NAME --accept --worse ID --why TEXT PATH"
        )
    if arguments.worse and (told := _worse(arguments.worse)) is not None:
        return told
    target = arguments.json
    named = [*map(Path, paths), *(Path(each) for each in _files(arguments) if each is not None)]
    if target not in (None, "-") and is_input(target, [*named, *_below(paths, target)]):
        return f"--json {target} names an input and would replace it. Name a new file: --json replay.json"
    return foreign(target, "replay.json")


def _worse(named: Sequence[str]) -> str | None:
    """What is wrong with the metrics after ``--worse``: one that is none, or that cannot be worse."""
    from harness.jobs.replay_gated import is_gated
    from kpis.errors import did_you_mean
    from kpis.recorded_metrics import load

    known = load()
    gated = [name for name, row in known.items() if is_gated(row)]
    wrong = next((each for each in named if each not in gated), None)
    if wrong is None:
        return None
    if wrong in known:
        return (
            f"{wrong} has no better direction and is on no record, so --worse cannot name it; see: python -m harness "
            f"explain {wrong}"
        )
    hint = did_you_mean(wrong, gated)
    return f"There is no metric {wrong!r}{hint} for --worse to name; see: python -m harness list --recorded"


def _compared_with(arguments: argparse.Namespace) -> str | None:
    """What is wrong with the arms after ``--compare``, or with the words around it."""
    right = "python -m harness replay --compare ARM_A ARM_B"
    if arguments.path or len(arguments.compare) < 2:
        return f"--compare takes two folders or more, and nothing is named beside them: {right}"
    real = [(path, Path(os.path.realpath(path))) for path in arguments.compare]
    for (one, where), (other, there) in permutations(real, 2):
        if where == there:
            return f"--compare names {Path(one)} twice, and an arm does not differ from itself: {right}"
        if there.is_relative_to(where):
            return f"--compare names {one}, and {other} inside of it, whose runs would be in both arms: {right}"
    others = {"--gate": arguments.gate, "--by": arguments.by, "--accept": arguments.accept}
    given = next((name for name, value in others.items() if value), None)
    return None if given is None else f"--compare holds arms against the first, and goes without {given}: {right}"


def _files(arguments: argparse.Namespace) -> tuple[str | None, ...]:
    return arguments.prices, arguments.oracles, arguments.config


def _evaluated_with(arguments: argparse.Namespace) -> str | None:
    """What is wrong with the words around ``--evaluate``."""
    if not arguments.evaluate:
        if arguments.config is None:
            return None
        return "--config says how runs are evaluated: python -m harness replay PATH --evaluate --config FILE"
    others = {
        "--compare": arguments.compare,
        "--explain": arguments.explain,
        "--gate": arguments.gate,
        "--by": arguments.by,
        "--time": arguments.time,
    }
    given = next((name for name, value in others.items() if value), None)
    if given is None:
        return None
    return f"--evaluate judges runs, and {given} asks something else of them: python -m harness replay PATH --evaluate"


def _below(paths: list[str], target: str) -> list[Path]:
    """The target itself, where it exists and lies below a folder that is read."""
    if not Path(target).is_file():
        return []
    real = Path(target).resolve()
    return [real] if any(real.is_relative_to(Path(path).resolve()) for path in paths if Path(path).is_dir()) else []
