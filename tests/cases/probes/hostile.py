"""Probes that misbehave, each in one way."""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
import sys
import tempfile
import threading
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

    return lambda: hop()  # noqa: PLW0108 - that nobody awaits it is the point


def no_decorator() -> Any:
    return work


def make_nothing() -> object:
    return object()


SUBTLE = {
    "basis": Tally(1, basis="foo"),
    "no-basis": Tally(1, basis=None),  # type: ignore[arg-type]
    "clock-basis": Tally(1, basis="clock"),
    "source": Tally(1, source="foo"),
    "no-numerator": Tally(None, 5),  # type: ignore[arg-type]
    "huge": Tally(2**70),
    "huger": Tally(10**300),
    "hugest": Tally(10**5000),
    "excluded-huge": Tally(1, excluded=2**80),
    "excluded-none": Tally(1, excluded=None),  # type: ignore[arg-type]
    "excluded-negative": Tally(1, excluded=-1),
    "reasons-huge": Tally(1, reasons={"b": 2**70}),
    "reasons-negative": Tally(1, reasons={"b": -1}),
    "reasons-key": Tally(1, reasons={1: 1}),  # type: ignore[dict-item]
    "reasons-none": Tally(1, reasons=None),  # type: ignore[arg-type]
    "knobs": Tally(1, knobs={"price": float("nan")}, basis="model"),
    "evidence-number": Tally(1, evidence=(1, None)),  # type: ignore[arg-type]
    "evidence-nan": Tally(1, evidence=("fine", float("nan"))),  # type: ignore[arg-type]
    "evidence-object": Tally(1, evidence=(object(),)),  # type: ignore[arg-type]
    "evidence-none": Tally(1, evidence=(None,)),  # type: ignore[arg-type]
    "evidence-text": Tally(1, evidence="one sentence"),  # type: ignore[arg-type]
    "denominator-negative": Tally(1, -2),
    "undefined-list": Undefined(["a"], "b"),  # type: ignore[arg-type]
    "undefined-none": Undefined(None, None),  # type: ignore[arg-type]
    "undefined-detail": Undefined("not-offered", 5),  # type: ignore[arg-type]
    "count-negative": Tally(-1),
    "count-fraction": Tally(1.5),
    "long-evidence": Tally(7, evidence=tuple("x" * 9_000 for _ in range(50))),
}
"""What a probe may hand over that is nearly right; all but the last are no values."""


class Subtle(Base):
    def open(self, kpi: str, *_: Any) -> Any:
        return SUBTLE[kpi.removeprefix("own_").replace("_", "-")]


class OddSource(Base):
    source = "weird"


class ListSource(Base):
    source = ["live"]  # noqa: RUF012 - as an author might


class LeavesAThread(Base):
    def open(self, *_: Any) -> Any:
        threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
        return self


class HangsInClose(Base):
    def close(self) -> None:
        time.sleep(3600)


class RaisesInClose(Base):
    def close(self) -> None:
        raise OSError("it is shut")


class SaysFalse(Base):
    def check(self, result: object) -> Any:
        return result == "something else"


class CallsThatSayFalse:
    """A slice of single calls, written by hand."""

    engine = "none"

    def open(self, *_: Any) -> Any:
        return self

    def calls(self, n: int) -> Any:
        return iter([work] * n)

    def check(self, result: object) -> Any:
        return result != work()


class SpeaksForTheWorker(Base):
    """Writes to every pipe that it finds, and is gone before the worker has answered."""

    said = b""
    dies = True

    def open(self, *_: Any) -> Any:
        for fd in range(3, 64):
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_WRONLY:
                    os.write(fd, self.said)
            except OSError:
                continue
        if self.dies:
            os._exit(0)
        return self


class SaysFive(SpeaksForTheWorker):
    said = b"5\n"


class SaysNothing(SpeaksForTheWorker):
    said = b"{}\n"


class SaysUndefined(SpeaksForTheWorker):
    said = b'{"undefined":{}}\n'


class SaysBytes(SpeaksForTheWorker):
    said = b"\x00\xff\xfe[[[["


class SaysATally(SpeaksForTheWorker):
    said = b'{"slice": "batch", "engine": "none", "source": null, "touched": []}\n'


class SaysTooEarly(SpeaksForTheWorker):
    """Half a line before the worker's own."""

    said = b'{"tally": '
    dies = False


class ChildSpeaks(SpeaksForTheWorker):
    """The child answers; the process that was asked dies."""

    said = SaysATally.said

    def open(self, *more: Any) -> Any:
        child = os.fork()
        if child == 0:
            return super().open(*more)
        os.waitpid(child, 0)
        os.kill(os.getpid(), 9)
        return self


class SaysNoEnd(SpeaksForTheWorker):
    said = b"x" * (1 << 20)

    def open(self, *more: Any) -> Any:
        self.dies = False
        for _ in range(40):
            super().open(*more)
        return self


class AnswersAtLength(Base):
    def open(self, *_: Any) -> Any:
        return Tally(1, reasons={f"{index:0200}": 1 for index in range(100_000)})


class LeavesADaemon(Base):
    """A child that went to a session of its own and lost its parent and its environment."""

    def open(self, *_: Any) -> Any:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve("/bin/sleep", ["sleep", DAEMON_SLEEPS], {})
            os._exit(0)
        os.wait()
        return self


DAEMON_SLEEPS = "86399.25"
"""By this number the daemon is found among all processes."""


class SpeaksAtLength(Base):
    def open(self, *_: Any) -> Any:
        raise LookupError("no such table: orders\n  looked in: main\n  and in: archive\n")


class LosesItsFolder(Base):
    def open(self, *_: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
        raise LookupError("gone")


class Together(Base):
    """Opens several counts at once: two, one that is no number, a refusal, and what is nothing at all."""

    def open(self, *_: Any) -> Any:
        return Tally(1, evidence=("alone",))

    def open_all(self, kpi: str, *_: Any) -> Any:
        every = {"a": Tally(2), "b": Tally(3), "odd": Tally(float("nan")), "gone": Undefined("not-offered", "None.")}
        return {**every, "slice": self, "unasked": Tally(4)}


class TogetherWithout(Together):
    def open_all(self, kpi: str, *_: Any) -> Any:
        return {"b": Tally(3)}


class TogetherLater(Together):
    async def open_all(self, kpi: str, *words: Any) -> Any:
        await asyncio.sleep(0)
        return super().open_all(kpi, *words)
