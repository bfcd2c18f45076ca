"""The probe of the replay under other policies: cells, floors, and calls to a model that were counted."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes._awaiting import at_once
from harness.probes.fleet._guard import Guard, ModelCalledError
from harness.probes.fleet.counterfactual import Probe, replayed
from seams.contract.fleet_counterfactual import Outcome
from seams.fleet.counterfactual import PolicyReplay
from seams.runtimes.reference import make
from tests.harness.probes.syscall.traces import Offers


def opened(seam: Any) -> Any:
    return Probe().open("model_calls_spent", Offers(seam), None, {})


def test_cells_and_floors_of_the_two_traces() -> None:
    found = at_once(replayed(PolicyReplay(), Guard()))
    assert (found.traces, len(found.coverage), len(found.cells), found.exact_fraction) == (2, 2, 4, 0.5)
    assert found.floor_of("equivalent") == {"quarantines": 2, "denies": 2, "transforms": 0}
    assert found.floor_of("strict-no-book") == {"quarantines": 2, "denies": 4, "transforms": 0}
    assert found.population == {"quarantines": 4, "denies": 6, "transforms": 0}
    assert [cell.label for cell in found.cells] == ["exact", "bounded@3"] * 2
    assert found.reportable == ("equivalent",)


def test_the_reference_asks_no_model() -> None:
    tally = Probe().open("model_calls_spent", make(), None, {})
    assert (tally.numerator, tally.basis) == (0, "count")
    assert tally.evidence[0] == "calls at the guard 0, begun beside it: connections 0, processes 0"
    assert "bounded@3" in tally.evidence[2]
    assert len(tally.evidence) == 7


def test_the_guard_counts_and_raises() -> None:
    guard = Guard()
    for _ in range(2):
        with pytest.raises(ModelCalledError, match="7 characters"):
            guard.complete("x" * 7)
    assert (guard.calls, guard.dials) == (2, 0)


def dial() -> None:
    with socket.socket() as line:
        line.settimeout(1)
        line.connect_ex(("127.0.0.1", 9))


def test_the_guard_hears_who_dials_in_its_watch_alone() -> None:
    guard = Guard()
    dial()
    with guard.watch():
        dial()
    dial()
    assert (guard.calls, guard.dials) == (0, 1)


class Asks(PolicyReplay):
    """Asks the model first; ``swallows`` the guard's error or not."""

    def __init__(self, swallows: bool) -> None:
        self._swallows = swallows

    def replay(self, calls, world, policy, engine, model):
        try:
            model.complete("what would you have done?")
        except ModelCalledError:
            if not self._swallows:
                raise
        return super().replay(calls, world, policy, engine, model)


def test_a_replay_that_asks_is_counted_whether_it_ends_there_or_not() -> None:
    ended, went_on = opened(Asks(False)), opened(Asks(True))
    assert ended.numerator == 1
    assert "the replay ended there" in ended.evidence[1]
    assert went_on.numerator == 8  # two traces, three policies and the reference again
    assert went_on.evidence[0].startswith("calls at the guard 8")


def test_a_replay_that_dials_past_the_guard_is_counted() -> None:
    class Dials(PolicyReplay):
        def replay(self, *given: Any) -> Any:
            dial()
            return super().replay(*given)

    tally = opened(Dials())
    assert tally.numerator == 8
    assert tally.evidence[0] == "calls at the guard 0, begun beside it: connections 8, processes 0"


class Tells(PolicyReplay):
    """Tells another story than what happened."""

    def __init__(self, tell) -> None:
        self._tell = tell

    def replay(self, calls, world, policy, engine, model):
        return self._tell(super().replay(calls, world, policy, engine, model), policy)


@pytest.mark.parametrize(
    "tell",
    [
        lambda told, _: None,
        lambda told, _: replace(told, outcomes=()),
        lambda told, _: replace(told, outcomes=(Outcome.SERVED,) * 5),
        lambda told, _: replace(told, counters=replace(told.counters, denies=0)),
        lambda told, _: replace(told, counters=replace(told.counters, engine_calls=9)),
        lambda told, _: replace(told, rewrites=(None,)),
    ],
)
def test_a_story_that_does_not_add_up(tell) -> None:
    with pytest.raises(WorkNotDoneError):
        opened(Tells(tell))


def test_a_redaction_out_of_nowhere_is_no_equal_policy() -> None:
    def tell(told, policy):
        return replace(told, rewrites=(b"x", *told.rewrites[1:])) if policy is not None else told

    with pytest.raises(WorkNotDoneError, match="exact cells by policy"):
        opened(Tells(tell))


def test_a_replay_that_does_not_repeat_is_not_exact() -> None:
    turns = iter(range(100))

    def tell(told, policy):
        return replace(told, rewrites=(b"%d" % next(turns), *told.rewrites[1:]))

    with pytest.raises(WorkNotDoneError, match="the reference beside itself"):
        opened(Tells(tell))


def test_a_policy_that_is_ignored_is_found_out() -> None:
    class Ignores(PolicyReplay):
        def replay(self, calls, world, policy, engine, model):
            return super().replay(calls, world, None, engine, model)

    with pytest.raises(WorkNotDoneError, match="under strict-no-book 4 calls reached"):
        opened(Ignores())


def test_an_engine_of_its_own_is_found_out() -> None:
    from seams.engines.airline import AirlineEngine

    class Own(PolicyReplay):
        def replay(self, calls, world, policy, engine, model):
            return super().replay(calls, world, policy, AirlineEngine(), model)

    with pytest.raises(WorkNotDoneError, match="0 calls reached the engine"):
        opened(Own())


def test_an_asynchronous_replay_is_awaited_and_its_loop_is_no_model() -> None:
    class Slow(PolicyReplay):
        async def replay(self, *given: Any) -> Any:
            await asyncio.sleep(0)
            return PolicyReplay.replay(self, *given)

    loop = Loop()
    assert loop.settle(opened(Slow())).numerator == 0
    loop.close()


def test_it_is_not_offered() -> None:
    assert opened(None) == Undefined("not-offered", "The runtime own offers no replay under other policies.")


def by_popen() -> None:
    subprocess.run(["true"], check=True)


def by_system() -> None:
    os.system("true")


def by_spawn() -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def by_fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.parametrize("ask", [by_popen, by_system, by_spawn, by_fork])
def test_a_model_that_is_asked_by_a_process_of_its_own_counts(ask) -> None:
    class ByChild(PolicyReplay):
        def replay(self, calls, world, policy, engine, model):
            ask()
            return super().replay(calls, world, policy, engine, model)

    tally = opened(ByChild())
    assert tally.numerator == 8
    assert tally.evidence[0] == "calls at the guard 0, begun beside it: connections 0, processes 8"
