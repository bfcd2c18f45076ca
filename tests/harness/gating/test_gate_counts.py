"""What a gate counts: histograms that repeat or not, invariants over two clocks, instructions that decide."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from harness.gating import localise
from harness.gating.deadline import BoundedGround, Deadline
from harness.gating.derived import compare_derived
from harness.gating.ground import Ground
from harness.gating.options import GateOptions
from harness.gating.points import GatePoints, gate_points, gates_at
from harness.gating.rows import compare_counts, label, restate, row_of, unmeasured
from harness.gating.timed import TimedPoint
from harness.jobs.gate import Gated, gate
from harness.jobs.plan import PlannedPoint
from harness.jobs.rows import project_catalog
from harness.judge.sequence import PointJudge
from harness.measure.answer import Answer
from harness.measure.legs import Unavailable
from harness.measure.legs.instructions import InstructionCount
from harness.project import load_project
from harness.report.catalog_text import explain_text
from kpis.registry import load
from kpis.terms.claim import ClaimKind, ClaimState
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Status
from kpis.terms.reading import Leg
from tests.harness.cli.own import Command
from tests.harness.gating.test_gate_command import ROWS, SOURCE, git, states
from tests.harness.gating.test_gate_command import repository as repository

RUNTIME = [("reference", "seams.runtimes.reference:make")]


def point(kpi: str) -> PlannedPoint:
    return PlannedPoint(load().get(kpi), {}, RUNTIME[0], None, "p:P")


def tally(**reasons: int) -> dict[str, Any]:
    return {"numerator": sum(reasons.values()), "denominator": None, "reasons": reasons}


@pytest.mark.parametrize(
    ("base", "head", "state", "says"),
    [
        ((tally(a=2, b=1), tally(a=2, b=1)), (tally(a=2, b=1), tally(a=2, b=1)), State.OK, "3 -> 3"),
        ((tally(a=2, b=1), tally(a=2, b=1)), (tally(a=1, b=2), tally(a=1, b=2)), State.REGRESSED, "a 2 -> 1, b 1 -> 2"),
        (
            (tally(a=2, b=1), tally(a=1, b=2)),
            (tally(a=2, b=1), tally(a=2, b=1)),
            State.INCONCLUSIVE,
            "base counted a 2",
        ),
        (
            (tally(a=2, b=1), tally(a=2, b=1)),
            (tally(a=1, b=2), tally(a=2, b=1)),
            State.INCONCLUSIVE,
            "head counted a 1",
        ),
        (
            (tally(a=2, b=1), tally(a=2, b=1)),
            (tally(a=3, b=1), tally(a=2, b=2)),
            State.INCONCLUSIVE,
            "head counted a 3",
        ),
    ],
)
def test_a_histogram_repeats_key_by_key_or_decides_nothing(
    base: tuple[dict[str, Any], ...], head: tuple[dict[str, Any], ...], state: State, says: str
) -> None:
    found = compare_counts(point("verdict_reason_distribution"), list(base), list(head))
    assert found.state is state
    assert says in found.evidence[-1]
    assert [notice.code.value for notice in found.warnings] == (["demoted"] if state is State.INCONCLUSIVE else [])


# Where a count gates


@pytest.mark.parametrize("all_params", [False, True])
def test_what_is_no_better_for_being_more_gates_at_its_gate_point_alone(all_params: bool) -> None:
    saved = load().get("prefix_tokens_saved")
    assert saved.points() == [{"part": "credited"}, {"part": "refused"}]
    assert gates_at(saved, all_params=all_params) == [{"part": "credited"}]
    assert len(gates_at(load().get("cache_hit_rate"), all_params=all_params)) == 2
    assert "exact, at part=credited\n" in explain_text(load(), saved, Status.STANDING, True)


# Invariants over two clocks


def scripted(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str, str], tuple[str, str] | float]) -> None:
    """Let a worker answer what ``answer`` says of a KPI on a side: a time in ns, or why there is none."""

    def ask(_ground: Ground, source: PlannedPoint, side: str, _task: str, **_more: Any) -> Answer:
        found = answer(source.kpi.id, side)
        if isinstance(found, tuple):
            return Answer(undefined=found)
        return Answer({"loops": 1, "process_ns": found})

    monkeypatch.setattr(Ground, "ask", ask)


def invariants() -> tuple[PlannedPoint, GatePoints]:
    points = gate_points(load(), RUNTIME, GateOptions(against="HEAD", kpis=("gate_primary",)))
    (derived,) = points.derived
    return derived, points


def ground(tmp_path: Path) -> BoundedGround:
    """One whose budget is over."""
    none: Any = None
    return BoundedGround(none, load(), none, (), {}, tmp_path, deadline=Deadline(time.monotonic() - 1, 1.0))


FAST, SLOW = "tool_call_p50_ns", "spawned_hook_baseline_p50_ns"


@pytest.mark.parametrize(
    ("lacking", "state", "says"),
    [
        ({}, State.OK, "on head in 2 of 2"),
        ({(FAST, "base"): "error"}, State.NEW, f"on the base: {FAST}: why base"),
        ({(SLOW, "head"): "error"}, State.VOID, f"on the head: {SLOW}: why head"),
        ({(FAST, "base"): "error", (SLOW, "head"): "error"}, State.VOID, f"on the base: {FAST}: why base"),
        ({(FAST, "base"): "not-offered", (FAST, "head"): "not-offered"}, State.NEW, "left out on both sides"),
        ({(FAST, "head"): "not-offered"}, State.REMOVED, "no longer on the head"),
    ],
)
def test_an_invariant_that_a_side_cannot_measure(
    lacking: dict[tuple[str, str], str], state: State, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer(kpi: str, side: str) -> tuple[str, str] | float:
        reason = lacking.get((kpi, side))
        return (100.0 if kpi == FAST else 1e6) if reason is None else (reason, f"why {side}")

    scripted(monkeypatch, answer)
    derived, points = invariants()
    found = compare_derived(derived, points, ground(tmp_path), limit=1.0)
    assert found.state is state, "and no budget cuts it off"
    assert says in found.evidence[0]


def test_an_input_is_taken_at_its_gate_point_and_missed_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, str]] = []

    def ask(_ground: Ground, source: PlannedPoint, _side: str, _task: str, **_more: Any) -> Answer:
        asked.append(source.params)
        return Answer({"loops": 1, "process_ns": 1.0})

    monkeypatch.setattr(Ground, "ask", ask)
    derived, points = invariants()
    several = tuple(
        replace(source, kpi=replace(source.kpi, params={"n": ("1", "2")}, gate_point={"n": "2"}), params={"n": value})
        for source in points.inputs
        for value in ("1", "2")
        if not source.params
    )
    compare_derived(derived, replace(points, inputs=several), ground(tmp_path), limit=1.0)
    assert asked
    assert {each["n"] for each in asked} == {"2"}
    elsewhere = tuple(source for source in several if source.params == {"n": "1"})
    found = compare_derived(derived, replace(points, inputs=elsewhere), ground(tmp_path), limit=1.0)
    assert found.state is State.VOID
    assert found.evidence[0].startswith(f"its input {FAST} is not measured at the gate point; look with: python")


# The budget


def test_a_budget_that_is_over_cuts_off_no_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scripted(monkeypatch, lambda _kpi, _side: ("error", "It was asked."))
    place = ground(tmp_path)
    place.sides = type("Sides", (), {"base": (tmp_path,), "head": (tmp_path,)})()  # type: ignore[assignment]
    counted = place.discover(point("denies"), "base", limit=1.0)
    assert counted.undefined == ("error", "It was asked.")
    timed = place.discover(point("tool_call_p50_ns"), "base", limit=1.0)
    assert timed.undefined is not None
    assert timed.undefined[0] == "out-of-budget"


def gated(root: Path, **more: object) -> Gated:
    project = load_project(root)
    options = GateOptions(**{"against": "HEAD", "kpis": ("work_ns", "work_count"), **more})  # type: ignore[arg-type]
    return gate(project, project_catalog(project), options, argv=("gate",))


def test_counts_come_first_and_whole_whatever_the_budget(repository: Path) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("return 3", "return 4"))
    steps: list[str] = []
    project = load_project(repository)
    options = GateOptions(against="HEAD", kpis=("work_ns", "work_count"), budget_s=0.001)
    found = gate(project, project_catalog(project), options, argv=(), on_step=lambda what, _share: steps.append(what))
    assert steps == ["trying work_count", "trying work_ns"]
    ends = {row.kpi: row.state for row in found.file.rows}
    assert ends == {"work_count": State.REGRESSED, "work_ns": State.INCONCLUSIVE}


# What was asked for


@pytest.mark.parametrize("asked", [{"planner_optimize_ns"}, set()])
def test_what_is_asked_for_is_asked_for_by_its_id(asked: set[str]) -> None:
    found = unmeasured(("not-offered", "None here."), ("not-offered", "None here."))
    assert found is not None
    mine = point("planner_optimize_ns")
    ends = {label(mine): found}
    (row,) = restate(GatePoints((mine,), (), (), ()), [row_of(mine, found)], ends, asked)
    assert row.state is ends[label(mine)].state is (State.VOID if asked else State.NEW)


def test_an_alias_asks_for_what_it_stands_for(loopladder: Command, repository: Path) -> None:
    rows = ROWS.replace("[kpi.work_count]\n", '[kpi.work_count]\naliases = ["counted"]\n')
    left = 'return Undefined("not-offered", "It counts nothing.")'
    probes = (repository / "bench" / "probes.py").read_text().replace("return Tally(mine.count())", left)
    (repository / "bench" / "kpis.toml").write_text(rows)
    (repository / "bench" / "probes.py").write_text(probes.replace("import Tally", "import Undefined"))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "counted", cwd=repository)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "void: work_count: left out on both sides: It counts nothing." in " ".join(done.stdout.split())


# A KPI that gates by its instructions


@pytest.fixture
def instructed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose timed KPI gates by instructions, committed; its head is touched."""
    rows = ROWS.replace('gate = "timed"', 'gate = "instructions"')
    (repository / "bench" / "kpis.toml").write_text(rows)
    git(repository, "commit", "--quiet", "--all", "--message", "instructions")
    (repository / "mine.py").write_text(f"# touched\n{SOURCE}")
    monkeypatch.setattr("harness.gating.timed.run_pair", lambda *_words, **_more: pytest.fail("it was timed"))
    monkeypatch.setattr(localise, "_counter", lambda _around: "perf")
    none = Unavailable("There is no memray.")
    monkeypatch.setattr(localise.allocations, "count", lambda *_words, **_more: none)
    return repository


def counting(monkeypatch: pytest.MonkeyPatch, base: tuple[float, float], head: tuple[float, float]) -> None:
    sides = iter((base, head))

    def count(*_words: object, **_more: object) -> InstructionCount:
        runs = next(sides)
        return InstructionCount(sum(runs) / 2, runs, 64, "perf")

    monkeypatch.setattr(localise.instructions, "count", count)


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        ((1000.0, 1000.0), (1002.0, 1002.0), State.REGRESSED),
        ((1000.0, 1000.0), (1000.9, 1000.9), State.OK),
        ((1000.0, 1000.0), (900.0, 900.0), State.IMPROVED),
        ((1000.0, 1000.0), (1000.0, 1100.0), State.INCONCLUSIVE),
    ],
)
def test_instructions_decide_where_a_kpi_gates_by_them(
    base: tuple[float, float],
    head: tuple[float, float],
    state: State,
    instructed: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting(monkeypatch, base, head)
    file = gated(instructed).file
    claims = {claim.rule: claim for claim in file.claims}
    assert (claims["work_ns"].kind, claims["work_ns"].state is ClaimState.FIRED) == (
        ClaimKind.POLICY,
        state is State.REGRESSED,
    )
    assert file.verdict.by == (("work_ns",) if state in (State.REGRESSED, State.INCONCLUSIVE) else ())
    rows = {row.leg: row for row in file.rows if row.kpi == "work_ns"}
    assert (rows[Leg.MAIN].state, rows[Leg.MAIN].ratio) == (state, None), "no ratio of times"
    assert rows[Leg.MAIN].evidence[0].startswith("instructions a call: ")
    assert rows[Leg.MAIN].paths == ["mine.py"]
    assert rows[Leg.INSTRUCTIONS].state is state
    assert Leg.ALLOC_BLOCKS not in rows, "they cannot be counted, and nobody asked"


def test_what_was_asked_for_and_cannot_be_counted_says_so(instructed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting(monkeypatch, (1000.0, 1000.0), (1002.0, 1002.0))
    (row,) = [row for row in gated(instructed, exact_legs=True).file.rows if row.leg is Leg.ALLOC_BLOCKS]
    assert (row.state, row.evidence) == (State.VOID, ["There is no memray."])


@pytest.mark.parametrize("asked", [False, True])
def test_of_a_slower_point_the_legs_that_cannot_be_counted_are_told_where_they_were_asked_for(
    asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = Comparison(State.VOID, evidence=("There is no counter.",))
    monkeypatch.setattr(localise, "_instructions", lambda *_words: (none, {}))
    monkeypatch.setattr(
        localise, "_allocations", lambda _ground, each, _limit: [row_of(each, none, leg=Leg.ALLOC_BLOCKS)]
    )
    monkeypatch.setattr(localise, "_functions", lambda *_words: ("slow",))
    timed = TimedPoint(point("tool_call_p50_ns"), PointJudge(Direction.LOWER))
    options = GateOptions(against="HEAD", exact_legs=asked)
    functions, rows = localise.legs_of_suspects(cast("Ground", None), timed, Comparison(State.REGRESSED), options)
    assert functions == ("slow",)
    assert [row.leg for row in rows] == ([Leg.INSTRUCTIONS, Leg.ALLOC_BLOCKS] if asked else [])


def test_without_a_counter_nothing_is_excluded(instructed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        localise, "_counter", lambda _around: Unavailable("There is no counter: apt-get install valgrind")
    )
    file = gated(instructed).file
    (row,) = [row for row in file.rows if row.kpi == "work_ns"]
    assert row.state is State.INCONCLUSIVE
    assert row.evidence == ["it gates by instructions: There is no counter: apt-get install valgrind"]
    assert file.verdict.by == ("work_ns",)


def test_a_budget_that_is_over_leaves_instructions_uncounted(instructed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([False, False])
    monkeypatch.setattr(Deadline, "over", lambda _deadline: next(left, True))
    monkeypatch.setattr(localise.instructions, "count", lambda *_words, **_more: pytest.fail("it was counted"))
    ends = {row.kpi: row for row in gated(instructed, budget_s=3600.0).file.rows}
    assert ends["work_ns"].evidence == ["the budget ended before its instructions were counted"]
    assert [notice.code.value for notice in ends["work_ns"].warnings] == ["budget"]


def test_nothing_is_injected_into_what_is_not_timed(loopladder: Command, instructed: Path) -> None:
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_ns", "--inject", "work_ns=1.5", cwd=instructed)
    assert done.returncode == 2
    assert "no timed point of this gate has that name" in done.stderr


@pytest.mark.slow
def test_a_counter_that_is_there_counts(loopladder: Command, instructed: Path) -> None:
    (instructed / "mine.py").write_text(SOURCE.replace("range(2000)", "range(2100)"))
    words = ("gate", "--against", "HEAD", "--kpi", "work_ns", "work_count", "--json", "found.json")
    done = loopladder(*words, cwd=instructed)
    if "no hardware counter" in done.stdout:
        pytest.skip("no counter of instructions here")
    file = json.loads((instructed / "found.json").read_bytes())
    assert done.returncode == 1, done.stdout
    assert states(file)["work_ns"] == "regressed"
