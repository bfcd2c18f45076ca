"""The worker's part of the instruction leg: exactly n or 2n calls, for a tool outside that counts the whole process.

Both kinds of process import, set up, warm and tear down alike, down to a second round that is set up and then run or
left; so the difference of their counts is that round and its one check. It counts nothing itself. Standard library
only, because whatever it imports is counted too.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Mapping
from typing import Any

from harness.measure.legs.rounds import WARM, Round
from harness.measure.opening import close, open_slice

__all__ = ["run"]


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Make ``loops`` calls once or, where ``rounds`` is 2, twice; the answer names the process that was counted."""
    # The interpreter's own end frees what the calls left behind, at a cost that grows with them: it is left out.
    atexit.register(_leave)
    opened = open_slice(job)
    gc.disable()
    try:
        for n in (WARM, job["loops"]):
            Round(opened, job["estimand"], n).run()
        second = Round(opened, job["estimand"], job["loops"])
        if job["rounds"] == 2:
            second.run()
    finally:
        close(opened)
    return {"pid": os.getpid(), "engine": opened.what.engine}


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
