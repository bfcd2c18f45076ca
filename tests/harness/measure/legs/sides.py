"""Two little trees with one slice each, as a gate would lay them out: names of equal length, edited source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

THING = '''"""A slice of a thousand inner calls."""

TABLE = tuple(range(8))


class Kept:
    size = 8


def inner(value):
    """Three times and one more."""
    grown = value * 3 + 1
    return grown % 97


def unused(value):
    return value + 1


def step(times=1000):
    value = 0
    for _ in range(times):
        value = inner(value)
    return value + abs(value) - len(TABLE)
'''

BENCH = '''"""The probe of the slice: batches, single calls and coroutines."""

import thing


class Batched:
    engine = "none"

    def open(self, kpi, runtime, workload, params):
        self.expected = thing.step()
        return self

    def batch(self, loops):
        def run():
            result = None
            for _ in range(loops):
                result = thing.step()
            return result

        return run

    def calls(self, n):
        return (thing.step for _ in range(n))

    def check(self, result):
        assert result == self.expected, result


class Awaited(Batched):
    def batch(self, loops):
        async def run():
            result = None
            for _ in range(loops):
                result = await self.step()
            return result

        return run

    def calls(self, n):
        return (self.step for _ in range(n))

    async def step(self):
        return thing.step()


class Idle(Batched):
    """It does its work once, however many calls are asked for."""

    def batch(self, loops):
        return thing.step


class Count(Batched):
    """It answers no slice at all."""

    def open(self, kpi, runtime, workload, params):
        return 7


class Short(Batched):
    """It yields fewer calls than it was asked for."""

    def calls(self, n):
        return (thing.step for _ in range(n - 1))


class Allocates(Batched):
    def open(self, kpi, runtime, workload, params):
        self.expected = 1000
        return self

    def batch(self, loops):
        def run():
            size = 0
            for _ in range(loops):
                size = len(self.block())
            return size

        return run

    def block(self):
        return bytearray(1000)
'''


def side(folder: Path, *edits: tuple[str, str]) -> Path:
    """A tree in ``folder`` whose thing.py has the ``edits`` made; each must apply."""
    source = THING
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    folder.mkdir()
    (folder / "thing.py").write_text(source, encoding="utf-8")
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    return folder


def job(folder: Path, probe: str = "Batched", **more: Any) -> dict[str, Any]:
    """The job of the slice in ``folder``."""
    return {
        "kpi": "x",
        "estimand": "call-mean",
        "timed": True,
        "params": {},
        "probe": f"bench:{probe}",
        "runtime": "seams.runtimes.reference:make",
        "runtime_name": "reference",
        "seam": "turn/view",
        "frozen_sync": False,
        "workload": None,
        "workload_name": None,
        "path": [str(folder)],
        "roots": [str(folder)],
        "under_test": [],
        "min_time": 0.005,
        "limit": 60,
        **more,
    }
