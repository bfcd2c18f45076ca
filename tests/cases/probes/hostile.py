"""Probes that misbehave, each in one way."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from harness import probe
from harness.measure.clock import Tally, Undefined, WorkNotDoneError


def work() -> int:
    return sum(range(300))


class Base:
    """A sound slice; the others break one thing of it."""

    kpis = frozenset({"x"})
    engine = "none"

    def open(self, *_: Any) -> Any:
        return self

    def batch(self, loops: int) -> Any:
        def run() -> int:
            total = 0
            for _ in range(loops):
                total = work()
            return total

        return run

    def check(self, result: object) -> None:
        if result != work():
            raise WorkNotDoneError(f"the sum was {result}")


class Raises(Base):
    def open(self, *_: Any) -> Any:
        raise RuntimeError("no such table: orders")


class RaisesInTheClock(Base):
    def batch(self, loops: int) -> Any:
        def run() -> int:
            raise ZeroDivisionError("in the batch")

        return run


class Exits(Base):
    def open(self, *_: Any) -> Any:
        sys.exit(3)


class Dies(Base):
    def open(self, *_: Any) -> Any:
        os._exit(7)


class Hangs(Base):
    def open(self, *_: Any) -> Any:
        time.sleep(3600)


class Prints(Base):
    def open(self, *_: Any) -> Any:
        print("hello from the probe\n" * 20_000)
        print('{"tally": {"numerator": 1}}', file=sys.stderr)
        return self


class Forks(Base):
    def open(self, *_: Any) -> Any:
        if os.fork() == 0:
            return Tally(666)
        return self


class LeavesAChild(Base):
    def open(self, *_: Any) -> Any:
        if os.fork() == 0:
            time.sleep(3600)
            os._exit(0)
        return self


class DoesNoWork(Base):
    def batch(self, loops: int) -> Any:
        return lambda: 0

    def check(self, result: object) -> None:
        pass


class EmptyCalls(Base):
    def batch(self, loops: int) -> Any:
        def run() -> None:
            for _ in range(loops):
                pass

        return run

    def check(self, result: object) -> None:
        pass


class IgnoresLoops(Base):
    def batch(self, loops: int) -> Any:
        def run() -> int:
            return sum(range(200_000))

        return run

    def check(self, result: object) -> None:
        pass


class WrongWork(Base):
    def batch(self, loops: int) -> Any:
        return lambda: -1


class NoEngine(Base):
    engine = "warp"


class NotANumber(Base):
    def open(self, *_: Any) -> Any:
        return Tally(float("nan"))


class Infinite(Base):
    def open(self, *_: Any) -> Any:
        return Tally(float("inf"))


class ZeroDenominator(Base):
    def open(self, *_: Any) -> Any:
        return Tally(0, 0)


class SeedDependent(Base):
    def open(self, *_: Any) -> Any:
        return Tally(abs(hash("a")) % 1_000_003)


class NotASlice(Base):
    def open(self, *_: Any) -> Any:
        return 42


class Honest(Base):
    def open(self, *_: Any) -> Any:
        return Undefined("not-offered", "There is no such seam.")


class Count(Base):
    def open(self, *_: Any) -> Any:
        return Tally(3, evidence=("three",))


@probe(engine="mock", check=lambda result: result == work())
def sugar(size: str) -> Any:
    assert size == "4"
    return work


@probe
async def sugar_async() -> Any:
    import asyncio

    loop = asyncio.get_running_loop()

    async def call() -> int:
        assert asyncio.get_running_loop() is loop
        await asyncio.sleep(0)
        return work()

    return call


class Frozen:
    """What a factory may return."""

    name, version = "frozen", "1"

    def offer(self, seam: str, engine: str) -> object | None:
        return None


async def make_async() -> Frozen:
    return Frozen()


@probe
def forgotten_await() -> Any:
    async def hop() -> int:
        return work()

    return lambda: hop()


def no_decorator() -> Any:
    return work


def make_nothing() -> object:
    return object()
