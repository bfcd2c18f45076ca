"""The worker's part of the allocation leg: gross blocks and bytes of a call, by memray, named by Python function.

Gross is what was asked for, whether freed since or not; what is merely retained is another quantity and not counted
here. To know the Python stack memray profiles the calls, and a profiled call makes a frame object that an ordinary
one does not: so the totals are taken with the profile off, and only the names with it on. Imports memray, an optional
dependency, and otherwise the standard library only.
"""

from __future__ import annotations

import gc
import importlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.measure.legs.rounds import WARM, Round, roots_of, shown
from harness.measure.opening import Opened, Refused, close, open_slice

__all__ = ["run"]

_FREES = ("FREE", "MUNMAP", "PYMALLOC_FREE")

Tallied = dict[tuple[str, str], list[int]]
"""(file, function) -> [blocks, bytes]."""


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Blocks and bytes a call: the slope between ``loops`` and twice as many calls, after a round thrown away.

    Raises:
        Refused: memray is not installed.
    """
    try:
        memray = importlib.import_module("memray")
    except ImportError as error:
        raise Refused("not-installed", f"memray cannot be imported ({error}): install loopladder[alloc]") from error
    opened = open_slice(job)
    gc.disable()
    loops = job["loops"]
    try:
        for n in (WARM, loops):
            Round(opened, job["estimand"], n).run()
        # The first tracked round pays for what tracking itself sets up.
        tracked(memray, opened, job, loops, named=False)
        fewer, more = (tracked(memray, opened, job, n, named=False) for n in (loops, 2 * loops))
        fewer_named, more_named = (tracked(memray, opened, job, n, named=True) for n in (loops, 2 * loops))
    finally:
        close(opened)
    roots = roots_of(job)
    functions: dict[str, list[float]] = {}
    for (file, function), each in more_named.items():
        before = fewer_named.get((file, function), [0, 0])
        share = [(late - early) / loops for late, early in zip(each, before, strict=True)]
        if any(share):
            functions[f"{shown(file, roots, sys.path)[0]}:{function}"] = share
    blocks, size = ((_total(more, index) - _total(fewer, index)) / loops for index in (0, 1))
    return {"blocks": blocks, "bytes": size, "functions": functions}


def tracked(memray: Any, opened: Opened, job: Mapping[str, Any], n: int, *, named: bool) -> Tallied:
    """What ``n`` calls allocate. Set-up and check are outside; small objects count, though they share an arena."""
    frees = {memray.AllocatorType[name] for name in _FREES}
    found: Tallied = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "allocations.bin"
        waiting = Round(opened, job["estimand"], n)
        tracker = memray.Tracker(file, trace_python_allocators=True)
        waiting.run(tracker if named else _unprofiled(tracker))
        with memray.FileReader(file) as reader:
            for record in reader.get_allocation_records():
                if record.allocator in frees:
                    continue
                stack = record.stack_trace(max_stacks=1) if named else ()
                function, filename = stack[0][:2] if stack else ("(no Python frame)", "")
                entry = found.setdefault((filename, function), [0, 0])
                entry[0] += record.n_allocations
                entry[1] += record.size
    return found


@contextmanager
def _unprofiled(tracker: Any) -> Iterator[None]:
    """``tracker``, without its profile on this thread: it sees every allocation and knows no stack."""
    with tracker:
        sys.setprofile(None)
        yield


def _total(found: Tallied, index: int) -> int:
    return sum(each[index] for each in found.values())
