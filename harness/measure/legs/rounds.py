"""A round of calls for the exact legs: set up first, run on demand, checked after. It reads no clock.

Set-up and run are apart, because two processes that set up the same and run different amounts differ by the calls
alone. Standard library only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from harness.measure.clock import is_async
from harness.measure.opening import Opened, Refused
from harness.measure.timing import calls_of, together

__all__ = ["WARM", "Round", "roots_of", "shown"]

WARM = 64
"""Calls before anything is counted: CPython specialises a code object after 8 to 16 runs of it, and caches fill on
the first; 64 leaves a factor of four."""


class Round:
    """``n`` calls of an opened slice, set up and waiting."""

    def __init__(self, opened: Opened, estimand: str, n: int) -> None:
        wanted = "batch" if estimand == "call-mean" else "calls"
        make = getattr(opened.what, wanted, None)
        if make is None:
            raise Refused("error", f"The estimand {estimand} needs a slice with {wanted}(n); this one has none.")
        self._opened = opened
        self._run: Callable[[], Any] = make(n) if wanted == "batch" else together(calls_of(opened.what, n))

    def run(self, within: AbstractContextManager[object] | None = None) -> None:
        """Run the calls inside ``within``, on the worker's loop if they are coroutines, and check the last result.

        Raises:
            WorkNotDoneError: from the slice's ``check``.
        """
        inside = nullcontext() if within is None else within
        if is_async(self._run):
            result = self._opened.loop.run(_awaited(self._run, inside))
        else:
            with inside:
                result = self._run()
        self._opened.what.check(result)


async def _awaited(run: Callable[[], Awaitable[object]], inside: AbstractContextManager[object]) -> object:
    with inside:
        return await run()


def roots_of(job: Mapping[str, Any]) -> list[Path]:
    """The project's folders, as code objects name them and, where they are reached by a link, as they really lie."""
    named = [Path(each) for each in job["path"]]
    return named + [really for each in named if (really := each.resolve()) != each]


def shown(filename: str, roots: list[Path], places: list[str]) -> tuple[str, bool]:
    """A source file by a name that is the same on both sides, and whether it lies under one of ``roots``.

    Under a root it is relative to the root; elsewhere it is relative to the longest of ``places`` (the import path)
    that holds it; what is no file (``<string>``) keeps its name.
    """
    if not filename.startswith("/"):
        return filename, False
    path = Path(filename)
    for root in roots:
        if path.is_relative_to(root) and "site-packages" not in path.parts:
            return path.relative_to(root).as_posix(), True
    for place in sorted(places, key=len, reverse=True):
        if place and path.is_relative_to(place):
            return path.relative_to(place).as_posix(), False
    return filename, False
