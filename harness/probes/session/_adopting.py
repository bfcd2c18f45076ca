"""Makes this process the one to which the children of dead processes fall, so that a daemon is found however it left.

It holds while it is entered, and only of what loses its parent meanwhile. What was adopted and has ended stays until
this process ends, since nobody else waits for it; so of an ended child alone nobody can say whose it was. Linux has
this from 3.4 on; where the system refuses, nothing is adopted, and that is said.
"""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Self

__all__ = ["Adopting"]

_SET, _GET = 36, 37  # PR_SET_CHILD_SUBREAPER and PR_GET_CHILD_SUBREAPER of <sys/prctl.h>


class Adopting:
    """To be entered. ``adopts`` is False where the system refuses."""

    __slots__ = ("_was", "adopts")

    def __init__(self) -> None:
        self.adopts = False
        self._was = False

    def __enter__(self) -> Self:
        self._was = _adopts()
        self.adopts = self._was or _adopt(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.adopts and not self._was:
            _adopt(False)


def _adopts() -> bool:
    found = ctypes.c_int(0)
    try:
        done: int = ctypes.CDLL(None).prctl(_GET, ctypes.byref(found), 0, 0, 0)
    except (OSError, AttributeError):  # a C library without it
        return False
    return done == 0 and found.value == 1


def _adopt(wanted: bool) -> bool:
    try:
        done: int = ctypes.CDLL(None).prctl(_SET, int(wanted), 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return done == 0
