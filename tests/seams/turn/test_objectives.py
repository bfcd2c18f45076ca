"""The three objectives: goldens, what each promises, and the coverage rule against the rule as it reads."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.turn import COVERAGE, EXACT, GREEDY, Candidate, ElisionReason, Forecast, Geometry, Weights
from seams.turn import objectives
from seams.turn.objectives import CELLS, OBJECTIVES, TOP_VALUE, by_coverage, density_of, fixed_value, marginal_of
from seams.turn.planner import ReferencePlanner, optimize
from seams.turn.spans import make_span
from tests.seams.turn.shapes import candidate, ids, reasons

ALL = [GREEDY, EXACT, COVERAGE]


def covering(step: int, cost: int, words: str, asked: int, relevance: float = 1.0, rest: float = 0.0) -> Candidate:
    """A candidate of which the benefit is just what its geometry says."""
    held = frozenset(words.split())
    benefit = relevance * len(held) / asked + rest
    return candidate(step, cost, benefit)._replace(geometry=Geometry(held, asked, relevance, rest))


# Goldens


def test_exact_finds_what_the_densest_span_blocks() -> None:
    three = [candidate(0, 6, 7.0), candidate(1, 5, 5.0), candidate(2, 5, 5.0)]
    greedy, exact = optimize(three, 10), optimize(three, 10, objective=EXACT)
    assert (ids(exact), exact.benefit, exact.objective, exact.cost_used) == (["span:1", "span:2"], 10.0, EXACT, 10)
    assert (exact.benefit - greedy.benefit, greedy.benefit / exact.benefit) == (3.0, 0.7)


@pytest.mark.parametrize("objective", ALL)
def test_of_equal_texts_one_stays_under_every_objective(objective: str) -> None:
    twins = [candidate(step, 5, 4.0, digest="d") for step in range(2)]
    plan = optimize(twins, 100, objective=objective)
    assert (ids(plan), plan.cost_used, reasons(plan)) == (["span:0"], 5, {"span:1": "duplicate"})
    assert ids(optimize(twins, 100, pins=["span:1"], objective=objective)) == ["span:1"]


@pytest.mark.parametrize("objective", ALL)
def test_rows_that_bear_one_id_stay_within_the_budget(objective: str) -> None:
    twins = [candidate(0, 2, 9, name="a"), candidate(1, 50, 0.1, name="a"), candidate(2, 2, 1, name="a")]
    plan = optimize(twins, 4, objective=objective)
    assert (plan.cost_used, len(plan.selected) + len(plan.elided), plan.candidates) == (4, 3, 3)


@pytest.mark.parametrize("objective", ALL)
def test_a_pin_is_charged_first_and_the_earlier_of_equals_follows(objective: str) -> None:
    three = [candidate(0, 5, 0.001), candidate(1, 3, 9), candidate(2, 3, 9)]
    plan = optimize(three, 8, pins=["span:0"], objective=objective)
    assert (ids(plan), plan.cost_used, plan.pinned_tokens) == (["span:0", "span:1"], 8, 5)


@pytest.mark.parametrize("objective", ALL)
def test_pins_above_the_budget_stay_alone(objective: str) -> None:
    three = [candidate(0, 10, 1), candidate(1, 10, 1), candidate(2, 1, 1)]
    plan = optimize(three, 5, pins=["span:0", "span:1"], objective=objective)
    assert (plan.over_budget, ids(plan), reasons(plan)) == (True, ["span:0", "span:1"], {"span:2": "over_budget"})
    assert (plan.objective, plan.fell_back_from) == (objective, None)


@pytest.mark.parametrize("objective", ALL)
@pytest.mark.parametrize("mark", ["sealed", "tombstoned"])
def test_a_marked_span_is_out_even_when_pinned(objective: str, mark: str) -> None:
    plan = optimize([candidate(0, 1, 9, **{mark: True})], 10, pins=["span:0"], objective=objective)
    assert reasons(plan) == {"span:0": mark}


@pytest.mark.parametrize("objective", ALL)
def test_what_is_released_is_out_unless_it_is_pinned(objective: str) -> None:
    two = [candidate(0, 1, 9), candidate(1, 1, 9)]
    plan = optimize(two, 10, pins=["span:1"], releases=["span:0", "span:1"], objective=objective)
    assert (ids(plan), reasons(plan)) == (["span:1"], {"span:0": "released"})


@pytest.mark.parametrize("objective", ALL)
def test_what_costs_nothing_and_is_worth_something_is_taken(objective: str) -> None:
    plan = optimize([candidate(0, 0, 0.1), candidate(1, 9, 5), candidate(2, 0, 0.0)], 0, objective=objective)
    assert (ids(plan), reasons(plan)) == (["span:0"], {"span:1": "over_budget", "span:2": "no_benefit"})


def scored(texts: Sequence[str], cost: int, weights: Weights, *utilities: float) -> list[Candidate]:
    spans = [
        make_span(step, "tool", text, utility=rating)._replace(bytes=4 * cost)
        for step, (text, rating) in enumerate(zip(texts, utilities or [0.0] * len(texts), strict=True))
    ]
    return ReferencePlanner().candidates(spans, Forecast(("alpha beta",), weights=weights))


def test_what_was_covered_is_not_bought_again() -> None:
    three = scored(["alpha one", "alpha two", "alpha three"], 5, Weights(1, 0, 0, 0, 0))
    assert len(optimize(three, 100).selected) == 3
    plan = optimize(three, 100, objective=COVERAGE)
    assert (ids(plan), reasons(plan)) == (["span:0"], {"span:1": "no_benefit", "span:2": "no_benefit"})


def test_coverage_takes_the_fresh_intent_where_greedy_takes_the_rated_span() -> None:
    three = scored(["alpha", "beta", "alpha again"], 5, Weights(1, 0.5, 0, 0, 0), 0, 0, 4)
    assert [each.benefit for each in three] == [0.5, 0.5, 1.0]
    assert ids(optimize(three, 10)) == ["span:0", "span:2"]
    plan = optimize(three, 10, objective=COVERAGE)
    assert (ids(plan), plan.benefit) == (["span:1", "span:2"], 1.5)


def test_pins_cover_nothing_beforehand() -> None:
    three = scored(["alpha", "alpha again", "beta"], 5, Weights(1, 0, 0, 0, 0))
    plan = optimize(three, 10, pins=["span:0"], objective=COVERAGE)
    assert ids(plan) == ["span:0", "span:1"]


def test_a_plan_for_coverage_sums_what_each_span_is_worth_alone() -> None:
    two = [covering(0, 1, "alpha", 2, rest=0.25), covering(1, 1, "alpha beta", 2)]
    plan = optimize(two, 9, objective=COVERAGE)
    assert (ids(plan), plan.benefit) == (["span:0", "span:1"], 1.75)


def test_primacy_is_in_the_benefit_and_not_in_what_coverage_adds() -> None:
    spans = [make_span(step, "tool", f"text {step}") for step in range(3)]
    middle = ReferencePlanner().candidates(spans, Forecast(weights=Weights(0, 0, 0, 0, 1)))[1]
    assert (middle.benefit, middle.geometry) == (0.5, Geometry(frozenset(), 0, 0, 0.0))
    assert reasons(optimize([middle], 99, objective=COVERAGE)) == {"span:1": "no_benefit"}
    assert ids(optimize([middle], 99)) == ["span:1"]


def test_a_span_worth_nothing_alone_is_not_taken_for_what_it_covers() -> None:
    odd = candidate(0, 1, 0.0)._replace(geometry=Geometry(frozenset({"alpha"}), 1, 1.0, 0.5))
    assert reasons(optimize([odd], 9, objective=COVERAGE)) == {"span:0": "no_benefit"}


def test_a_candidate_without_geometry_is_worth_its_benefit_whatever_is_covered() -> None:
    mixed = [covering(0, 5, "alpha", 1), candidate(1, 5, 0.5), covering(2, 5, "alpha", 1, rest=0.4)]
    assert ids(optimize(mixed, 10, objective=COVERAGE)) == ["span:1", "span:2"]


def test_greedy_comes_close_to_exact_on_a_store_of_few_good_spans_and_much_noise() -> None:
    good = ["refund fee schedule of the airline", "refund policy for late claims", "fee waiver for members"]
    for noise in (120, 300):
        texts = [*good, *(f"weather report number {step} is fine" for step in range(noise))]
        spans = [make_span(step, "tool", text) for step, text in enumerate(texts)]
        candidates = ReferencePlanner().candidates(spans, Forecast(("refund fee",)))
        greedy, exact = (optimize(candidates, 64, objective=each) for each in (GREEDY, EXACT))
        assert exact.objective == EXACT
        assert 0.9 <= greedy.benefit / exact.benefit <= 1
        assert {"span:0", "span:1", "span:2"} <= set(ids(greedy)) & set(ids(exact))


# The table, its limit and its numbers


def test_exact_above_its_table_is_greedy_and_says_so() -> None:
    half = CELLS // 2
    two = [candidate(0, half, 1.0), candidate(1, 1, 0.5)]
    within, above = (optimize(two, budget, objective=EXACT) for budget in (half, half + 1))
    assert (within.objective, within.fell_back_from, ids(within)) == (EXACT, None, ["span:0"])
    assert (above.objective, above.fell_back_from) == (GREEDY, EXACT)
    assert above == replace(optimize(two, half + 1), fell_back_from=EXACT)


def test_what_cannot_fit_or_is_worth_nothing_does_not_count_towards_the_table() -> None:
    many = [candidate(0, 5, 1), *(candidate(step, CELLS, 9) for step in range(1, 9))]
    many += [candidate(step, 1, 0.0) for step in range(9, 99)]
    assert optimize(many, CELLS // 2, objective=EXACT).objective == EXACT


def test_the_largest_table_of_the_largest_values_does_not_overflow() -> None:
    most = math.isqrt(CELLS)  # items of one token each, no more than tokens
    assert (most + 1) * TOP_VALUE < 2**63
    rows = [candidate(step, 1, 1e300) for step in range(most)]
    plan = optimize([*rows, candidate(most, 2, 1e300)], most - 1, objective=EXACT)
    assert (plan.objective, len(plan.selected), reasons(plan)[f"span:{most}"]) == (EXACT, most - 1, "over_budget")


@pytest.mark.parametrize(
    ("benefit", "value"),
    [(0.0, 0), (-1, 0), (math.nan, 0), (1.0, 10**6), (0.2500004, 250_000), (2.5e-6, 3), (4e-7, 0), (1e300, 10**15)],
)
def test_a_benefit_as_a_whole_number(benefit: float, value: int) -> None:
    assert fixed_value(benefit) == value
    assert fixed_value(math.inf) == TOP_VALUE


def test_what_rounds_to_nothing_is_not_taken_by_exact() -> None:
    assert reasons(optimize([candidate(0, 1, 4e-7)], 9, objective=EXACT)) == {"span:0": "no_benefit"}


def test_numpy_is_paid_for_by_exact_alone(repo: Path) -> None:
    script = (
        "import sys\n"
        "from seams.turn.planner import optimize\n"
        "from tests.seams.turn.shapes import candidate\n"
        "rows = [candidate(step, 6, step + 1.0) for step in range(9)]\n"
        "for objective in ('greedy-density', 'coverage', 'exact-dp'):\n"
        "    optimize(rows, 20, objective=objective)\n"
        "    print('numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=repo, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


# Properties

finite = st.floats(-1, 5)
marks = st.sampled_from(["", "", "", "sealed", "tombstoned"])
geometry = st.one_of(
    st.none(),
    st.tuples(st.frozensets(st.sampled_from(["alpha", "beta", "gamma", "delta"])), st.floats(-0.5, 1)),
)


@st.composite
def stores(draw: st.DrawFn, lightest: float = 0) -> list[Candidate]:
    """Up to 14 candidates whose benefits are what their geometry says, some without."""
    weight = draw(st.floats(lightest, 2))
    rows = draw(
        st.lists(st.tuples(st.integers(0, 12), finite, st.sampled_from(["", "d", None]), marks, geometry), max_size=14)
    )
    made = []
    for step, (cost, benefit, digest, mark, parts) in enumerate(rows):
        of = None if parts is None else Geometry(parts[0], 4, weight, parts[1])
        worth = benefit if of is None else marginal_of(of, len(of.words))
        marked = {mark: True} if mark else {}
        made.append(candidate(step, cost, worth, digest=digest, **marked)._replace(geometry=of))
    return made


some = st.sets(st.integers(0, 13).map("span:{}".format), max_size=4)


@pytest.mark.parametrize("objective", ALL)
@given(
    candidates=stores(),
    budget=st.integers(-2, 40),
    pins=some,
    releases=some,
    shuffler=st.randoms(use_true_random=False),
)
def test_every_objective_parts_the_candidates_within_the_budget(
    objective: str, candidates: list[Candidate], budget: int, pins: set[str], releases: set[str], shuffler
) -> None:
    plan = optimize(candidates, budget, pins, releases, objective)
    assert sorted([*ids(plan), *(each.id for each in plan.elided)]) == sorted(each.cell.id for each in candidates)
    assert plan.cost_used == sum(each.cost for each in plan.selected)
    assert plan.cost_used <= plan.budget or (plan.over_budget and plan.cost_used == plan.pinned_tokens)
    assert plan.benefit == sum(each.benefit for each in plan.selected)
    greedy = optimize(candidates, budget, pins, releases)
    settled = {ElisionReason.SEALED, ElisionReason.TOMBSTONED, ElisionReason.RELEASED, ElisionReason.DUPLICATE}
    assert [each for each in plan.elided if each.reason in settled] == [
        each for each in greedy.elided if each.reason in settled
    ]
    assert [each for each in plan.selected if each.pinned] == [each for each in greedy.selected if each.pinned]

    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert optimize(shuffled, budget, pins, releases, objective) == plan


@given(stores(), st.integers(0, 40), some, some)
def test_exact_is_never_worth_less_than_any_other_plan(
    candidates: list[Candidate], budget: int, pins: set[str], releases: set[str]
) -> None:
    exact = optimize(candidates, budget, pins, releases, EXACT)
    rounding = len(candidates) / 1e6
    for objective in (GREEDY, COVERAGE):
        other = optimize(candidates, budget, pins, releases, objective)
        assert exact.benefit >= other.benefit - rounding


@given(stores(), st.integers(0, 25))
def test_exact_is_the_best_of_all_subsets(candidates: list[Candidate], budget: int) -> None:
    free = [each for each in candidates[:9] if not each.cell.sealed and not each.cell.tombstoned]
    free = [each._replace(cell=each.cell._replace(digest="")) for each in free]
    best = 0
    for subset in range(2 ** len(free)):
        taken = [each for row, each in enumerate(free) if subset >> row & 1]
        if sum(each.cost for each in taken) <= budget:
            best = max(best, sum(fixed_value(each.benefit) for each in taken))
    plan = optimize(free, budget, objective=EXACT)
    assert sum(fixed_value(each.benefit) for each in plan.selected) == best
    assert plan.cost_used <= budget


def as_it_reads(candidates: list[Candidate], budget: int) -> list[int]:
    """The coverage rule with every marginal worked out anew at every step."""
    covered: set[str] = set()
    left, chosen = budget, []
    while True:
        best = None
        for row, each in enumerate(candidates):
            if row in chosen or each.cost > left or not each.benefit > 0:
                continue
            adds = marginal_of(each.geometry, len(each.geometry.words - covered)) if each.geometry else each.benefit
            key = (density_of(adds, each.cost), adds, -row)
            if adds > 0 and (best is None or key > best):
                best = key
        if best is None:
            return chosen
        row = -best[2]
        chosen.append(row)
        left -= candidates[row].cost
        covered |= candidates[row].geometry.words if candidates[row].geometry else set()


@given(stores(lightest=-2), st.integers(0, 60))
def test_coverage_chooses_as_the_rule_reads_whatever_the_sign_of_a_weight(
    candidates: list[Candidate], budget: int
) -> None:
    assert by_coverage(candidates, list(range(len(candidates))), budget).chosen == as_it_reads(candidates, budget)


def test_coverage_of_three_hundred_spans_chooses_as_the_rule_reads() -> None:
    texts = [f"{'alpha' if step % 3 else 'beta'} {'gamma' if step % 7 else ''} {step}" for step in range(300)]
    spans = [
        make_span(step, "tool", text + "\n" + "." * (37 * step % 900), utility=step % 5)
        for step, text in enumerate(texts)
    ]
    candidates = ReferencePlanner().candidates(spans, Forecast(("alpha beta gamma delta",)))
    chosen = by_coverage(candidates, list(range(300)), 6_000).chosen
    assert chosen == as_it_reads(candidates, 6_000)
    assert 50 < len(chosen) < 250


def test_a_worth_that_is_no_finite_number_is_none() -> None:
    odd = Geometry(frozenset({"alpha"}), 1, math.inf, 0.0)
    assert marginal_of(odd, 1) == 0
    assert marginal_of(Geometry(frozenset(), 0, 1.0, math.nan), 0) == 0
    rows = [candidate(0, 1, math.nan), candidate(1, 1, 1.0)._replace(geometry=odd), candidate(2, 1, 1.0)]
    assert by_coverage(rows, [0, 1, 2], 9).chosen == [2]


def test_the_names_of_the_objectives() -> None:
    assert sorted(OBJECTIVES) == sorted(ALL)
    assert objectives.OBJECTIVES[COVERAGE] is by_coverage
