"""The warden of a loop, from the loop's side: one process that is handed job after job, begun anew if it is gone."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from seams.rsi.errors import LoopError

__all__ = ["Supervised"]

_ROOT = str(Path(__file__).resolve().parents[2])
_END_S = 20.0
"""Twice what the warden gives itself to end what a command left."""


class Supervised:
    """No warden runs until the first job. Whatever ends this process ends the warden, and by it all that it runs."""

    def __init__(self) -> None:
        self._warden: subprocess.Popen[bytes] | None = None

    def ask(self, job: Mapping[str, Any], limit_s: float) -> dict[str, Any] | None:
        """What the warden reports of ``job``; None where it was ended from outside, or is late.

        Raises:
            LoopError: no warden can be started.
        """
        warden = self._warden = self._warden or _started()
        line = b""
        try:
            _end_of(warden.stdin).write(json.dumps(job).encode() + b"\n")
            _end_of(warden.stdin).flush()
            line = _line_within(_end_of(warden.stdout), time.monotonic() + limit_s)
            report: dict[str, Any] = json.loads(line)
        except (BrokenPipeError, ValueError):
            self.close()
            return None
        except BaseException:  # a Ctrl-C while it works: what it runs must end now, and not after its limit
            self.close()
            raise
        return report

    def close(self) -> None:
        """End the warden, and what it still runs; safe to call twice."""
        warden, self._warden = self._warden, None
        if warden is not None:
            with suppress(BrokenPipeError):
                _end_of(warden.stdin).close()  # has it end everything
            try:
                warden.wait(_END_S)
            except subprocess.TimeoutExpired:  # it was stopped, or cannot end something
                warden.kill()
                warden.wait()
            _end_of(warden.stdout).close()


def _started() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-s", "-S", "-B", "-m", "seams.rsi.warden"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is for the loop, which then ends the warden
            env={"PYTHONPATH": _ROOT, "PATH": os.defpath},
        )
    except OSError as error:
        raise LoopError(f"The warden cannot be started: {error}. Look with: ulimit -u") from error


def _end_of(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("the warden was started without pipes")
    return pipe


def _line_within(pipe: IO[bytes], deadline: float) -> bytes:
    """A line, or what came of it: a warden bounds its commands, but may be stopped or killed itself."""
    held = bytearray()
    while not held.endswith(b"\n") and (left := deadline - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            chunk = os.read(pipe.fileno(), 1 << 16)
            if not chunk:
                break
            held += chunk
    return bytes(held)
