from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.probes.turn._plans import reachable, verify_reached
from harness.probes.turn._scorings import NEWEST
from harness.probes.turn._selection import EXACT_CELLS, OBJECTIVES
from harness.probes.turn._synthetic import synthetic_forecast, synthetic_spans
from harness.probes.turn.planner import Probe
from seams.contract.turn import GREEDY, ElisionReason, Plan
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


@pytest.mark.parametrize("n", ["100", "1000", "trace"])
@pytest.mark.parametrize("objective", ["exact", "coverage"])
def test_the_other_objectives_are_timed_under_their_own_name(objective: str, n: str) -> None:
    params = {"objective": objective, "n": n}
    sliced = Probe().open("planner_optimize_ns", make(), session(40, size=2_000), params)
    given, plan = sliced.batch(1)()
    sliced.check((given, plan))
    assert (plan.objective, plan.fell_back_from) == (OBJECTIVES[objective], None)
    assert len(plan.selected) < len(given[0])


def test_an_exact_plan_is_asked_for_within_the_table_that_it_fills() -> None:
    given, plan = Probe().open("planner_optimize_ns", make(), None, {"objective": "exact", "n": "1000"}).batch(1)()
    assert given[1] * 1_000 <= EXACT_CELLS
    assert plan.budget == given[1]


class Greedy(ReferencePlanner):
    """Fills greedily whatever is asked, and calls it by the name that was asked for."""

    def optimize(self, candidates, budget, pins=(), releases=(), objective=GREEDY):
        return replace(super().optimize(candidates, budget, pins, releases), objective=objective)


@pytest.mark.parametrize("n", ["100", "1000", "trace"])
@pytest.mark.parametrize(("objective", "told"), [("exact", "the optimum is"), ("coverage", "calls itself coverage")])
def test_a_greedy_plan_under_another_name_is_work_not_done(objective: str, told: str, n: str) -> None:
    params = {"objective": objective, "n": n}
    sliced = Probe().open("planner_optimize_ns", runtime(Greedy()), varied_session(), params)
    with pytest.raises(WorkNotDoneError, match=told):
        sliced.check(sliced.batch(1)())


def varied_session():
    """Forty turns whose messages differ in size, so that how the budget is filled makes a difference."""
    workload = session(40)
    for turn, recorded in enumerate(workload.data["turns"]):
        for place, message in enumerate(recorded["messages"]):
            message["bytes"] = 60 + 977 * (3 * turn + place) % 4_001
    return workload


class FallsBack(ReferencePlanner):
    """Fills greedily whatever is asked, and says so."""

    def optimize(self, candidates, budget, pins=(), releases=(), objective=GREEDY):
        plan = super().optimize(candidates, budget, pins, releases)
        return replace(plan, fell_back_from=None if objective == GREEDY else objective)


def test_an_objective_that_a_planner_falls_back_from_is_not_offered() -> None:
    found = Probe().open("planner_optimize_ns", runtime(FallsBack()), None, {"objective": "coverage", "n": "100"})
    told = "For 100 candidates and 6645 tokens the planner fell back from coverage."
    assert found == Undefined("not-offered", told)


def test_an_objective_that_a_planner_refuses_is_not_offered() -> None:
    class Old(ReferencePlanner):
        def optimize(self, candidates, budget, pins=(), releases=(), objective=GREEDY):
            if objective != GREEDY:
                raise ValueError("What is that?")
            return super().optimize(candidates, budget, pins, releases)

    for objective in ("exact-dp", "coverage"):
        word = objective.removesuffix("-dp")
        found = Probe().open("planner_optimize_ns", runtime(Old()), None, {"objective": word, "n": "100"})
        assert found == Undefined("not-offered", f"The planner does not offer the objective {objective}.")


def test_what_a_benefit_is_made_of_is_not_the_planners_word() -> None:
    bare = Rescored(lambda scored: [each._replace(geometry=None) for each in scored])
    params = {"objective": "coverage", "n": "100"}
    asked, given = (
        Probe().open("planner_optimize_ns", runtime(each), None, params).batch(1)()[0][0]
        for each in (bare, ReferencePlanner())
    )
    assert asked == given
    assert any(each.geometry.words for each in asked if each.geometry)
    for each in asked:
        if each.geometry:
            words, of, relevance, rest = each.geometry
            assert relevance * len(words) / of + rest == pytest.approx(each.benefit)


class OnlyPins(ReferencePlanner):
    """Does not bother to fill its budget."""

    def optimize(self, candidates, budget, pins=(), releases=(), objective=GREEDY):
        return replace(super().optimize(candidates, 0, pins, releases, objective), budget=budget)


class Thrifty(ReferencePlanner):
    """Selects what is cheapest and calls it greedy: everything fits that would, and it is worth less."""

    def optimize(self, candidates, budget, pins=(), releases=(), objective=GREEDY):
        cheap = [each._replace(benefit=1.0 if each.benefit > 0 else 0.0) for each in candidates]
        return super().optimize(cheap, budget, pins, releases, objective)


@pytest.mark.parametrize("planner", [OnlyPins, Thrifty])
@pytest.mark.parametrize("params", [{"n": "100"}, {"n": "1000"}, {"n": "trace"}, {"history": "100"}])
def test_a_plan_that_is_less_than_greedy_is_found_out(params: dict[str, str], planner) -> None:
    asked = {"objective": "greedy", **params}
    sliced = Probe().open("planner_optimize_ns", runtime(planner()), varied_session(), asked)
    with pytest.raises(WorkNotDoneError, match="the plan calls itself greedy"):
        sliced.check(sliced.batch(40)())


def test_a_greedy_plan_may_be_worth_more_than_its_rule() -> None:
    given, plan = Probe().open("planner_optimize_ns", make(), None, {"objective": "greedy", "n": "100"}).batch(1)()
    verify_reached(given, plan, reachable(given))
    verify_reached(given, plan, reachable(given) / 2)


class Remembering(ReferencePlanner):
    """Looks up the plan that it made of so many candidates before."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict = {}

    def optimize(self, candidates, budget, pins=(), releases=(), objective=GREEDY):
        key = (tuple(each.cell.id for each in candidates), budget, objective)
        if key not in self._made:
            self._made[key] = super().optimize(candidates, budget, pins, releases, objective)
        return self._made[key]


@pytest.mark.parametrize("objective", ["greedy", "exact", "coverage"])
@pytest.mark.parametrize("params", [{"n": "100"}, {"n": "trace"}, {"history": "100"}])
def test_a_planner_that_answers_from_memory_is_found_out(objective: str, params: dict[str, str]) -> None:
    asked = {"objective": objective, **params}
    sliced = Probe().open("planner_optimize_ns", runtime(Remembering()), session(40, size=2_000), asked)
    with pytest.raises(WorkNotDoneError, match="1 elided spans bear another digest"):
        sliced.check(sliced.batch(2)())


def test_no_two_calls_are_given_the_same_candidates() -> None:
    given: list[tuple] = []

    class Noting(ReferencePlanner):
        def optimize(self, candidates, *others):
            given.append(tuple(candidates))
            return super().optimize(candidates, *others)

    sliced = Probe().open("planner_optimize_ns", runtime(Noting()), None, {"objective": "greedy", "n": "100"})
    given.clear()
    for _ in range(2):
        sliced.check(sliced.batch(30)())
    assert len(set(given)) == 60


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


def with_copies(plan: Plan) -> Plan:
    """A planner that selects a text and its copy, and leaves something else out for it."""
    spans = {span.id: span for span in synthetic_spans(100)}
    texts = {spans[each.id].digest for each in plan.selected}
    copy = next(each for each in plan.elided if each.reason is ElisionReason.DUPLICATE and each.digest in texts)
    others = [each for each in plan.selected if not each.pinned and spans[each.id].digest != copy.digest]
    taken = [*(each for each in plan.selected if each not in others), copy]
    for each in others:
        if sum(one.cost for one in taken) + each.cost <= plan.budget:
            taken.append(each)
    left = [each for each in (*plan.selected, *plan.elided) if each not in taken]
    return replace(plan, selected=tuple(taken), elided=tuple(left), cost_used=sum(each.cost for each in taken))


def with_other_handles(plan: Plan) -> Plan:
    """A planner that loses what the elided spans come back by."""
    return replace(plan, elided=tuple(each._replace(digest="") for each in plan.elided))


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda plan: replace(plan, selected=plan.selected[1:]), "no partition"),
        (lambda plan: replace(plan, elided=(*plan.elided[1:], plan.elided[1])), "no partition"),
        (lambda plan: replace(plan, objective="a secret"), "follows another objective"),
        (lambda plan: replace(plan, cost_used=plan.cost_used + 1), "and the plan says"),
        (with_copies, r"of \d+ selected texts only \d+ differ"),
        (lambda plan: replace(plan, selected=(), elided=(*plan.selected, *plan.elided), cost_used=0), "2 pinned spans"),
        (with_other_handles, "elided spans bear another digest"),
        (lambda plan: everything(plan, cost=0), "and the plan says 0"),
        (lambda plan: everything(plan, pinned=True), "sealed, tombstoned or released"),
        (lambda plan: everything(plan, pinned=True, worst=True), "within a budget"),
        (lambda _: None, "gave back nothing"),
        (lambda _: (), "gave back a tuple"),
    ],
)
def test_a_broken_plan_is_work_not_done(alter, message: str) -> None:
    params = {"objective": "greedy", "n": "100"}
    with pytest.raises(WorkNotDoneError, match=message) as caught:
        (sliced := Probe().open("planner_optimize_ns", runtime(Altered(alter)), None, params)).check(sliced.batch(1)())
    assert "secret" not in str(caught.value)


def everything(plan: Plan, *, cost: int | None = None, pinned: bool = False, worst: bool = False) -> Plan:
    """All that may be selected (with ``pinned`` and not ``worst``, what may not too), under a false name."""
    barred = () if pinned and not worst else (ElisionReason.SEALED, ElisionReason.RELEASED)
    taken = (*plan.selected, *(each for each in plan.elided if each.reason not in barred))
    left = tuple(each for each in plan.elided if each.reason in barred)
    spent = sum(each.cost for each in taken) if cost is None else cost
    return replace(plan, selected=taken, elided=left, cost_used=spent, pinned_tokens=spent if pinned else 0)


class Rescored(ReferencePlanner):
    """Scores, then breaks the candidates."""

    def __init__(self, alter) -> None:
        super().__init__()
        self._alter = alter

    def candidates(self, *given):
        return self._alter(super().candidates(*given))


def test_what_a_span_costs_is_not_the_planners_word() -> None:
    free = Rescored(lambda scored: [each._replace(cost=0) for each in scored])
    for params, work in (({"objective": "greedy", "n": "100"}, None), (TRACE, session(4))):
        asked, given = (
            Probe().open("planner_optimize_ns", runtime(each), work, params).batch(1)()[0]
            for each in (free, ReferencePlanner())
        )
        assert asked == given
        assert len({each.cell.digest for each in asked[0]}) > 1
        assert all(each.cost == -(-each.cell.bytes // 4) for each in asked[0])


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda _: None, "gave back nothing"),
        (lambda _: [], "100 spans out of 100"),
        (lambda scored: scored[1:], "1 spans out of 100"),
        (lambda scored: [*scored, scored[0]], "101 scored candidates"),
        (lambda scored: [*scored[1:], scored[0]._replace(cell=scored[0].cell._replace(id="x"))], "100 scored"),
        (lambda scored: [each._replace(benefit=float("nan")) for each in scored], "no finite number"),
    ],
)
def test_broken_candidates_are_work_not_done(alter, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message):
        Probe().open("planner_optimize_ns", runtime(Rescored(alter)), None, {"objective": "greedy", "n": "100"})


def count(kpi: str, arm: str, turns: int, planner: object = None) -> Tally:
    found = Probe().open(kpi, runtime(planner or offer("none")), session(turns), {"arm": arm})
    assert isinstance(found, Tally)
    return found


@pytest.mark.parametrize(
    ("kpi", "arm", "turns", "counted"),
    [
        ("candidate_scorings", "full", 4, 4 + 7 + 10 + 13),
        ("candidate_scorings", "full", 60, sum(3 * turn + 1 for turn in range(1, 61))),
        ("candidate_scorings_per_turn", "full", 60, 181),
        ("candidate_scorings_per_turn", "full", 4, 13),
    ],
)
def test_a_full_scan_counts_its_closed_form(kpi: str, arm: str, turns: int, counted: int) -> None:
    tally = count(kpi, arm, turns)
    assert (tally.numerator, tally.denominator, tally.basis) == (counted, None, "count")
    assert tally.evidence[0].startswith("closed form: i ")
    assert tally.evidence[0].endswith(f"is {counted}")
    usual = f"as modeled over n = {turns} turns: n(n+1)/2, one span a turn, is {turns * (turns + 1) // 2}"
    assert tally.evidence[1:] == ((usual,) if kpi == "candidate_scorings" else ())


@pytest.mark.parametrize(("turns", "bound"), [(4, 34), (60, sum(min(3 * turn + 1, 128) for turn in range(1, 61)))])
def test_a_bounded_scan_counts_what_the_index_names_beside_its_bound(turns: int, bound: int) -> None:
    """Each turn's question shares two words with every earlier one; answers and results are named as the newest."""
    named = 0
    for turn in range(1, turns + 1):
        held = range(3 * turn + 1)
        asked = {step for step in held if step % 3 == 1}
        named += len({0, *asked, *held[-32:]})
    tally = count("candidate_scorings", "bounded", turns)
    assert tally.numerator == named <= bound
    assert tally.evidence == (
        f"bound: min(i, 128) summed over {turns} turns, i spans held, is {bound}",
        f"as modeled over n = {turns} turns: 128 n, charged before there are as many spans, is {128 * turns}",
    )


def test_the_last_turn_of_a_bounded_scan_is_below_its_cap() -> None:
    tally = count("candidate_scorings_per_turn", "bounded", 60)
    assert tally.numerator == 1 + 60 + 32 - 10 < 128
    assert tally.evidence == ("bound: min(i, 128) at the last turn, i spans held, is 128",)


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
        ("bounded", {"dropped": 3}),
        ("bounded", {"dropped": 99}),
    ],
)
def test_a_count_that_contradicts_the_session_is_work_not_done(arm: str, wrong: dict[str, int]) -> None:
    with pytest.raises(WorkNotDoneError, match="scor"):
        count("candidate_scorings", arm, 4, Miscounting(**wrong))


class Naming(ReferencePlanner):
    """Scores the spans that ``keep`` names out of those of a turn, and counts them."""

    def __init__(self, keep) -> None:
        super().__init__()
        self._keep = keep

    def candidates(self, spans, forecast, cap=None):
        kept = spans if cap is None else self._keep(spans, forecast)
        return super().candidates(kept, forecast)


def pins_of(spans, forecast):
    return [each for each in spans if each.id in forecast.pins]


def in_order(spans, *parts):
    ids = {each.id for part in parts for each in part}
    return [each for each in spans if each.id in ids]


def asked_about(spans, forecast):
    return [each for each in spans if set(each.descriptor.split()) & set(forecast.intents)]


@pytest.mark.parametrize("kpi", ["candidate_scorings", "candidate_scorings_per_turn"])
@pytest.mark.parametrize(
    "keep",
    [
        lambda spans, forecast: in_order(spans, pins_of(spans, forecast), spans[-1:]),
        lambda spans, forecast: in_order(spans, pins_of(spans, forecast), spans[-NEWEST:]),
        lambda spans, forecast: in_order(spans, pins_of(spans, forecast), asked_about(spans, forecast)),
        lambda spans, forecast: in_order(
            spans, pins_of(spans, forecast), asked_about(spans, forecast), spans[1 - 32 :]
        ),
    ],
)
def test_an_index_that_leaves_out_what_the_turn_is_about_is_found_out(kpi: str, keep) -> None:
    with pytest.raises(WorkNotDoneError, match="asked about or among the newest"):
        count(kpi, "bounded", 40, Naming(keep))


def test_an_index_may_stop_at_what_the_turn_is_about() -> None:
    def keep(spans, forecast):
        return in_order(spans, pins_of(spans, forecast), asked_about(spans, forecast), spans[-NEWEST:])

    reference = count("candidate_scorings", "bounded", 40)
    assert count("candidate_scorings", "bounded", 40, Naming(keep)).numerator <= reference.numerator


def test_where_more_is_asked_about_than_the_cap_holds_it_is_filled_with_that() -> None:
    """A hundred and fifty questions about claims: each shares its words with all others."""
    workload = session(150)
    found = Probe().open("candidate_scorings_per_turn", make(), workload, {"arm": "bounded"})
    assert found.numerator == 128
    for keep in (
        lambda spans, forecast: in_order(spans, pins_of(spans, forecast), asked_about(spans, forecast)[:60]),
        lambda spans, forecast: in_order(spans, pins_of(spans, forecast), spans[-160:-34])[:128],
    ):
        with pytest.raises(WorkNotDoneError, match=r"where there is room for 128|were not scored"):
            count("candidate_scorings_per_turn", "bounded", 150, Naming(keep))


class Sparing(ReferencePlanner):
    """Scores the newest span alone."""

    def candidates(self, spans, forecast, cap=None):
        return super().candidates(spans[-1:], forecast)


def test_an_index_that_loses_the_pins_is_work_not_done() -> None:
    with pytest.raises(WorkNotDoneError, match="2 pinned spans out of 4 given were not scored"):
        count("candidate_scorings", "bounded", 4, Sparing())


def test_scorings_that_a_planner_does_not_count_are_found_by_its_candidates() -> None:
    class Silent(ReferencePlanner):
        @property
        def scorings(self) -> int:
            return super().scorings // 2

    with pytest.raises(WorkNotDoneError, match="2 were counted as scored and 4 came back"):
        count("candidate_scorings", "bounded", 4, Silent())


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


def test_a_choice_after_a_history_counts_its_work() -> None:
    params = {"objective": "greedy", "history": "100"}
    sliced = Probe().open("planner_optimize_ns", make(), None, params)
    given, plan = sliced.batch(1)()
    sliced.check((given, plan))
    assert sliced.work == {"spans partitioned": 401, "spans selected": len(plan.selected)}
    assert sliced.source == "synthetic"
    assert isinstance(Probe().open("planner_optimize_ns", make(), None, {**params, "history": "0"}), Undefined)
