"""``replay --compare ARM_A ARM_B ...``: read each arm with the verdicts on it, and show and write how they stand."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.exits import Exit, highest
from harness.cli.replay import exit_code, read, tell_unmatched
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.replay import Asked
    from harness.jobs.replay_compare_arms import ComparedArms
    from harness.jobs.replay_compare_context import ComparedContexts
    from harness.record.replay import Replayed

__all__ = ["arm_names", "compare_folders"]


def arm_names(paths: Sequence[str]) -> list[str]:
    """What the arms are called: the last part of each path, or the whole where two end alike."""
    short = [Path(path).name or path for path in paths]
    seen = Counter(short)
    return [name if seen[name] == 1 else str(Path(path)) for name, path in zip(short, paths, strict=True)]


def compare_folders(arguments: argparse.Namespace, asked: Asked) -> Exit:
    """Read all arms and say how each stands to the first, and all of them to one another."""
    from harness.jobs.replay_compare_arms import compare_arms
    from harness.jobs.replay_compare_context import compare_contexts
    from harness.jobs.replay_judged import matched
    from harness.jobs.replay_oracles import of_arm

    names = arm_names(arguments.compare)
    oracles = {name: of_arm(asked.oracles, name, names) for name in names}
    arms: dict[str, Replayed] = {}
    for name, path in zip(names, arguments.compare, strict=True):
        arms[name] = read(arguments, [path], replace(asked, oracles=oracles[name]))
    codes = [exit_code(arm) for arm in arms.values()]
    if Exit.UNUSABLE in codes:
        return Exit.UNUSABLE
    lines = {name: {line for run in arm.runs for line in matched(oracles[name], run)} for name, arm in arms.items()}
    if (fault := _of_several(lines, arguments.oracles)) is not None:
        say(fault)
        return Exit.UNUSABLE
    every = {check.line for checks in asked.oracles.values() for check in checks}
    missed = len(every.difference(*lines.values()))
    if missed == len(every):
        tell_unmatched(asked, [])
    first, *others = arms.values()
    contexts = [compare_contexts(first.contexts, arm.contexts) if _both(first, arm) else None for arm in others]
    _put(arguments, compare_arms(arms), contexts, asked.table.name, (missed, len(every)))
    return highest(codes)


def _both(one: Replayed, other: Replayed) -> bool:
    return bool(one.contexts and other.contexts)


def _of_several(lines: Mapping[str, set[int]], oracles: str | None) -> str | None:
    """The sentence that refuses a verdict on runs of two arms, which would make them equal; None if there is none."""
    seen = Counter(line for own in lines.values() for line in own)
    line = min((line for line, arms in seen.items() if arms > 1), default=None)
    if line is None:
        return None
    one, other, *_ = (name for name, own in lines.items() if line in own)
    return (
        f'{oracles}, line {line} is on runs of {one} and of {other}, and would make both the same. Add "arm": "{one}" '
        "or the run's id to it: python -m harness replay --compare ARM_A ARM_B --oracles FILE"
    )


def _put(
    arguments: argparse.Namespace,
    compared: ComparedArms,
    contexts: Sequence[ComparedContexts | None],
    prices: str,
    verdicts: tuple[int, int],
) -> None:
    """Write the file where it was asked for, and print the page."""
    from harness.cli.replay_file import beside
    from harness.jobs.replay_compare_file import encode_arms
    from harness.report.lines import put_text
    from harness.report.replay_compare import several
    from harness.report.replay_compare_arms import render_arms

    missed, every = verdicts
    blob = b"" if arguments.json is None else encode_arms(compared, contexts, prices, missed)
    with beside(arguments.json, blob) as console:
        render_arms(compared, contexts, console, verbose=arguments.verbose)
        if missed:
            are = "is" if missed == 1 else "are"
            put_text(console, f"{missed:,} of {several(every, 'verdict')} {are} on no run of any arm.")
