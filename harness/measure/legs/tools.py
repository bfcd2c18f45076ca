"""The tools that count instructions from outside a process: which one works here, its command, and its file.

A tool that is present and does not count is passed over: it was tried, not looked up. It starts no worker.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from harness.measure.legs import Unavailable

__all__ = ["PROGRAMS", "READERS", "Tool", "available", "counting", "output", "read_cachegrind", "read_perf"]

Tool = Literal["perf", "cachegrind"]
PROGRAMS: dict[Tool, str] = {"perf": "perf", "cachegrind": "valgrind"}


def available(around: Path | None = None) -> Tool | Unavailable:
    """The tool that counts on this machine, found by trying; some hundred milliseconds, so ask once.

    What a try writes goes into ``around``, or to where temporary files go, and is removed.
    """
    with tempfile.TemporaryDirectory(dir=around) as name:
        folder = Path(name)
        tools: tuple[Tool, Tool] = ("perf", "cachegrind")
        for tool in tools:
            if shutil.which(PROGRAMS[tool]) and _counts_here(tool, folder):
                return tool
    return Unavailable(
        "Instructions are not available: no hardware counter counts here (perf stat -e instructions:u) and there is "
        "no working valgrind; install one, for example with: apt-get install valgrind"
    )


def _counts_here(tool: Tool, folder: Path) -> bool:
    command = [*counting(tool, folder), "true"]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    files = list(folder.glob(f"{tool}.out*"))
    return ended.returncode == 0 and len(files) == 1 and (READERS[tool](files[0].read_text("utf-8"))[0] or 0) > 0


def output(tool: Tool, pid: int | str) -> str:
    """The name of the file that the tool writes for the process ``pid``."""
    # A slice that forks makes cachegrind write a file for each process; perf adds them up in its one.
    return f"cachegrind.out.{pid}" if tool == "cachegrind" else "perf.out"


def counting(tool: Tool, folder: Path) -> list[str]:
    """The command that counts the instructions of the command after it, with the file in ``folder``."""
    out = str(folder / output(tool, "%p"))
    if tool == "perf":
        return [*_fixed_layout(), "perf", "stat", "-x", ",", "-e", "instructions:u", "-o", out, "--"]
    log = f"--log-file={folder / 'valgrind.log.%p'}"
    options = ["-q", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out}", log]
    return [*_fixed_layout(), "valgrind", *options]


def _fixed_layout() -> list[str]:
    """``setarch -R`` where it exists and the kernel permits it; containers often forbid the call behind it."""
    program = shutil.which("setarch")
    if program is None:
        return []
    with contextlib.suppress(OSError):
        if subprocess.run([program, "-R", "true"], capture_output=True, check=False).returncode == 0:
            return [program, "-R"]
    return []


def read_cachegrind(text: str) -> tuple[int | None, dict[str, int]]:
    """The instructions of a cachegrind file: all of them, None where the file is not complete, and by C function."""
    total: int | None = None
    functions: dict[str, int] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("fn="):
            name = line[3:]
        elif line.startswith("summary:"):
            total = int(line.split()[1])
        elif line[:1].isdigit():
            functions[name] = functions.get(name, 0) + int(line.split()[1])
    return total, functions


def read_perf(text: str) -> tuple[int | None, dict[str, int]]:
    """The instructions of a ``perf stat -x ,`` file; None where they were not counted all the time.

    The fields are count, unit, event, run time and the share of time that the counter was on: a shared counter is
    scaled up by perf, and an estimate is no count.
    """
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) >= 5 and fields[2].startswith("instructions"):
            whole = fields[0].isdigit() and fields[4].startswith("100")
            return (int(fields[0]) if whole else None), {}
    return None, {}


READERS = {"perf": read_perf, "cachegrind": read_cachegrind}
