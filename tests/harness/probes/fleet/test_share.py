"""The probe of sharing: the drawn fleets, the median against its expectation, and runtimes that are found out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes._awaiting import at_once
from harness.probes.fleet._fleets import FANS, FLEETS, drawn, plan_of, routes_read, seeds_of
from harness.probes.fleet.share import CONTROLS, FAN, FLEET, Cell, Probe, Trials, trials
from kpis.formulas.fleet.share import expected_uplift, tolerance
from seams.contract.syscall import ToolCall
from seams.contract.turntax import TurnClass
from seams.fleet.share import SharedWorld
from seams.runtimes.reference import make
from seams.syscall.vdso import Vdso
from tests.harness.probes.syscall.traces import Offers


def opened(seam: Any) -> Any:
    return Probe().open("cross_uplift", Offers(seam), None, {})


def replayed(profile: str, turns: int, agents: int, count: int, profiles=FLEETS) -> Trials:
    return at_once(trials(SharedWorld(), Cell(profile, profiles[profile], turns, agents, count)))


@pytest.mark.parametrize(("turns", "agents", "count"), [(1, 50, 32), (10, 10, 32), (10, 50, 8), (50, 10, 8)])
def test_the_median_lies_within_the_tolerance_of_the_exact_expectation(turns: int, agents: int, count: int) -> None:
    cross = replayed("read-fleet", turns, agents, count).cross
    wanted = expected_uplift(0.45, 8, turns, agents)
    assert abs(cross.p50 - wanted) <= tolerance(cross.deviation, count)
    assert abs(cross.mean - wanted) <= tolerance(cross.deviation, count)


@pytest.mark.slow
def test_the_largest_cell() -> None:
    found = replayed("read-fleet", 50, 50, 16)
    assert abs(found.cross.p50 - 369.87) <= tolerance(4.3, 16)
    assert abs(found.shared.p50 - 2344) <= 25
    assert abs(found.alone.p50 - 1974) <= 25


@pytest.mark.parametrize("siblings", [2, 4, 8, 16, 32])
def test_a_fan_out_lies_within_the_tolerance_too(siblings: int) -> None:
    cross = replayed("research", 4, siblings, 16, FANS).cross
    wanted = expected_uplift(0.55, 8, 4, siblings, primed=4)
    assert abs(cross.mean - wanted) <= tolerance(max(cross.deviation, 0.5), 16)


def test_one_agent_gains_nothing_and_reads_gain_with_agents_and_turns() -> None:
    assert replayed("read-fleet", 50, 1, 4).cross == (0, 0, 0, 0, 0, 0, 0)
    assert replayed("read-fleet", 20, 16, 4).cross.least > 0
    by_agents = [replayed("read-fleet", 10, agents, 8).shared.p50 for agents in (1, 2, 4, 8, 16)]
    by_turns = [replayed("read-fleet", turns, 8, 8).shared.p50 for turns in (1, 2, 5, 10, 20)]
    assert by_agents == sorted(by_agents)
    assert by_turns == sorted(by_turns)


def test_writes_turn_it_round() -> None:
    assert replayed("write-heavy", 10, 10, 8).cross.p50 < 0


@pytest.mark.parametrize("profiles", [FLEETS, FANS])
def test_the_control_is_zero_in_every_trial(profiles) -> None:
    cross = replayed("no-share", 12, 6, 12, profiles).cross
    assert (cross.least, cross.greatest) == (0, 0)


def test_profiles_are_what_they_say() -> None:
    for profiles in (FLEETS, FANS):
        for name, profile in profiles.items():
            chances = (profile.shared, profile.repeat, profile.alias, profile.pure, profile.static, profile.write)
            assert 0 < sum(chances) <= 1, name
    assert FLEETS["read-fleet"] == (8, 0.45, 0.15, 0.08, 0.08, 0.05, 0, 0, False)
    assert FANS["write-goal"] == (8, 0.40, 0.10, 0.05, 0.05, 0.05, 0.25, 4, False)


def test_calls_come_as_often_as_the_profile_says() -> None:
    sessions = drawn(FLEETS["write-heavy"], 400, 25, 11)
    tools = Counter(call.tool for session in sessions for call in session)
    wanted = {
        "search_direct_flight": 0.35,
        "convert_currency": 0.05,
        "calculate": 0.05,
        "list_all_airports": 0.05,
        "book_flight": 0.30,
        "get_user_details": 0.20,
    }
    for tool, share in wanted.items():
        assert abs(tools[tool] / 10_000 - share) < 5 * (share * (1 - share) / 10_000) ** 0.5, tool


def test_agents_share_routes_and_nothing_else() -> None:
    sessions = drawn(FLEETS["read-fleet"], 200, 4, 3)
    accounts = [{call.args for call in session if call.tool == "get_user_details"} for session in sessions]
    assert [len(each) for each in accounts] == [3] * 4
    assert len(set().union(*accounts)) == 12
    assert {len(routes_read(session)) for session in sessions} == {8}
    assert len(set().union(*map(routes_read, sessions))) == 8
    assert [call.trace_id for call in sessions[2][:2]] == ["agent_2", "agent_2"]


def test_a_plan_reads_the_first_routes_and_trials_differ() -> None:
    assert len(routes_read(plan_of(FANS["research"]))) == 4
    assert plan_of(FANS["no-share"]) == []
    assert len(set(seeds_of(1, 64))) == 64
    assert seeds_of(1, 3) == seeds_of(1, 64)[:3]


def test_a_seed_makes_the_same_fleet_in_every_process(repo: Path) -> None:
    script = (
        "import hashlib; from harness.probes.fleet._fleets import FLEETS, drawn\n"
        "told = [(c.tool, c.args) for s in drawn(FLEETS['write-heavy'], 30, 5, 2**40) for c in s]\n"
        "print(hashlib.sha256(repr(told).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=repo,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(digests) == 1


def test_the_reference_reads() -> None:
    assert Probe.kpis == {"cross_uplift"}
    tally = Probe().open("cross_uplift", make(), None, {})
    cross = replayed(FLEET.name, FLEET.turns, FLEET.agents, FLEET.trials).cross
    assert tally.numerator == cross.p50 == 27
    assert (tally.basis, tally.source) == ("formula", "synthetic")
    assert "the exact expectation is 27.19" in tally.evidence[1]
    assert "it lies within it" in tally.evidence[1]
    assert "the exact expectation is 11.91" in tally.evidence[4]
    assert all("exactly zero in every trial" in told for told in tally.evidence[5:])
    assert len(tally.evidence) == 5 + len(CONTROLS)
    assert FAN.profile.plan == 4


def test_it_is_not_offered() -> None:
    assert opened(None) == Undefined("not-offered", "The runtime own offers no world that sessions share.")


def test_an_awaited_replay_counts_the_same() -> None:
    class Slow(SharedWorld):
        async def replay(self, *given: Any) -> Any:
            import asyncio

            await asyncio.sleep(0)
            return super().replay(*given)

    loop = Loop()
    assert loop.settle(opened(Slow())).numerator == 27
    loop.close()


def test_without_a_fast_path_nothing_is_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    """A zero that was seen: both arms stand beside it, with nothing but the repaired calls saved in either."""
    monkeypatch.setattr(Vdso, "lookup", lambda self, call: None)
    tally = opened(SharedWorld())
    assert tally.numerator == 0
    assert "it lies outside it" in tally.evidence[1]


class Cheats(SharedWorld):
    """Tells another story than what happened."""

    def __init__(self, tell) -> None:
        super().__init__()
        self._tell = tell

    def replay(self, sessions, world, engine=None, plan=()):
        return self._tell(super().replay(sessions, world, engine, plan))


def all_saved(told):
    return replace(told, classes=tuple(TurnClass.DEDUP for _ in told.classes))


def nothing_at_all(told):
    return replace(told, classes=(), context=())


@pytest.mark.parametrize("tell", [all_saved, nothing_at_all, lambda told: None, lambda told: "done"])
def test_a_story_that_the_engine_did_not_see(tell) -> None:
    with pytest.raises(WorkNotDoneError):
        opened(Cheats(tell))


def test_worlds_that_are_not_fresh_are_found_out() -> None:
    class Leaks(SharedWorld):
        """One world for ever."""

        cache = Vdso()

        def replay(self, *given: Any) -> Any:
            import seams.fleet.share as module

            original, module.Vdso = module.Vdso, lambda **_: self.cache  # type: ignore[misc,assignment]
            try:
                return super().replay(*given)
            finally:
                module.Vdso = original  # type: ignore[misc]

    with pytest.raises(WorkNotDoneError, match="had not read before"):
        opened(Leaks())


def test_a_read_that_another_session_has_overwritten_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from seams.syscall import vdso

    monkeypatch.setattr(vdso, "_reads_only", lambda call: call.tool != "nothing")  # no write strands anything
    with pytest.raises(WorkNotDoneError, match="call 3 of the control"):
        opened(SharedWorld())


def test_a_control_that_gains_is_no_control() -> None:
    class Forgetful(SharedWorld):
        """Claims a repaired call less wherever one session is alone."""

        def replay(self, sessions, world, engine=None, plan=()):
            told = super().replay(sessions, world, engine, plan)
            if len(sessions) > 1 or TurnClass.GRAMMAR not in told.classes:
                return told
            at = told.classes.index(TurnClass.GRAMMAR)
            classes = (*told.classes[:at], TurnClass.PASS, *told.classes[at + 1 :])
            return replace(told, classes=classes, redactions=told.redactions + 1)

    with pytest.raises(WorkNotDoneError, match="nothing in common gained"):
        opened(Forgetful())


def test_the_calls_are_json_objects_that_every_runtime_reads() -> None:
    for profile in (*FLEETS.values(), *FANS.values()):
        for session in drawn(profile, 30, 3, 9):
            for call in session:
                assert isinstance(call, ToolCall)
                assert isinstance(json.loads(call.args), dict)
    bare, apart = CONTROLS
    assert bare.profile.shared == 0
    assert apart.profile._replace(apart=False) == FLEETS["read-fleet"]


def test_agents_that_are_apart_read_what_looks_alike_and_is_not() -> None:
    sessions = drawn(FLEETS["apart"], 200, 4, 3)
    assert {len(routes_read(session)) for session in sessions} == {8}
    assert len(set().union(*map(routes_read, sessions))) == 32
    together = drawn(FLEETS["read-fleet"], 200, 4, 3)
    assert together[0] == sessions[0]
    assert [call.tool for session in together for call in session] == [
        call.tool for session in sessions for call in session
    ]
    days = {call.args for seed in range(400) for call in plan_of(FANS["research"], seed)}
    assert len(days) == 4 * 12 * 28


def test_a_session_that_is_served_worse_when_it_is_alone_is_found_out() -> None:
    class Spiteful(SharedWorld):
        """Takes the hints off the flights that a lone session looks for, so that none is answered from memory."""

        def replay(self, sessions, world, engine=None, plan=()):
            if len(sessions) == 1 and world == "airline":
                sessions = [[self._bare(call) for call in sessions[0]]]
            return super().replay(sessions, world, engine, plan)

        def _bare(self, call):
            if call.tool != "search_direct_flight":
                return call
            return ToolCall(call.tool, call.args, {}, trace_id=call.trace_id)

    with pytest.raises(WorkNotDoneError, match="apart: agents that read nothing in common gained"):
        opened(Spiteful())
