from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.probes.turn.planner import Probe, synthetic_forecast, synthetic_spans
from seams.contract.turn import ElisionReason
from seams.runtimes.reference import make
from seams.turn.planner import ReferencePlanner, offer
from tests.harness.probes.turn.sessions import runtime, session

GREEDY_1000 = {"objective": "greedy", "n": "1000"}
TRACE = {"objective": "greedy", "n": "trace"}


def test_the_reference_runtime_offers_it() -> None:
    assert Probe.kpis == {"planner_optimize_ns", "candidate_scorings", "candidate_scorings_per_turn"}
    sliced = Probe().open("planner_optimize_ns", make(), None, {"objective": "greedy", "n": "100"})
    result = sliced.batch(3)()
    sliced.check(result)
    assert (sliced.engine, sliced.source) == ("none", "synthetic")
    assert result[1].candidates == 100


def test_the_synthetic_store_makes_the_planner_choose() -> None:
    sliced = Probe().open("planner_optimize_ns", make(), None, GREEDY_1000)
    given, plan = sliced.batch(1)()
    out = {each.reason for each in plan.elided}
    assert out >= {ElisionReason.SEALED, ElisionReason.DUPLICATE, ElisionReason.RELEASED, ElisionReason.OVER_BUDGET}
    assert 100 < len(plan.selected) < 900
    assert sum(each.pinned for each in plan.selected) == 2
    assert len({candidate.cost for candidate in given[0]}) > 100


def test_the_synthetic_store_is_the_same_every_time() -> None:
    assert synthetic_spans(200) == synthetic_spans(300)[:200]
    assert synthetic_forecast(50) == synthetic_forecast(50)


def test_scoring_is_outside_the_slice() -> None:
    planner = offer("none")
    sliced = Probe().open("planner_optimize_ns", runtime(planner), session(4), TRACE)
    before = planner.scorings
    sliced.batch(9)()
    assert planner.scorings == before > 0


def test_a_session_is_optimised_at_every_turn() -> None:
    sliced = Probe().open("planner_optimize_ns", make(), session(4), TRACE)
    seen = []
    for loops in (1, 4, 6):
        given, plan = sliced.batch(loops)()
        sliced.check((given, plan))
        seen.append(plan.candidates)
    assert seen == [10, 13, 13]
    assert sliced.source is None


@pytest.mark.parametrize(
    ("kpi", "params"),
    [
        ("planner_optimize_ns", TRACE),
        ("candidate_scorings", {"arm": "full"}),
        ("candidate_scorings_per_turn", {"arm": "bounded"}),
    ],
)
def test_what_replays_a_session_is_undefined_without_one(kpi: str, params: dict[str, str]) -> None:
    found = Probe().open(kpi, make(), None, params)
    assert isinstance(found, Undefined)
    assert found.reason == "workload-kind"


@pytest.mark.parametrize("objective", ["exact", "coverage"])
def test_other_objectives_are_not_offered(objective: str) -> None:
    found = Probe().open("planner_optimize_ns", make(), None, {"objective": objective, "n": "100"})
    assert found == Undefined("not-offered", f"The planner does not offer the objective {objective}.")


def test_a_runtime_without_planner_is_undefined() -> None:
    found = Probe().open("planner_optimize_ns", runtime(None), None, GREEDY_1000)
    assert found == Undefined("not-offered", "The runtime stub offers no planner.")


class Altered(ReferencePlanner):
    """Plans, then breaks the plan."""

    def __init__(self, alter) -> None:
        super().__init__()
        self._alter = alter

    def optimize(self, *given, **named):
        return self._alter(super().optimize(*given, **named))


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda plan: replace(plan, selected=plan.selected[1:]), "no partition"),
        (lambda plan: replace(plan, elided=(*plan.elided[1:], plan.elided[1])), "no partition"),
        (lambda plan: replace(plan, objective="exact-dp"), "follows 'exact-dp'"),
        (lambda plan: replace(plan, cost_used=plan.cost_used + 1), "cost"),
        (lambda plan: replace(plan, selected=(), elided=(*plan.selected, *plan.elided), cost_used=0), "nothing"),
        (
            lambda plan: replace(
                plan,
                selected=(*plan.selected, *plan.elided),
                elided=(),
                cost_used=sum(e.cost for e in (*plan.selected, *plan.elided)),
            ),
            "within a budget",
        ),
    ],
)
def test_a_broken_plan_is_work_not_done(alter, message: str) -> None:
    sliced = Probe().open("planner_optimize_ns", runtime(Altered(alter)), None, {"objective": "greedy", "n": "100"})
    with pytest.raises(WorkNotDoneError, match=message):
        sliced.check(sliced.batch(1)())


def count(kpi: str, arm: str, turns: int, planner: object = None) -> Tally:
    found = Probe().open(kpi, runtime(planner or offer("none")), session(turns), {"arm": arm})
    assert isinstance(found, Tally)
    return found


@pytest.mark.parametrize(
    ("kpi", "arm", "turns", "counted"),
    [
        ("candidate_scorings", "full", 4, 4 + 7 + 10 + 13),
        ("candidate_scorings", "bounded", 4, 4 + 7 + 10 + 13),
        ("candidate_scorings", "full", 60, sum(3 * turn + 1 for turn in range(1, 61))),
        ("candidate_scorings", "bounded", 60, sum(min(3 * turn + 1, 128) for turn in range(1, 61))),
        ("candidate_scorings_per_turn", "full", 60, 181),
        ("candidate_scorings_per_turn", "bounded", 60, 128),
        ("candidate_scorings_per_turn", "bounded", 4, 13),
    ],
)
def test_counted_scorings_equal_the_closed_form(kpi: str, arm: str, turns: int, counted: int) -> None:
    tally = count(kpi, arm, turns)
    assert (tally.numerator, tally.denominator, tally.basis) == (counted, None, "count")
    assert tally.evidence[0].endswith(f"is {counted}")


class Miscounting(ReferencePlanner):
    """Scores ``extra`` spans more than it should, or hands back fewer candidates."""

    def __init__(self, extra: int = 0, dropped: int = 0) -> None:
        super().__init__()
        self._extra = extra
        self._dropped = dropped

    def candidates(self, spans, forecast, cap=None):
        scored = super().candidates(spans, forecast, cap)
        self._scorings += self._extra
        return scored[self._dropped :]


@pytest.mark.parametrize(
    ("arm", "wrong"),
    [
        ("full", {"extra": 1}),
        ("full", {"extra": -1}),
        ("full", {"dropped": 1}),
        ("bounded", {"extra": 1}),
        ("bounded", {"extra": -1}),
        ("bounded", {"dropped": 4}),
    ],
)
def test_a_count_that_contradicts_the_session_is_work_not_done(arm: str, wrong: dict[str, int]) -> None:
    with pytest.raises(WorkNotDoneError, match="scor"):
        count("candidate_scorings", arm, 4, Miscounting(**wrong))


def test_an_index_that_needs_fewer_than_its_bound_is_believed() -> None:
    class Sparing(ReferencePlanner):
        def candidates(self, spans, forecast, cap=None):
            return super().candidates(spans[-2:], forecast, cap)

    tally = count("candidate_scorings", "bounded", 4, Sparing())
    assert tally.numerator == 8
    assert tally.evidence[0].endswith("is 34")


class Asynchronous:
    """The reference planner behind coroutine functions."""

    def __init__(self) -> None:
        self._planner = ReferencePlanner()

    @property
    def scorings(self) -> int:
        return self._planner.scorings

    async def candidates(self, *given):
        await asyncio.sleep(0)
        return self._planner.candidates(*given)

    async def optimize(self, *given):
        await asyncio.sleep(0)
        return self._planner.optimize(*given)


def test_an_asynchronous_planner_is_timed_and_counted() -> None:
    async def drive() -> None:
        sliced = await Probe().open("planner_optimize_ns", runtime(Asynchronous()), session(4), TRACE)
        sliced.check(await sliced.batch(4)())
        tally = await Probe().open("candidate_scorings", runtime(Asynchronous()), session(4), {"arm": "full"})
        assert tally.numerator == 34

    asyncio.run(drive())
