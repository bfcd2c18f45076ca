"""Ends what outlives a worker: every process that a probe started, daemons included.

While :class:`Orphans` is entered, this process is the one to which the children of dead processes fall, however often
they forked and whatever session they went to; so none gets away, and none is searched for by name. It refuses to end
a process that was a child before, or one that lives in this process's own session: those are somebody else's. One
launch, or one pair, at a time: a child that another thread starts meanwhile in a session of its own would be taken for
a stray.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from types import TracebackType

__all__ = ["Orphans"]

_SET, _GET = 36, 37  # PR_SET_CHILD_SUBREAPER and PR_GET_CHILD_SUBREAPER of <sys/prctl.h>, Linux 3.4 and later
_SETTLE_S = 0.1
"""Helpers that end once their parent is gone (a resource tracker reads the end of a pipe) are given this long."""

_GIVE_UP_S = 2.0


class Orphans:
    """Adopts the children of dead processes while it is entered. ``adopting`` is False where the system refuses."""

    __slots__ = ("_known", "_was", "adopting")

    def __init__(self) -> None:
        self.adopting = False
        self._was = 0
        self._known: frozenset[int] = frozenset()

    def __enter__(self) -> Orphans:
        self._was = _subreaper()
        self.adopting = self._was == 1 or _become_subreaper(True)
        self._known = frozenset(pid for pid, _ in _children()) if _any_child() else frozenset()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.adopting and self._was != 1:
            _become_subreaper(False)

    def end(self) -> int:
        """End every adopted process, and what falls to us as they die; how many had to be ended.

        To be called once the worker itself was waited for. Without any child it costs one system call.
        """
        ended: set[int] = set()
        began = time.monotonic()
        while _any_child():
            strays = [child for child in _children() if child[0] not in self._known]
            if not strays or time.monotonic() - began > _GIVE_UP_S:
                break
            living = [pid for pid, state in strays if state not in "ZX"]
            if ended or time.monotonic() - began > _SETTLE_S:
                for pid in living:
                    # A child of ours keeps its number until we wait for it: no other process can be hit.
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                        ended.add(pid)
            for pid, _ in strays:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.002)
        return len(ended)


def _subreaper() -> int:
    """Whether this process is a subreaper: 1 or 0; -1 where that cannot be told."""
    try:
        import ctypes  # here, because it costs as much as a small command

        found = ctypes.c_int()
        done = ctypes.CDLL(None).prctl(_GET, ctypes.byref(found), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return -1
    return found.value if done == 0 else -1


def _become_subreaper(wanted: bool) -> bool:
    try:
        import ctypes  # as above

        return bool(ctypes.CDLL(None).prctl(_SET, int(wanted), 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _any_child() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> list[tuple[int, str]]:
    """(process id, state) of each child of this process that is in another session."""
    ours, session = str(os.getpid()), str(os.getsid(0))
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError):
            # "pid (name) state parent group session ...": the name may hold anything, parentheses too.
            facts = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
            state, parent, _, in_session = (fact.decode() for fact in facts[:4])
            if parent == ours and in_session != session:
                found.append((int(entry.name), state))
    return found
