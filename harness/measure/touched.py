"""Which files a slice touches: modules and data, seen by an audit hook in a worker of its own.

A timed worker never carries the hook. Compiled files are named by their source. What lies outside the project and
outside this package (interpreter, dependencies) is not listed: the machine's fingerprint speaks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Watch"]

_SPAWNS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system"}
"""What starts another process: whatever that one reads is not seen here."""

_SKIPPED = {"site-packages", "dist-packages", "__pycache__", ".git", ".harness", "node_modules"}


class Watch:
    """Collects the paths that are opened while it is on. An audit hook cannot be removed, only told to be quiet."""

    def __init__(self) -> None:
        self.spawned = False
        self._opened: set[str] = set()
        self._on = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._on:
            return
        if event == "open":
            if isinstance(args[0], str) and _reads(args[1]):
                self._opened.add(args[0])
        elif event in _SPAWNS:
            self.spawned = True

    def start(self) -> None:
        """Begin to collect."""
        self._on = True

    def stop(self, roots: Iterable[str]) -> list[str]:
        """Stop; return the touched files as sorted absolute paths that lie under one of ``roots``."""
        self._on = False
        named = set(self._opened)
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str):
                named.add(file)
        bases = [Path(root).resolve() for root in roots]
        return sorted({str(path) for name in named if (path := _source(name)) is not None and _inside(path, bases)})


def _reads(mode: object) -> bool:
    return not isinstance(mode, str) or not set(mode) & set("wax+")


def _source(name: str) -> Path | None:
    path = Path(name)
    if path.suffix == ".pyc":
        # __pycache__/planner.cpython-311.pyc was compiled from ../planner.py
        path = path.parent.parent / (path.name.split(".", 1)[0] + ".py")
    try:
        resolved = path.resolve()
        return resolved if resolved.is_file() else None
    except (OSError, ValueError):
        return None


def _inside(path: Path, bases: list[Path]) -> bool:
    for base in bases:
        if path.is_relative_to(base):
            return not _SKIPPED & set(path.relative_to(base).parts)
    return False
