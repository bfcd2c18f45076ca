from __future__ import annotations

import asyncio
import gc
import os
import random
import subprocess
import sys
import threading
import tracemalloc
from array import array
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.session._adopting import _adopts
from harness.probes.session._held import held, resident, traced
from harness.probes.session._left import come, there
from harness.probes.session._turns import TEXT_A_TURN, Tools, given
from harness.probes.session._weighing import SETTLING, TURNS
from harness.probes.session.lifecycle import Probe
from kpis.registry import load
from seams.contract.turn import Message
from seams.runtimes.reference import make
from tests.harness.probes.session import lives
from tests.harness.probes.session.lives import Lean, Session, Slow, SlowSession
from tests.harness.probes.turn.sessions import runtime

KEYS = ("task", "thread", "descriptor", "child_process", "registered_session")
NONE = dict.fromkeys(KEYS, 0)
SESSIONS = 6


def opened(kpi: str, lifecycle=None):
    found = Probe().open(kpi, make() if lifecycle is None else runtime(lifecycle), None, {})
    if asyncio.iscoroutine(found):

        async def awaited():
            return await found

        found = asyncio.run(awaited())
    return found


def doing(owner: Lean, **steps) -> Lean:
    """A runtime that does something of its own at its steps."""
    for name, step in steps.items():
        setattr(owner, name, lambda session, step=step: step(owner))
    return owner


@pytest.fixture
def planted():
    """Makes a runtime with a leak at one step, and takes the leaks back afterwards."""
    made = []

    def plant(leak, at: str, kind: type[Lean] = Lean) -> Lean:
        owner = kind()
        setattr(owner, at, lambda session: leak(owner))
        made.append(owner)
        return owner

    yield plant
    for owner in made:
        owner.undo()


# What is left.


def test_the_reference_leaves_nothing() -> None:
    found = opened("session_leftovers")
    assert (found.numerator, found.denominator, found.reasons) == (0, None, NONE)
    assert found.evidence == (
        "6 sessions were closed, 2 of each kind (unused, used, failed), after one of each uncounted",
    )
    assert found.clocked == ("those before left nothing",)
    assert set(found.reasons) == set(load().get("session_leftovers").reasons)


@pytest.mark.parametrize("kind", [Lean, Slow])
def test_a_runtime_that_lets_everything_go_leaves_nothing(kind) -> None:
    assert opened("session_leftovers", kind()).reasons == NONE


@pytest.mark.parametrize("kind", [Lean, Slow])
@pytest.mark.parametrize(
    ("leak", "key", "name"),
    [
        (lives.descriptor, "descriptor", "pipe:["),
        (lives.thread, "thread", "watcher"),
        (lives.child, "child_process", "python"),
    ],
)
def test_one_that_a_session_leaves_is_found_and_named(planted, leak, key, name, kind) -> None:
    found = opened("session_leftovers", planted(leak, "on_close", kind))
    # The child is held by a pipe, which is a descriptor of ours.
    others = {"descriptor": SESSIONS} if key == "child_process" else {}
    assert found.reasons == {**NONE, **others, key: SESSIONS}
    assert found.numerator == sum(found.reasons.values())
    assert any(said.startswith(f"left: {key} ") and name in said for said in found.clocked)


def test_a_task_that_a_session_leaves_is_found() -> None:
    found = opened("session_leftovers", doing(Slow(), on_open=lives.task))
    assert found.reasons == {**NONE, "task": SESSIONS}
    assert "left: task heartbeat, heartbeat, heartbeat, heartbeat" in found.clocked


def test_a_task_on_the_loop_of_another_thread_is_found() -> None:
    class Bridge(Lean):
        """Synchronous, with a loop in a thread of its own, as many wrappers have one."""

        def __init__(self) -> None:
            super().__init__()
            self.loop = asyncio.new_event_loop()
            self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
            self.thread.start()

        def on_close(self, session) -> None:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(3_600), self.loop)

        def undo(self) -> None:
            async def cancel() -> None:
                for each in asyncio.all_tasks() - {asyncio.current_task()}:
                    each.cancel()

            asyncio.run_coroutine_threadsafe(cancel(), self.loop).result()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()

    bridge = Bridge()
    try:
        assert opened("session_leftovers", bridge).reasons == {**NONE, "task": SESSIONS}
    finally:
        bridge.undo()


@pytest.mark.parametrize(("step", "count"), [("on_failure", 2), ("on_turn", 12), ("on_open", 6)])
def test_what_only_some_sessions_leave_is_found(planted, step, count) -> None:
    assert opened("session_leftovers", planted(lives.descriptor, step)).reasons == {**NONE, "descriptor": count}


def test_a_child_that_nobody_waited_for_is_left_though_it_ended(planted) -> None:
    def zombie(owner: Lean) -> None:
        started = subprocess.Popen(["true"])
        owner.undone.append(started.wait)

    assert opened("session_leftovers", planted(zombie, "on_close")).reasons == {**NONE, "child_process": SESSIONS}


ORPHAN = """
import subprocess
from harness.probes.session._left import come, there
before = there()
subprocess.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], stdin=subprocess.DEVNULL, check=True)
print(len(come(before)["child_process"]))
"""


def _background(owner: Lean, command: str) -> None:
    """Starts a process whose parent ends at once; it is ended, and waited for by whoever has it then, in the end."""
    said = subprocess.run(["sh", "-c", f"{command} >/dev/null 2>&1 & echo $!"], capture_output=True, check=True).stdout

    def undo() -> None:
        with suppress(ProcessLookupError):
            os.kill(int(said), 9)
        with suppress(ChildProcessError):
            os.waitpid(int(said), 0)

    owner.undone.append(undo)


@pytest.mark.parametrize("kind", [Lean, Slow])
def test_a_daemon_in_a_session_of_its_own_is_found_and_named(planted, kind) -> None:
    owner = planted(lambda owner: _background(owner, "exec setsid sleep 60"), "on_close", kind)
    was = _adopts()
    found = opened("session_leftovers", owner)
    assert found.reasons == {**NONE, "child_process": SESSIONS}
    assert any(said.startswith("left: child_process sleep") for said in found.clocked)
    assert _adopts() is was


def test_a_process_whose_parent_is_gone_and_that_ends_by_itself_is_not_left(planted) -> None:
    owner = planted(lambda owner: _background(owner, "true"), "on_close")
    assert opened("session_leftovers", owner).reasons == NONE


def test_ended_children_and_orphans_are_told_apart(planted) -> None:
    def both(owner: Lean) -> None:
        _background(owner, "exec setsid sleep 60")
        _background(owner, "true")
        owner.undone.append(subprocess.Popen(["true"]).wait)

    found = opened("session_leftovers", planted(both, "on_close"))
    assert found.reasons == {**NONE, "child_process": 2 * SESSIONS}


def test_where_the_system_adopts_nothing_it_is_said(planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.probes.session._adopting._adopts", lambda: False)
    monkeypatch.setattr("harness.probes.session._adopting._adopt", lambda wanted: False)
    found = opened(
        "session_leftovers", planted(lambda owner: owner.undone.append(subprocess.Popen(["true"]).wait), "on_close")
    )
    assert found.reasons == {**NONE, "child_process": SESSIONS}
    assert found.evidence[-1] == "this system adopts no orphans, so a daemon in a session of its own is not seen"


def test_what_each_session_leaves_in_the_place_of_the_one_before_is_told_beside(planted) -> None:
    held: list[int] = []

    def replaced(owner: Lean) -> None:
        if held:
            os.close(held.pop())
        held.append(os.open(os.devnull, os.O_RDONLY))

    found = opened("session_leftovers", planted(replaced, "on_close"))
    os.close(held.pop())
    assert (found.numerator, found.clocked[0]) == (0, "those before left 1 descriptor")


def test_a_grandchild_whose_parent_is_gone_is_seen_by_whoever_leads_the_session(repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN], cwd=repo, capture_output=True, text=True, check=True, start_new_session=True
    )
    pid, count = done.stdout.split()
    os.kill(int(pid), 15)
    assert count == "1"


def test_a_session_that_stays_in_the_book_is_found() -> None:
    class Forgets(Session):
        def close(self) -> None:
            """Never leaves the book."""

    class Bookish(Lean):
        session = Forgets

        def open(self, system, tools, folder):
            self.number = getattr(self, "number", 0) + 1
            self.open_sessions.add(-self.number)
            return super().open(system, tools, folder)

    found = opened("session_leftovers", Bookish())
    assert found.reasons["registered_session"] >= SESSIONS


def test_a_session_that_is_held_on_to_is_found_whatever_the_book_says() -> None:
    held_on = []
    owner = Lean()
    owner.on_close = held_on.append
    found = opened("session_leftovers", owner)
    assert found.reasons == {**NONE, "registered_session": SESSIONS}


def test_without_a_book_sessions_are_followed_by_their_objects_and_without_either_not_at_all() -> None:
    class Slotted:
        __slots__ = ("close", "run_turn")

    class Bookless:
        def __init__(self, slotted: bool) -> None:
            self.slotted, self.lean = slotted, Lean()

        def open(self, system, tools, folder):
            whole = self.lean.open(system, tools, folder)
            if not self.slotted:
                return whole
            thin = Slotted()
            thin.run_turn, thin.close = whole.run_turn, whole.close
            return thin

    assert opened("session_leftovers", Bookless(False)).reasons == NONE
    found = opened("session_leftovers", Bookless(True))
    assert "registered_session" not in found.reasons
    assert found.evidence[1].startswith("sessions that are still known are not counted")


def test_what_is_made_once_and_kept_is_no_leftover() -> None:
    pool = ThreadPoolExecutor(1)
    found = opened("session_leftovers", doing(Lean(), on_turn=lambda owner: pool.submit(int).result()))
    pool.shutdown()
    assert found.reasons == NONE
    assert found.clocked[0] == "those before left 1 thread"  # and the evidence says so


def test_a_pool_that_opens_with_the_first_session_is_told_beside() -> None:
    made: list = []

    def once(owner: Lean) -> None:
        if not made:  # in the session that proves the memory
            lives.descriptor(owner)
        made.append(1)

    owner = doing(Lean(), on_open=once)
    found = opened("session_leftovers", owner)
    owner.undo()
    assert (found.numerator, found.clocked[0]) == (0, "those before left 1 descriptor")


def test_a_session_that_is_handed_out_again_is_not_left() -> None:
    class Pooled(Lean):
        def open(self, system, tools, folder):
            self.only = getattr(self, "only", None) or super().open(system, tools, folder)
            self.only.tools = tools
            return self.only

    assert opened("session_leftovers", Pooled()).reasons == NONE


def test_what_ends_by_itself_in_a_moment_is_not_left() -> None:
    def slowly(owner: Lean) -> None:
        threading.Timer(0.02, int).start()

    assert opened("session_leftovers", doing(Lean(), on_close=slowly)).reasons == NONE


def test_asking_what_is_there_leaves_nothing() -> None:
    before = there()
    for _ in range(5):
        assert not any(come(before).values())


# What is held.


def test_the_reference_weighs_the_same_in_two_processes_with_other_hash_seeds(repo) -> None:
    script = (
        "from harness.probes.session.lifecycle import Probe; from seams.runtimes.reference import make; "
        "print(*(repr(Probe().open(kpi, make(), None, {})).partition('clocked')[0] "
        "for kpi in ('session_resident_bytes', 'turn_retained_bytes')))"
    )

    def said(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=repo, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = said("1")
    assert first == said("2")
    assert "'flat': 1" in first


@pytest.mark.parametrize("kind", [Lean, Slow])
def test_a_session_weighs_what_it_holds(kind) -> None:
    class Heavy(kind):
        def on_open(self, session) -> None:
            session.ballast = bytes(100_000)

    light, heavy = opened("session_resident_bytes", kind()), opened("session_resident_bytes", Heavy())
    assert 4 * TEXT_A_TURN < light.numerator < 5 * TEXT_A_TURN + 4_000
    assert 100_000 <= heavy.numerator - light.numerator < 100_400
    assert (light.denominator, light.source, light.basis) == (None, "synthetic", "count")


def test_what_stays_of_a_closed_session_is_told_beside() -> None:
    assert "of which 0 to 0 stayed" in opened("session_resident_bytes", Lean()).clocked[0]
    kept = []
    owner = doing(Lean(), on_close=lambda owner: kept.append(bytes(10_000)))
    found = opened("session_resident_bytes", owner)
    least = int(found.clocked[0].partition("of which ")[2].partition(" to ")[0].replace(",", ""))
    assert 10_000 <= least < 10_200


def test_two_readings_with_nothing_between_them_are_one_number() -> None:
    with traced():
        book = array("q", bytes(8 * 20))  # numbers in a set would be objects that the next reading finds
        for number in range(20):
            book[number] = held()
    assert len(set(book)) == 1


def test_tracing_and_collection_are_as_they_were() -> None:
    frozen = gc.get_freeze_count()
    with traced():
        assert tracemalloc.is_tracing()
    assert not tracemalloc.is_tracing()
    assert gc.get_freeze_count() == frozen
    tracemalloc.start()
    try:
        with traced():
            pass
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    assert resident() is None or resident() > 1_000_000


# What is kept of each turn.


def test_the_reference_is_flat() -> None:
    found = opened("turn_retained_bytes")
    assert (found.numerator, found.reasons, found.basis) == (0, {"flat": 1}, "formula")
    assert found.evidence[0].startswith("flat over 200 turns behind the first 60: ")
    assert found.clocked[1].startswith("resident set ")


@pytest.mark.parametrize("kind", [Lean, Slow])
def test_a_flat_runtime_is_called_flat(kind) -> None:
    found = opened("turn_retained_bytes", kind())
    assert (found.numerator, found.reasons) == (0, {"flat": 1})


@pytest.mark.parametrize("kind", [Lean, Slow])
def test_a_kilobyte_a_turn_is_found(kind) -> None:
    class Leaky(kind):
        def on_turn(self, session) -> None:
            self.undone.append(bytes(1_024))

    found = opened("turn_retained_bytes", Leaky())
    assert found.reasons == {"growing": 1}
    assert 1_024 + sys.getsizeof(b"") <= found.numerator <= 1_024 + sys.getsizeof(b"") + 16
    assert set(found.reasons) <= set(load().get("turn_retained_bytes").reasons)


def test_a_kilobyte_a_turn_is_found_in_a_session_that_fills_and_empties() -> None:
    class Batching(Lean):
        def on_turn(self, session) -> None:
            session.batch = [*getattr(session, "batch", []), bytes(200)]
            if len(session.batch) == 50:
                session.batch = []

    class Leaky(Batching):
        def on_turn(self, session) -> None:
            super().on_turn(session)
            self.undone.append(bytes(1_024))

    assert opened("turn_retained_bytes", Batching()).reasons == {"flat": 1}
    found = opened("turn_retained_bytes", Leaky())
    assert found.reasons == {"growing": 1}
    assert 1_000 <= found.numerator <= 1_200


def test_one_reference_a_turn_is_found_where_nothing_else_moves() -> None:
    class Counting(Lean):
        def on_turn(self, session) -> None:
            self.undone.append(None)

    found = opened("turn_retained_bytes", Counting())
    assert found.reasons == {"growing": 1}
    assert 6 <= found.numerator <= 12


def test_a_session_that_keeps_its_whole_history_grows_by_it() -> None:
    class Hoarding(Session):
        def __init__(self, owner, system, tools) -> None:
            super().__init__(owner, system, tools)
            self.turns = []

    class Hoarder(Lean):
        session = Hoarding

    found = opened("turn_retained_bytes", Hoarder())
    assert found.reasons == {"growing": 1}
    assert TEXT_A_TURN <= found.numerator <= TEXT_A_TURN + 1_000


def test_noise_that_could_hide_a_leak_is_unknown_and_has_no_number() -> None:
    class Noisy(Lean):
        rng = random.Random(5)

        def on_turn(self, session) -> None:
            session.scratch = bytes(self.rng.randrange(1 << 20))

    found = opened("turn_retained_bytes", Noisy())
    assert isinstance(found, Undefined)
    assert found.reason == "too-few"
    assert found.detail.startswith("Unknown whether a session grows over 200 turns: it moves, and not all along.")


def test_growth_that_begins_late_is_not_called_flat() -> None:
    class Late(Lean):
        def on_turn(self, session) -> None:
            session.number = getattr(session, "number", 0) + 1
            if session.number > SETTLING + TURNS - 20:
                self.undone.append(bytes(1_024))

    assert isinstance(opened("turn_retained_bytes", Late()), Undefined)


# What is no session.


def test_a_runtime_without_sessions_is_undefined() -> None:
    for kpi in Probe.kpis:
        assert (
            opened(kpi, None)
            if False
            else Probe().open(kpi, runtime(None), None, {})
            == Undefined("not-offered", "The runtime stub offers no live session.")
        )


class Idle(Session):
    def run_turn(self, given):
        return []


class Deaf(Session):
    """Answers without its tools."""

    def run_turn(self, given):
        fake = Tools()
        real, self.tools = self.tools, fake
        window = super().run_turn(given)
        self.tools = real
        return window


class Twice(Session):
    def run_turn(self, given):
        self.tools.complete(given.calls[0])
        return super().run_turn(given)


class Promptless(Session):
    def run_turn(self, given):
        return super().run_turn(given)[1:]


class Mute(Session):
    """Leaves the answer out."""

    def run_turn(self, given):
        return [each for each in super().run_turn(given) if each.content != given.answered]


class Shuffled(Session):
    def run_turn(self, given):
        window = super().run_turn(given)
        return [*window[:-2], window[-1], window[-2]]


class Forgetful(Session):
    """Keeps the newest turn alone."""

    def run_turn(self, given):
        self.turns.clear()
        return super().run_turn(given)


class SlowIdle(SlowSession):
    async def run_turn(self, given):
        return []


@pytest.mark.parametrize("kpi", sorted(Probe.kpis))
@pytest.mark.parametrize("session", [Idle, Deaf, Twice, Promptless, Mute, Shuffled, Forgetful, SlowIdle])
def test_a_session_that_does_not_do_its_work_is_found_out(session, kpi) -> None:
    owner = Slow() if issubclass(session, SlowSession) else Lean()
    owner.session = session
    with pytest.raises(WorkNotDoneError):
        opened(kpi, owner)
    assert not owner.open_sessions


def test_a_failed_call_needs_a_result_too() -> None:
    class Silent(Session):
        def run_turn(self, given):
            return [each for each in super().run_turn(given) if each.content != "failed"]

    owner = Lean()
    owner.session = Silent
    with pytest.raises(WorkNotDoneError, match="a call of turn 2 failed and has no result in the window"):
        opened("session_leftovers", owner)


def test_methods_that_wait_under_an_open_that_does_not_say_so_are_refused() -> None:
    class Hidden(Lean):
        session = SlowSession

    with pytest.raises(TypeError, match=r"declare open\(\) async as well"):
        opened("session_leftovers", Hidden())


def test_every_turn_brings_as_much_text_and_none_of_it_twice() -> None:
    def texts(turn: int) -> list[str]:
        put = given(turn)
        tools = Tools()
        return [put.asked, put.answered, *(tools.complete(call).payload.decode() for call in put.calls)]

    seen = [text for turn in (0, 9, 10, 99, 1_000) for text in texts(turn)]
    assert len(set(seen)) == len(seen)
    assert all(sum(map(len, texts(turn))) == TEXT_A_TURN for turn in (0, 9, 10, 99, 1_000))
    assert Message("user", seen[0]).content.startswith("Question 00000000: ")
