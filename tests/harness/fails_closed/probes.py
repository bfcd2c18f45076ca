"""Slices on a clock that somebody broke, and slices whose subject or surroundings are not what they should be."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from typing import Any

from harness.measure.clock import Tally
from tests.cases.probes.hostile import Base

_REAL_NS = time.perf_counter_ns


def _clock(read: Any) -> None:
    time.perf_counter_ns = read


class FrozenClock(Base):
    """As a library does that lends tests a clock of its own."""

    def open(self, *_: Any) -> Any:
        _clock(lambda: 7)
        return self


class FrozenAndAsleep(FrozenClock):
    """CPU time does not tell how long it takes either."""

    def batch(self, loops: int) -> Any:
        return lambda: time.sleep(loops * 0.01)

    def check(self, result: object) -> None:
        pass


class CoarseClock(Base):
    """A clock that moves every 15.6 ms."""

    def open(self, *_: Any) -> Any:
        _clock(lambda: _REAL_NS() // 15_600_000 * 15_600_000)
        return self


class RunsBackwards(Base):
    """Each reading lies before the last."""

    def open(self, *_: Any) -> Any:
        _clock(lambda: -_REAL_NS())
        return self


class SaysNoNumber(Base):
    def open(self, *_: Any) -> Any:
        _clock(lambda: float("nan"))
        return self


class SaysForever(Base):
    """The second reading is beyond every number."""

    def open(self, *_: Any) -> Any:
        readings = iter((0.0, float("inf")))
        _clock(lambda: next(readings, 0.0))
        return self


class FreezesLater(Base):
    """The clock runs while the loops are looked for, and stands still from the second value of a pair on."""

    def __init__(self) -> None:
        self.values = 0

    def batch(self, loops: int) -> Any:
        self.values += 1
        if self.values > 1 and loops == 10:
            _clock(lambda: 7)
        return super().batch(loops)


class ImportsLate(Base):
    """Its call imports a part of the subject, from wherever the path leads by then."""

    def open(self, kpi: str, runtime: Any, workload: Any, params: Any) -> Any:
        sys.path.insert(0 if params["first"] == "elsewhere" else len(sys.path), params["elsewhere"])
        return self

    def batch(self, loops: int) -> Any:
        run = super().batch(loops)

        def late() -> Any:
            importlib.import_module("shadowed_subject.part")
            return run()

        return late


class Surroundings(Base):
    """What a worker sees of the place and the flags that it was started with."""

    def open(self, *_: Any) -> Any:
        seen = [f"{name}={os.environ.get(name)}" for name in ("FAILS_CLOSED_MARK", "PYTHONHASHSEED")]
        flags = [f"{name}={int(getattr(sys.flags, name))}" for name in ("utf8_mode", "safe_path", "hash_randomization")]
        return Tally(1, evidence=(*seen, *flags, f"cwd={Path.cwd()}"))
