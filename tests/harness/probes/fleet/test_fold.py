"""The probe of the fold: results whole, in order, without the poison, and folds that are none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.fleet.fold import BYTES, WINDOW, Probe, bodies_of
from seams.contract.turn import Message
from seams.fleet.fold import FanIn, offer
from seams.runtimes.reference import make
from seams.syscall.kernel import fresh_kernel
from seams.turn.reap import TurnReaper
from tests.harness.probes.syscall.traces import Makes, Offers


def opened(make_seam: Any) -> Any:
    return Probe().open("fold_results_ns", Makes(make_seam), None, {"n": "16"})


def test_the_reference_folds() -> None:
    sliced = Probe().open("fold_results_ns", make(), None, {"n": "16"})
    assert (sliced.engine, sliced.source) == ("none", "synthetic")
    for loops in (1, 3):
        result = sliced.batch(loops)()
        assert len(result) == WINDOW + 16
        sliced.check(result)
    assert sliced.work == {"results folded": 16, "bytes folded": 16 * BYTES, "messages copied": WINDOW}


def test_bodies_differ_by_agent_and_by_call_and_have_their_size() -> None:
    bodies = [*bodies_of(16, 1), *bodies_of(16, 2)]
    assert len(set(bodies)) == 32
    assert {len(body) for body in (*bodies, *bodies_of(16, 3, poisoned=2))} == {BYTES}


class Odd(FanIn):
    """Hands out what ``spoil`` makes of the window, from the ``after``-th fold on."""

    def __init__(self, spoil, after: int = 0) -> None:
        super().__init__(TurnReaper(fresh_kernel("default", "noop")))
        self._spoil = spoil
        self._left = after

    def fold(self, window, brought):
        self._left -= 1
        came = super().fold(window, brought)
        return came if self._left >= 0 else self._spoil(window, came, brought)


def dropped(window, came, brought):
    return came[:-1]


def by_arrival(window, came, brought):
    return [*window, *(Message("tool", each.body.decode(), f"agent-{each.agent}") for each in brought)]


def cut(window, came, brought):
    return [*came[:-1], came[-1]._replace(content=came[-1].content[:40])]


def unnamed(window, came, brought):
    return [each._replace(name="") for each in came]


def in_place(window, came, brought):
    window += came[len(window) :]
    return window


def nothing(window, came, brought):
    return None


SPOILS = [dropped, by_arrival, unnamed, in_place, nothing, lambda *_: "folded", lambda window, *_: list(window)]


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_fold_that_is_none_is_not_timed(spoil) -> None:
    with pytest.raises(WorkNotDoneError):
        opened(lambda: Odd(spoil))


@pytest.mark.parametrize("spoil", [*SPOILS, cut])
def test_a_fold_that_stops_being_one_once_the_clock_runs(spoil) -> None:
    made = iter([Odd(spoil, after=2), Odd(spoil)])
    sliced = opened(lambda: next(made))
    result = sliced.batch(1)()
    with pytest.raises(WorkNotDoneError):
        sliced.check(result)


def test_gates_that_are_off_are_found_out() -> None:
    class Open(FanIn):
        def __init__(self) -> None:
            kernel = fresh_kernel("default", "noop")
            kernel.admitters = ()
            super().__init__(TurnReaper(kernel))

    with pytest.raises(WorkNotDoneError, match="the injection entered"):
        opened(Open)


def test_a_fold_that_remembers_its_last_answer() -> None:
    class Remembers(FanIn):
        last = None

        def fold(self, window, brought):
            Remembers.last = Remembers.last or super().fold(window, brought)
            return Remembers.last

    with pytest.raises(WorkNotDoneError):
        sliced = opened(lambda: Remembers(offer("none").reaper))
        sliced.check(sliced.batch(2)())


def test_an_asynchronous_fold_is_awaited() -> None:
    class Slow(FanIn):
        async def fold(self, window, brought):
            await asyncio.sleep(0)
            return FanIn.fold(self, window, brought)

    async def measured() -> None:
        sliced = await opened(lambda: Slow(offer("none").reaper))
        batch = sliced.batch(3)
        assert asyncio.iscoroutinefunction(batch)
        sliced.check(await batch())

    asyncio.run(measured())


def test_it_is_not_offered_or_once_only() -> None:
    found = Probe().open("fold_results_ns", Offers(None), None, {"n": "16"})
    assert found == Undefined("not-offered", "The runtime own offers no fold of results.")
    made = iter([offer("none"), None])
    sliced = opened(lambda: next(made))
    with pytest.raises(WorkNotDoneError, match="once only"):
        sliced.batch(1)


def test_gates_that_are_off_behind_the_first_fold_are_found_out() -> None:
    class Unwatched:
        """Asks its gates in the first object that is offered, and in no other one."""

        made = 0

        def __init__(self) -> None:
            Unwatched.made += 1
            self._gated = Unwatched.made == 1
            self._fold = offer("none")

        def fold(self, window, brought):
            if self._gated:
                return self._fold.fold(window, brought)
            ordered = sorted(brought, key=lambda each: each.agent)
            return [*window, *(Message("tool", each.body.decode(), f"agent-{each.agent}") for each in ordered)]

    sliced = opened(Unwatched)
    result = sliced.batch(20)()
    with pytest.raises(WorkNotDoneError, match="the injection entered"):
        sliced.check(result)


def test_a_window_that_is_folded_when_it_is_looked_at_is_none() -> None:
    class Window(list):
        def __init__(self, fold) -> None:
            super().__init__()
            self._fold = fold

        def __len__(self):
            self._fill()
            return super().__len__()

        def __getitem__(self, key):
            self._fill()
            return super().__getitem__(key)

        def _fill(self):
            if self._fold is not None:
                fold, self._fold = self._fold, None
                self.extend(fold())

    class PutsOff(FanIn):
        def fold(self, window, brought):
            return Window(lambda: FanIn.fold(self, window, brought))

    with pytest.raises(WorkNotDoneError, match="not a list of Messages"):
        opened(lambda: PutsOff(offer("none").reaper))
