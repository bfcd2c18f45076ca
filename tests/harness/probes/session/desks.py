"""Runtimes of the session's image, of which one part is exchanged."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from seams.session.checkpoint import SqliteCheckpoints
from seams.session.image import SessionImages
from seams.session.recall import CoreImages


class Desk:
    """Offers the reference parts, but for those that are given; one of None is not offered."""

    name = "stub"
    version = "1"

    def __init__(self, **parts: Any) -> None:
        self._parts = {"image": SessionImages, "recall": CoreImages, "checkpoint": SqliteCheckpoints, **parts}

    def offer(self, seam: str, engine: str) -> Any:
        assert engine == "none"
        made = self._parts[seam.partition("/")[2]]
        return None if made is None else made()


def slow(kind: type, *methods: str) -> Any:
    """A kind whose ``methods`` are coroutine functions that wait."""

    def waiting(name: str) -> Any:
        plain = getattr(kind, name)

        async def method(self, *given, **more):
            await asyncio.sleep(0)
            return plain(self, *given, **more)

        return method

    return type(f"Slow{kind.__name__}", (kind,), {name: waiting(name) for name in methods})


def cores(kind: type) -> Any:
    """A maker of core images of ``kind``."""
    return lambda: SimpleNamespace(core=kind)
