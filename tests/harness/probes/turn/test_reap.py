from __future__ import annotations

import asyncio

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.turn.reap import MARKS, RESULTS, WINDOW, Probe, bodies_of, renumbered
from seams.contract.turn import Message
from seams.runtimes.reference import make
from seams.turn.reap import TurnReaper, fold, offer
from tests.harness.probes.turn.sessions import runtime

ARMS = ["benign", "injection"]


def reaps(reaper: object, payload: str = "benign", size: str = "1024"):
    return Probe().open("turn_reap_ns", runtime(reaper), None, {"payload": payload, "bytes": size})


@pytest.mark.parametrize("payload", ARMS)
def test_the_reference_runtime_reaps_whole_turns(payload: str) -> None:
    assert Probe.kpis == {"turn_reap_ns"}
    sliced = Probe().open("turn_reap_ns", make(), None, {"payload": payload, "bytes": "1024"})
    assert (sliced.engine, sliced.source) == ("none", "synthetic")
    for loops in (1, 7):
        window = sliced.batch(loops)()
        sliced.check(window)
        assert len(window) == WINDOW + RESULTS
        assert ("_quarantined" in window[-1].content) == (payload == "injection")


@pytest.mark.parametrize("size", [200, 1_024, 4_096])
def test_the_bodies_are_of_their_size_and_differ(size: int) -> None:
    for poisoned in (False, True):
        bodies = bodies_of(poisoned, size)
        assert [len(body.encode()) for body in bodies] == [size] * RESULTS
        assert len(set(bodies)) == RESULTS
        assert [all(mark in body for mark in MARKS) for body in bodies] == [False] * (RESULTS - 1) + [poisoned]
    assert bodies_of(True, size)[:-1] == bodies_of(False, size)[:-1]


def test_each_batch_has_a_reaper_of_its_own_and_each_call_results_of_its_own() -> None:
    made: list[Counting] = []

    class Counting(TurnReaper):
        turns = 0

        def reap_turn(self, window, returned):
            self.turns += 1
            assert all(result.payload.startswith(b"claim") for _, result in returned)
            return super().reap_turn(window, returned)

    def another(seam: str, engine: str) -> Counting:
        assert (seam, engine) == ("turn/reap", "none")
        made.append(Counting(offer("none").kernel))
        return made[-1]

    stub = runtime(None)
    stub.offer = another
    sliced = Probe().open("turn_reap_ns", stub, None, {"payload": "injection", "bytes": "1024"})
    sliced.batch(5)()
    sliced.batch(3)()
    assert [each.turns for each in made] == [1, 5, 3]
    assert [each.kernel.tally.quarantines for each in made] == [1, 5, 3]


class Altered(TurnReaper):
    """Reaps, then breaks the window."""

    def __init__(self, alter) -> None:
        super().__init__(offer("none").kernel)
        self._alter = alter

    def reap_turn(self, window, returned):
        bodies = [result.payload.decode() for _, result in returned]
        return self._alter(window, super().reap_turn(window, returned), bodies)


def told(content: str) -> Message:
    return Message("tool", content, "read_claim")


def written_into(window, came, bodies):
    window.append(came[-1])
    return came


@pytest.mark.parametrize("payload", ARMS)
@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda window, came, bodies: window, "not a list of its own"),
        (lambda window, came, bodies: list(window), "not all of"),
        (lambda window, came, bodies: came[1:], "begins as the window before"),
        (lambda window, came, bodies: [*came[:WINDOW], *came[:WINDOW:-1]], "not all of"),
        (lambda window, came, bodies: [*came, told("more")], "became 5 messages"),
        (lambda window, came, bodies: [*window, *(told(body[:-1]) for body in bodies)], "not all of"),
        (lambda window, came, bodies: [*window, *map(told, bodies)], "the injection entered"),
        (written_into, "wrote into the window"),
        (lambda window, came, bodies: None, "gave back nothing"),
        (lambda window, came, bodies: 4, "gave back a int"),
    ],
)
def test_a_reap_that_does_not_do_its_work_is_found_out(payload: str, alter, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message):
        reaps(Altered(alter), payload)


def test_gates_that_are_switched_off_are_found_out_before_the_harmless_arm_is_timed() -> None:
    class Open(TurnReaper):
        def reap_turn(self, window, returned):
            return fold(window, returned)

    with pytest.raises(WorkNotDoneError, match="the injection entered"):
        reaps(Open(offer("none").kernel), "benign")


def test_a_reap_that_breaks_while_it_is_timed_is_found_by_the_check() -> None:
    sliced = reaps(offer("none"))
    window = sliced.batch(1)()
    with pytest.raises(WorkNotDoneError, match="not all of 4 harmless"):
        sliced.check(window[:-1])


def test_a_window_without_the_held_out_message_is_a_window_too() -> None:
    def dropping(window, came, bodies):
        return [each for each in came if "_quarantined" not in each.content]

    sliced = reaps(Altered(dropping), "injection")
    sliced.check(sliced.batch(2)())


def test_what_is_admitted_and_what_is_folded_are_counted_apart() -> None:
    sliced = reaps(offer("none"), "injection")
    assert sliced.work == {
        "results admitted": RESULTS,
        "bytes admitted": RESULTS * 1024,
        "messages copied": WINDOW,
        "bodies folded whole": RESULTS - 1,
        "bytes folded whole": (RESULTS - 1) * 1024,
    }
    added = sliced.batch(1)()[WINDOW:]
    assert sum(len(each.content) for each in added if "_quarantined" not in each.content) == 3 * 1024


@pytest.mark.parametrize("size", [200, 1_024])
def test_a_renumbered_body_is_as_long_and_as_poisoned(size: int) -> None:
    bodies = bodies_of(True, size)
    seen = {tuple(renumbered(bodies, number)) for number in range(100)}
    assert len(seen) == 100
    for one in seen:
        assert [len(body) for body in one] == [size] * RESULTS
        assert [all(mark in body for mark in MARKS) for body in one] == [False] * (RESULTS - 1) + [True]


@pytest.mark.parametrize("payload", ARMS)
def test_a_reaper_that_answers_from_memory_is_found_out(payload: str) -> None:
    class Remembering(TurnReaper):
        made = None

        def reap_turn(self, window, returned):
            poisoned = any(MARKS[0].encode() in result.payload for _, result in returned)
            if self.made is None or self.made[0] != poisoned:
                self.made = poisoned, super().reap_turn(window, returned)
            return list(self.made[1])

    sliced = reaps(Remembering(offer("none").kernel), payload)
    with pytest.raises(WorkNotDoneError, match="harmless bodies are in the next window"):
        sliced.check(sliced.batch(2)())


def test_a_runtime_without_reap_is_undefined() -> None:
    assert reaps(None) == Undefined("not-offered", "The runtime stub offers no reap of a turn.")


def test_a_reaper_that_is_offered_once_only_is_work_not_done() -> None:
    stub = runtime(None)
    answers = iter([offer("none")])
    stub.offer = lambda seam, engine: next(answers, None)
    sliced = Probe().open("turn_reap_ns", stub, None, {"payload": "benign", "bytes": "1024"})
    with pytest.raises(WorkNotDoneError, match="once only"):
        sliced.batch(1)


def test_an_asynchronous_reaper_is_timed() -> None:
    class Asynchronous:
        async def reap_turn(self, window, returned):
            await asyncio.sleep(0)
            return offer("none").reap_turn(window, returned)

    async def drive() -> None:
        sliced = await reaps(Asynchronous())
        sliced.check(await sliced.batch(3)())

    asyncio.run(drive())


def test_a_long_window_is_reaped_into_and_its_work_is_counted() -> None:
    params = {"payload": "benign", "bytes": "1024", "history": "100"}
    sliced = Probe().open("turn_reap_ns", make(), None, params)
    window = sliced.batch(2)()
    sliced.check(window)
    assert sliced.work == {
        "results admitted": RESULTS,
        "bytes admitted": RESULTS * 1024,
        "messages copied": 401,
        "bodies folded whole": RESULTS,
        "bytes folded whole": RESULTS * 1024,
    }
    assert len(window) == 401 + RESULTS
    assert isinstance(Probe().open("turn_reap_ns", make(), None, {**params, "history": "none"}), Undefined)
