"""What is there of a process besides memory, and what has come to it: tasks, threads, descriptors, child processes.

Everything is asked of the system or of the interpreter, never of the runtime. A thread counts whoever made it, a child
that ended until somebody waits for it, which is a kind of its own here. A daemon that left for another session is seen
where this process adopts it, see :mod:`harness.probes.session._adopting`.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakSet

__all__ = ["CHILD", "DESCRIPTOR", "ENDED", "TASK", "THREAD", "There", "come", "readable", "there"]

TASK, THREAD, DESCRIPTOR, CHILD = "task", "thread", "descriptor", "child_process"

ENDED = "ended_child"
"""A child that has ended and that nobody has waited for: its parent's affair, or that of whoever adopted it."""

_PROC = Path("/proc")
_STATE, _PPID, _SESSION, _START = 0, 1, 3, 19  # places behind the name in /proc/<pid>/stat, see proc(5)


class There(NamedTuple):
    """What a process has, each with what tells it from a later one under the same number."""

    tasks: WeakSet[Any]
    threads: Mapping[tuple[int, str], str]
    descriptors: Mapping[tuple[int, str], str]
    children: Mapping[tuple[int, str], str]
    ended: Mapping[tuple[int, str], str]


def readable() -> bool:
    """Whether the system shows the descriptors, threads and children of a process."""
    return all((_PROC / "self" / name).is_dir() for name in ("fd", "task"))


def there() -> There:
    """What there is now, once what nobody refers to is collected."""
    gc.collect()
    living: dict[tuple[int, str], str] = {}
    ended: dict[tuple[int, str], str] = {}
    for key, name, has_ended in _children():
        (ended if has_ended else living)[key] = name
    return There(WeakSet(_tasks()), dict(_threads()), dict(_descriptors()), living, ended)


def come(before: There) -> dict[str, list[str]]:
    """What is there now and was not ``before``, by kind: one description each."""
    now = there()
    found = {TASK: sorted(str(each.get_name()) for each in now.tasks if each not in before.tasks)}
    known = {**before.children, **before.ended}  # a child that was there does not come by ending
    kinds = ((THREAD, before.threads), (DESCRIPTOR, before.descriptors), (CHILD, known), (ENDED, known))
    for (kind, old), new in zip(kinds, now[1:], strict=True):
        found[kind] = sorted(told for key, told in new.items() if key not in old)
    return found


def _tasks() -> list[Any]:
    """Tasks that have not ended, of every loop, whichever thread runs it.

    They are looked for among all objects, because a loop that nobody runs any more is on no list.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return []
    return [each for each in gc.get_objects() if issubclass(type(each), asyncio.Task) and not each.done()]


def _threads() -> Iterator[tuple[tuple[int, str], str]]:
    """Every thread that the system runs; those of Python by their names, the others by the system's."""
    names = {each.native_id: each.name for each in threading.enumerate()}
    for folder in _numbered(_PROC / "self" / "task"):
        told = _stat(folder)
        if told is not None:
            yield (int(folder.name), told[1][_START]), names.get(int(folder.name), told[0])


def _descriptors() -> Iterator[tuple[tuple[int, str], str]]:
    """Every open descriptor with what it leads to; that of the listing itself leads nowhere by then."""
    for each in _numbered(_PROC / "self" / "fd"):
        try:
            target = str(each.readlink())
        except OSError:
            continue
        yield (int(each.name), target), target


def _children() -> Iterator[tuple[tuple[int, str], str, bool]]:
    """Children and theirs, and whether each has ended.

    Where this process leads a session, also what else is in it, though its parent is gone.
    """
    own, leads = os.getpid(), os.getsid(0) == os.getpid()
    told = {int(each.name): stat for each in _numbered(_PROC) if (stat := _stat(each)) is not None}
    found = {own}
    grown = True
    while grown:
        more = {
            pid
            for pid, (_, fields) in told.items()
            if int(fields[_PPID]) in found or (leads and int(fields[_SESSION]) == own)
        }
        grown = not more <= found
        found |= more
    for pid in found - {own}:
        name, fields = told[pid]
        yield (pid, fields[_START]), name, fields[_STATE] in "ZX"


def _numbered(folder: Path) -> Iterator[Path]:
    return (folder / name for name in os.listdir(folder) if name.isdecimal())  # noqa: PTH208 - names are all there is


def _stat(folder: Path) -> tuple[str, list[str]] | None:
    """The name, and the fields behind it; None of what has ended meanwhile. A name may hold blanks and brackets."""
    try:
        text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    name, _, fields = text.partition("(")[2].rpartition(") ")
    return name, fields.split()
