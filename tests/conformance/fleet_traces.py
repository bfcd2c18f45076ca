"""Replays recorded fleets on the reference kernel, sessions in one world and each in its own, and compares by class.

``python -m tests.conformance.fleet_traces FILE ...``: each file holds an object with a list under ``rows``; a row has
``sessions`` (lists of calls), ``granularity`` (what a write strands), the turns by class that were settled in one world
(``shared``) and by each session alone (``isolated``), and the turns saved both ways. Rows that fail are named one a
line, and what differs in them goes to standard error; one whose name an earlier one of the file has is named with its
place. The last line is ``N passed, M failed``. Exit 0; 1: a row failed; 2: a file cannot be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.probes.turn._books import totals
from kpis.formulas.turn.turntax import turns_saved
from seams.contract.syscall import ToolCall
from seams.fleet.share import SharedWorld
from seams.syscall.epochs import Invalidation

USAGE = "Run: python -m tests.conformance.fleet_traces FILE ..."

_CLASSES = {"vdso_pure": "pure", "vdso_dedup": "dedup", "vdso_static": "static"}
"""The recorded names of classes, where they are others than ours."""


def name_of(row: Any, index: int) -> str:
    """The row as a person would find it."""
    keys = ("profile", "granularity", "T", "A", "Trial")
    if not isinstance(row, dict) or any(key not in row for key in keys):
        return f"#{index}"
    profile, granularity, turns, agents, trial = (row[key] for key in keys)
    return f"{profile} {granularity} T={turns} A={agents} trial {trial}"


def sessions_of(row: Mapping[str, Any]) -> list[list[ToolCall]]:
    """The calls of each session, with the session's number as their trace."""
    return [
        [
            ToolCall(call["tool"], json.dumps(call["args"]).encode(), call["meta"], trace_id=f"session-{number}")
            for call in session
        ]
        for number, session in enumerate(row["sessions"])
    ]


def counted(seam: SharedWorld, sessions: Sequence[Sequence[ToolCall]]) -> dict[str, int]:
    """Turns by class of ``sessions`` in one world of the airline."""
    return totals(seam.replay(sessions, "airline"))


def differences(row: Mapping[str, Any]) -> Iterator[str]:
    """Everything in which the reference departs from ``row``."""
    seam, sessions = SharedWorld(Invalidation(row["granularity"])), sessions_of(row)
    shared, alone = counted(seam, sessions), [counted(seam, [session]) for session in sessions]
    pairs = [("shared", row["shared"], shared)]
    pairs += [(f"isolated[{at}]", *pair) for at, pair in enumerate(zip(row["isolated"], alone, strict=True))]
    for what, recorded, made in pairs:
        wanted = {_CLASSES.get(name, name): count for name, count in recorded.items()}
        if made != wanted:
            yield f"{what}: {wanted} expected, {made} made"
    saved = {"shared": turns_saved(shared), "isolated": sum(map(turns_saved, alone))}
    for what, made_turns in saved.items():
        wanted_turns = row[f"{what}_turns_saved"]
        if made_turns != wanted_turns:
            yield f"{what}_turns_saved: {wanted_turns} expected, {made_turns} made"


def run(blob: str) -> tuple[int, dict[str, list[str]]]:
    """How many rows there are, and what differs in those that fail.

    Raises:
        ValueError: the text is no JSON, or holds no list of rows.
    """
    document = json.loads(blob)
    rows = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ValueError('there is no list under "rows"')
    failed = {}
    for index, row in enumerate(rows):
        try:
            found = list(differences(row))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            found = [f"the row lacks something: {type(error).__name__}: {error}"]
        if found:
            name = name_of(row, index)
            failed[f"{name} #{index}" if name in failed else name] = found
    return len(rows), failed


def main(argv: Sequence[str]) -> int:
    """The runner; see the module's documentation."""
    total = failures = 0
    if not argv:
        print(f"No file was named. {USAGE}", file=sys.stderr)
        return 2
    for name in argv:
        try:
            count, failed = run(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            print(f"{name} cannot be read: {error}. {USAGE}", file=sys.stderr)
            return 2
        total, failures = total + count, failures + len(failed)
        for row, found in failed.items():
            print(row)
            print(f"{row}: {'; '.join(found[:5])}", file=sys.stderr)
    print(f"{total - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
