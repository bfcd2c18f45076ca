"""How a long command hears that it shall stop: the first signal raises, later ones are let pass.

A second signal must not cut off the writing of what was measured. What was ignored when we were started, as by nohup,
stays ignored, and whoever handled a signal before handles it again afterwards.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

__all__ = ["SIGNALS", "stopping"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping(raising: Callable[[int], BaseException], numbers: Sequence[int] = SIGNALS) -> Iterator[list[int]]:
    """Raise ``raising(number)`` at the first of the signals ``numbers``; yields the list that then holds its number."""
    heard: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        if not heard:
            heard.append(number)
            raise raising(number)

    before = {each: signal.signal(each, stop) for each in numbers if signal.getsignal(each) is not signal.SIG_IGN}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
