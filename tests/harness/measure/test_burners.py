"""Busy cores: they spin, and they end, however whoever wanted them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from harness.measure.burners import burning
from tests.conftest import REPO

PATIENCE_S = 30.0


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def ends(pid: int) -> bool:
    until = time.monotonic() + PATIENCE_S
    while not gone(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return gone(pid)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_as_many_run_as_were_asked_for_and_none_afterwards(count: int) -> None:
    with burning(count) as burners:
        pids = burners.pids
        assert (len(set(pids)), burners.alive) == (count, True)
        assert not any(map(gone, pids))
    assert all(map(gone, pids))


def test_one_that_was_ended_by_somebody_is_missed() -> None:
    with burning(2) as burners:
        os.kill(burners.pids[0], signal.SIGKILL)
        assert ends(burners.pids[0])
        assert not burners.alive
        rest = burners.pids[1]
    assert gone(rest)


def test_they_end_on_an_error_inside() -> None:
    pids: tuple[int, ...] = ()
    with pytest.raises(KeyboardInterrupt), burning(1) as burners:
        pids = burners.pids
        raise KeyboardInterrupt
    assert pids
    assert all(map(gone, pids))


SCRIPT = """
import time
from harness.measure.burners import burning
with burning(2) as burners:
    print(*burners.pids, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_they_end_with_their_parent(number: signal.Signals) -> None:
    """Ctrl-C unwinds; the other two do not, and then each notices that its parent has gone."""
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.send_signal(number)
        parent.wait(PATIENCE_S)
    assert all(map(ends, pids))
