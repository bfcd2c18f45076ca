"""Commands that leave a trace when they are run, and processes that come and go while a gate looks at the machine.

Each answer lies in a script of its own, made before the clock runs; the script first appends its name to a file, so
that a command which nobody started is missing there, whatever was answered in its place. The processes wait for the end
of a pipe that this process holds, and are gone when it is. What this cannot see is somebody who does a shell's work.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from seams.contract.fleet_preflight import Asks

__all__ = ["Errands", "answers"]

_FAR = 1_000_000
_SECONDS = 10.0


def answers(verdict: str, number: int) -> Mapping[str, object]:
    """What the commands say, by check, where everything leads to ``verdict``; ``number`` is in each that is one."""
    loop: object = {"alive": _FAR + number if verdict == "REFUSE_AT_CAP" else 0, "target": _FAR + number}
    seats = {"total": _FAR, "free": number, "leased": 0, "depleted": False}
    if verdict == "REFUSE_NO_SEAT":
        seats = {"total": 1, "free": number, "leased": 1, "depleted": True}
    if verdict == "REFUSE_INSPECT":
        loop = {"alive": f"unknown {number}"}
    account = None if verdict == "REFUSE_NO_ACCOUNT" else f"account-{number}"
    return {"account": account, "loop": loop, "seats": seats}


class Errands:
    """Questions in ``folder`` whose commands are scripts of the shell ``sh``, one lot of them at a time."""

    def __init__(self, folder: Path, sh: str) -> None:
        self._folder = folder
        self._sh = sh
        self._trace = folder / "trace"
        self._scripts: list[Path] = []
        self._shown: list[subprocess.Popen[bytes]] = []
        self.marker = "none yet"

    def lot(self) -> None:
        """End the last lot, and begin one with a marker of its own, which no command line holds yet."""
        self.close()
        self.marker = f"worker-{os.urandom(8).hex()}"

    def show(self, processes: int) -> None:
        """Start that many processes that have the marker in their command lines."""
        for _ in range(processes):
            command = [self._sh, "-c", "echo; read line", self.marker]
            self._shown.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for process in self._shown:
            if process.stdout is not None:
                process.stdout.readline()  # before it has said something its command line may not be there yet

    @property
    def pids(self) -> set[int]:
        """The numbers of the processes of this lot."""
        return {process.pid for process in self._shown}

    def asks(self, verdict: str, number: int) -> Asks:
        """What leads to ``verdict`` on any machine, by commands that have just been written."""
        # Nothing takes twice the memory that there is, and all that takes any takes more than none of it.
        share = 0.0 if verdict == "REFUSE_HOST" else 2.0
        account, loop, seats = (
            self._command(f"{check}-{number}", said) for check, said in answers(verdict, number).items()
        )
        return Asks(account, loop, seats, share=share, marker=self.marker, max_workers=_FAR, seconds=_SECONDS)

    def _command(self, name: str, said: object) -> tuple[str, str]:
        script = self._folder / f"{name}.sh"
        trace, answer = shlex.quote(str(self._trace)), shlex.quote(json.dumps(said))
        script.write_text(f"echo {name} >> {trace}\necho {answer}\n", encoding="utf-8", errors="surrogateescape")
        self._scripts.append(script)
        return self._sh, str(script)

    def traces(self) -> list[str]:
        """Which scripts of this lot were run, in order of their names, as often as they were."""
        return sorted(self._trace.read_text(encoding="utf-8").splitlines()) if self._trace.exists() else []

    def close(self) -> None:
        """End the processes, and remove scripts and trace; safe to call twice."""
        for process in self._shown:
            with process:  # closes the pipes, and waits
                pass
        self._shown.clear()
        for file in (*self._scripts, self._trace):
            with suppress(OSError):
                file.unlink()
        self._scripts.clear()
