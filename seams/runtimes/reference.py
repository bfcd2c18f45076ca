"""The reference runtime: it offers every seam whose module ``seams/<floor>/<room>.py`` exists.

By rule, a seam module has ``offer(engine)``, which returns the object that satisfies the seam's Protocol, or None
where that engine cannot complete it. Only the module asked for is imported.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from seams.contract import Engine

__all__ = ["Reference", "make"]


class Reference:
    """The runtime that ships: real parts, mock engines."""

    name = "reference"
    version = "1"

    def offer(self, seam: str, engine: Engine) -> object | None:
        """Import ``seams/<seam>`` and ask it; None where there is no such module."""
        floor, _, room = seam.partition("/")
        module = f"seams.{floor}.{room}"
        try:
            if find_spec(module) is None:
                return None
        except ModuleNotFoundError:  # the floor itself is not built
            return None
        offered: object | None = import_module(module).offer(engine)
        return offered


def make() -> Reference:
    """The factory, as ``--runtime seams.runtimes.reference:make`` would name it."""
    return Reference()
