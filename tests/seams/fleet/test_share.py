"""Sessions in one world: what one read answers the others, and what one wrote strands for all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.probes.fleet._fleets import FANS, FLEETS, drawn, plan_of, routes_read
from harness.probes.turn._books import totals
from kpis.formulas.turn.turntax import turns_saved
from seams.contract.fleet_share import interleaved
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Arm, TurnClass
from seams.fleet.share import SharedWorld, offer
from seams.syscall.epochs import Invalidation
from seams.syscall.worlds import WorldError
from seams.turn.turntax import TurnTaxReplay

HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}


def read(what: str) -> ToolCall:
    return ToolCall("get_reservation_details", b'{"reservation_id":"%s"}' % what.encode(), HINTS)


def write(what: str) -> ToolCall:
    return ToolCall("book_reservation", b'{"reservation_id":"%s"}' % what.encode(), {"destructive": "true"})


def classes(*sessions: list[ToolCall], plan: list[ToolCall] | None = None, **more) -> list[str]:
    told = SharedWorld(**more).replay(sessions, "default", plan=plan or [])
    return [each.value for each in told.classes]


def saved(sessions, plan=()) -> int:
    return turns_saved(totals(SharedWorld().replay(sessions, "airline", plan=plan)))


def test_the_order_of_a_replay() -> None:
    a, b, c, d = (read(name) for name in "abcd")
    assert list(interleaved([[a, b, c], [d]], [c])) == [(None, c), (0, a), (1, d), (0, b), (0, c)]
    assert list(interleaved([])) == []


def test_what_one_read_answers_the_others() -> None:
    assert classes([read("x"), read("y")], [read("y"), read("x")]) == ["pass", "pass", "dedup", "dedup"]
    assert classes([read("x")], [read("x")], plan=[read("x")]) == ["pass", "dedup", "dedup"]


def test_what_one_wrote_strands_it_for_all() -> None:
    assert classes([read("x"), read("x")], [write("z"), read("x")]) == ["pass", "pass", "pass", "dedup"]
    told = classes([read("x"), read("x")], [write("z"), read("x")], invalidation=Invalidation.RESOURCE)
    assert told[2] == "pass"  # the tool has no entity, so its reads are not trusted past a write


def test_no_world_knows_of_another() -> None:
    seam = offer("mock")
    assert seam is not None
    for _ in range(2):
        assert seam.replay([[read("x")]], "default").classes == (TurnClass.PASS,)
    assert offer("noop") is None


def test_the_counters_are_those_of_all_sessions_and_the_plan() -> None:
    told = SharedWorld().replay([[read("x"), write("x")], [read("x")]], "default", plan=[read("x")])
    assert (told.arm, told.counters.submits, told.counters.vdso_hits, told.counters.engine_calls) == (Arm.ON, 4, 2, 2)
    assert len(told.context) == len(told.classes) == 4


def test_one_session_is_replayed_as_a_trace_is() -> None:
    (session,) = drawn(FLEETS["write-heavy"], 60, 1, 5)
    assert SharedWorld().replay([session], "airline") == TurnTaxReplay().replay(session, "airline", Arm.ON)


def test_the_calls_are_copied() -> None:
    (session,) = drawn(FLEETS["read-fleet"], 20, 1, 5)
    before = [(call.args, call.seq) for call in session]
    SharedWorld().replay([session], "airline")
    assert [(call.args, call.seq) for call in session] == before


def test_an_unknown_world() -> None:
    with pytest.raises(WorldError, match="submarine"):
        SharedWorld().replay([], "submarine")


def test_no_session_at_all() -> None:
    assert SharedWorld().replay([], "airline").classes == ()


@given(st.sampled_from(sorted(FLEETS)), st.integers(0, 12), st.integers(0, 2**40))
@settings(max_examples=20)
def test_one_agent_gains_nothing(profile: str, turns: int, seed: int) -> None:
    sessions = drawn(FLEETS[profile], turns, 1, seed)
    assert saved(sessions) - sum(saved([session]) for session in sessions) == 0


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**40), st.booleans())
@settings(max_examples=20)
def test_without_sharing_the_uplift_is_exactly_zero(turns: int, agents: int, seed: int, fan: bool) -> None:
    profile = (FANS if fan else FLEETS)["no-share"]
    sessions, plan = drawn(profile, turns, agents, seed), plan_of(profile)
    assert saved(sessions, plan) == sum(saved([session], plan) for session in sessions)


@given(st.integers(1, 10), st.integers(1, 6), st.integers(0, 2**40), st.booleans())
@settings(max_examples=20)
def test_without_writes_the_uplift_is_counted_off_the_routes(turns: int, agents: int, seed: int, fan: bool) -> None:
    profile = FANS["research"] if fan else FLEETS["read-fleet"]
    sessions, plan = drawn(profile, turns, agents, seed), plan_of(profile)
    known = routes_read(plan)
    own = [routes_read(session) - known for session in sessions]
    wanted = sum(map(len, own)) - len(set().union(*own))
    assert saved(sessions, plan) - sum(saved([session], plan) for session in sessions) == wanted


def test_waves_of_one_fan_out_hit_three_for_each_further_sibling() -> None:
    session = [read("a"), read("b"), read("c")]
    for siblings in (1, 4, 16):
        told = SharedWorld().replay([session] * siblings, "default")
        assert told.classes.count(TurnClass.DEDUP) == 3 * (siblings - 1)
        assert told.classes.count(TurnClass.PASS) == 3
