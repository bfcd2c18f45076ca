"""How long our own commands and workers take to start, as a user meets it: fresh processes, the median of five.

Nothing is subtracted: the interpreter's own time is measured beside, so that a slow one can be told from a slow
command of ours. Refuses to guess: a command that fails is reported with the last line of what it said.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["StartUp", "measure_all", "site_hooks", "time_ready", "time_whole"]

_TIMES = 5
_PATIENCE_S = 30.0
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package harness
_FLAGS = ("-P", "-s", "-B")
# The budgets: what a person does not notice (150 ms), and what a pair of 54 to 80 ms can bear.
_COMMANDS = (
    ("--help", 150),
    ("list", 150),
    ("explain tool_call_p50_ns", 150),
)
_WORKERS = (
    ("worker --ping", 40),
    ("worker --ping pyperf", 80),
)


@dataclass(frozen=True, slots=True)
class StartUp:
    """One command: its budget (None for the bare interpreter), the times of each start, or why there are none.

    ``site_ns`` is what the interpreter spends on site-packages (measured for the bare interpreter alone).
    """

    name: str
    command: str
    budget_ms: int | None
    times_ns: tuple[int, ...]
    error: str | None = None
    site_ns: float | None = None

    @property
    def median_ns(self) -> float | None:
        """The median of the starts, or None where it failed."""
        return float(median(self.times_ns)) if self.times_ns else None


class _StartError(Exception):
    """A start that failed, in words that fit behind a colon."""


def _last_line(text: bytes) -> str:
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip().rstrip(".") if lines else "it said nothing"


def _start(argv: Sequence[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(_PACKAGE_ROOT)}
    try:
        ended = subprocess.run(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise _StartError(f"it did not end within {_PATIENCE_S:.0f} s") from None
    except OSError as error:
        raise _StartError(f"it did not start ({error.strerror})") from None
    if ended.returncode != 0:
        raise _StartError(f"exit code {ended.returncode}, {_last_line(ended.stderr or ended.stdout)}")
    return ended


def time_whole(argv: Sequence[str], folder: Path) -> int:
    """From start to end of one process, in ns."""
    began = time.perf_counter_ns()
    _start(argv, folder)
    return time.perf_counter_ns() - began


def time_ready(argv: Sequence[str], folder: Path) -> int:
    """From start until the process says that it is ready, in ns: it prints ``{"ready_ns": CLOCK_MONOTONIC}``."""
    began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)  # the one clock that both processes read alike
    ended = _start(argv, folder)
    try:
        return int(json.loads(ended.stdout)["ready_ns"]) - began
    except (ValueError, KeyError, TypeError):
        raise _StartError(f"it did not say when it was ready, but {_last_line(ended.stdout)!r}") from None


def _timed(
    name: str, argv: Sequence[str], budget_ms: int | None, folder: Path, clock: Callable[[Sequence[str], Path], int]
) -> StartUp:
    command = " ".join(("python", *argv[1:]))
    try:
        clock(argv, folder)  # the first start reads the disk and may write bytecode
        times = tuple(clock(argv, folder) for _ in range(_TIMES))
    except _StartError as error:
        return StartUp(name, command, budget_ms, (), str(error))
    return StartUp(name, command, budget_ms, times)


def measure_all(root: Path, python: str = sys.executable) -> tuple[StartUp, ...]:
    """The bare interpreter, the quick commands and both kinds of worker, started in ``root``."""
    bare = _timed("python -c pass", (python, *_FLAGS, "-c", "pass"), None, root, time_whole)
    without = _timed("python -S -c pass", (python, *_FLAGS, "-S", "-c", "pass"), None, root, time_whole)
    if bare.median_ns is not None and without.median_ns is not None:
        site_ns = bare.median_ns - without.median_ns
        bare = StartUp(bare.name, bare.command, None, bare.times_ns, site_ns=site_ns)
    # -P: a folder named harness in the user's project must not be taken for ours.
    commands = [
        _timed(f"harness {words}", (python, "-P", "-m", "harness", *words.split()), budget, root, time_whole)
        for words, budget in _COMMANDS
    ]
    workers = [
        _timed(f"harness {words}", (python, *_FLAGS, "-m", "harness", *words.split()), budget, root, time_ready)
        for words, budget in _WORKERS
    ]
    return (bare, *commands, *workers)


def site_hooks() -> tuple[str, ...]:
    """The names of .pth files of this environment that run code at every start of the interpreter."""
    names: set[str] = set()
    for key in ("purelib", "platlib"):
        folder = Path(sysconfig.get_paths()[key])
        for path in sorted(folder.glob("*.pth")):
            try:
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
            if any(line.startswith(("import ", "import\t")) for line in lines):
                names.add(path.name)
    return tuple(sorted(names))
