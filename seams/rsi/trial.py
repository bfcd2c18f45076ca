"""One trial of a tree: measure it, then run its suite, beneath a warden that leaves nothing running.

The number is what the measuring command prints in its one line ``KPI=<number>``. A second such line voids it: a
candidate could print one before the measurement does. That a candidate, whose code runs inside the measurement, prints
the only one and ends the process cannot be prevented here; the suite and a reader of the kept change are what is left.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seams.contract.rsi_loop import Charge
from seams.rsi.strays import ended
from seams.rsi.supervised import Supervised

__all__ = ["TAIL", "Trial", "metric_of", "tried"]

TAIL = 400
"""Bytes of what a failed command said last that go into the journal."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""As other programs write one: no underscores, and no digits of other scripts, which Python would take."""

_GRACE_S = 30.0
"""For the warden's own work: to end what a command left takes it ten seconds at most."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it. ``metric`` is None where nothing was measured; ``note`` says what failed first.

    ``confined`` is the version of the kernel's confinement that held, 0 where none did.
    """

    metric: float | None
    suite_green: bool
    note: str | None
    confined: int


def metric_of(said: str) -> float:
    """The number in the one line ``KPI=<number>`` of ``said``.

    Raises:
        ValueError: there is no such line, there are several, or it holds no finite number.
    """
    lines = [line.strip() for line in said.splitlines() if "KPI=" in line]
    if len(lines) != 1:
        raise ValueError(f"{len(lines) or 'no'} lines of the measurement hold KPI=, and it has to be one")
    said_of_it = lines[0].partition("KPI=")[2].strip()
    value = float(said_of_it) if _NUMBER.fullmatch(said_of_it) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"the measurement printed {lines[0][:80]!r}, which is no finite number")
    return value


def tried(warden: Supervised, charge: Charge, tree: Path, home: Path, *, confine: bool = True) -> Trial:
    """Measure ``tree`` and run its suite; ``home`` is where its commands may write besides.

    Raises:
        LoopError: no warden can be started.
    """
    suite = [list(words) for words in charge.suite if words]
    commands = [list(charge.measure), *suite]
    job = {
        "commands": commands,
        "cwd": str(tree),
        "environment": _environment(home, charge.environment),
        "writable": [str(tree), str(home)],
        "limit_s": charge.limit_s,
        "confine": confine,
    }
    report = warden.ask(job, charge.limit_s * (1 + len(suite)) + _GRACE_S)
    if report is None:
        left = ended(home, (tree, home))
        more = f", and {left} {'process' if left == 1 else 'processes'} that it left had to be ended" if left else ""
        return Trial(None, False, f"the warden was ended from outside before it could report{more}", 0)
    outcomes = report["outcomes"]
    note = None
    for words, outcome in zip(commands, outcomes, strict=False):
        if outcome["fault"] is not None:
            note = _told(words, outcome)
    metric = None
    if outcomes[0]["fault"] is None:
        try:
            metric = metric_of(outcomes[0]["said"])
        except ValueError as error:
            note = note or str(error)
    # What could not be measured is as good as red.
    green = metric is not None and note is None and len(outcomes) == 1 + len(suite)
    return Trial(metric, green, note, report["confined"])


def _environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """What a candidate's commands find in their environment: a home and a folder for scratch files of their own.

    PYTHONPATH goes, because it could lead back to the user's tree and away from the candidate's; the hash seed is
    fixed, because a decision has to come out the same again.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTHON"))}
    own = {"HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    return {**kept, **own, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "GIT_OPTIONAL_LOCKS": "0", **more}


def _told(words: Sequence[str], outcome: Mapping[str, str]) -> str:
    tail = outcome["said"].strip().encode()[-TAIL:].decode("utf-8", "replace")
    told = f"{' '.join(Path(word).name for word in words)[:120]!r} {outcome['fault']}"
    return f"{told}: {tail}" if tail else told
