"""What a gate leaves behind: what was injected, what is stored before what, what a plan does, where a budget ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.gating import timed as timing
from harness.gating.deadline import Deadline
from harness.gating.foresight import untimed
from harness.gating.options import GateOptions
from harness.gating.points import gate_points, require_timed
from harness.gating.rows import unmeasured
from harness.gating.timed import TimedPoint, time_points
from harness.jobs import gate as job
from harness.jobs.gate import Gated, gate
from harness.jobs.plan import PlannedPoint
from harness.jobs.rows import project_catalog
from harness.judge.sequence import PointJudge
from harness.measure.pairs import Pair, Unmeasured
from harness.project import load_project
from harness.record.gate_samples import samples_path
from harness.record.journal import Journal
from harness.record.store import StoreError
from kpis.errors import SelectionError
from kpis.registry import load
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction
from tests.harness.cli.own import Command
from tests.harness.gating.test_gate_command import SOURCE
from tests.harness.gating.test_gate_command import repository as repository

Kept = dict[str, dict[str, Any]]


def gated(root: Path, **more: object) -> Gated:
    project = load_project(root)
    options = GateOptions(**{"against": "HEAD", "kpis": ("work_ns", "work_count"), **more})  # type: ignore[arg-type]
    return gate(project, project_catalog(project), options, argv=("gate",))


@pytest.fixture
def edited(repository: Path) -> Path:
    """A repository whose head touches what it times."""
    (repository / "mine.py").write_text(f"# another head\n{SOURCE}")
    return repository


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs that take no time: the head as fast as the base, times the injection."""

    def pair(_specs: object, _plan: object, *, load: timing.Load, **_more: object) -> Pair:
        head = 100.0 * load.truth
        return Pair({"base": [100.0] * 6, "head": [head] * 6}, {"base": [100.0] * 6, "head": [head] * 6})

    monkeypatch.setattr(timing, "run_pair", pair)
    monkeypatch.setattr(timing, "calibrate", lambda *_words, **_more: (100, 1e7))


# What is injected


@pytest.mark.parametrize("name", ["work_nss", "work_count", "work_ns[n=1]"])
def test_an_injection_that_meets_no_timed_point_is_refused(name: str, loopladder: Command, repository: Path) -> None:
    words = ("gate", "--against", "HEAD", "--kpi", "work_ns", "work_count", "--inject", f"{name}=1.5")
    done = loopladder(*words, cwd=repository)
    assert done.returncode == 2, done.stdout
    said = " ".join(done.stderr.split())
    assert f"--inject {name}: no timed point of this gate has that name (did you mean work_ns?)" in said
    assert not (repository / ".harness").exists(), "before anything is begun"


def test_points_and_kpis_can_be_named() -> None:
    options = GateOptions(against="HEAD", kpis=("planner_optimize_ns",))
    points = gate_points(load(), [("reference", "seams.runtimes.reference:make")], options)
    names = ["planner_optimize_ns", "planner_optimize_ns[objective=greedy,n=1000]"]
    require_timed(names, points, "HEAD")
    with pytest.raises(SelectionError, match=r"did you mean planner_optimize_ns\[objective=greedy,n=1000\]\?"):
        require_timed(["planner_optimize_ns[objective=greedy,n=100]"], points, "HEAD")


def test_only_what_was_injected_is_said_to_be(edited: Path, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = gated(edited, inject={"work_ns": 1.5}).file
    assert found.injected == {"work_ns": 1.5}
    assert found.verdict.by == ("work_ns",)
    monkeypatch.setattr("harness.gating.work.time_points", lambda *_words, **_more: None)
    assert gated(edited, inject={"work_ns": 1.5}).file.injected == {}


def test_a_self_test_of_what_nobody_offers_is_no_pass(repository: Path) -> None:
    probes = (repository / "bench" / "probes.py").read_text()
    left = 'return Undefined("not-offered", "There is no work.")'
    probes = probes.replace("return mine.work", left).replace("import Tally", "import Tally, Undefined")
    (repository / "bench" / "probes.py").write_text(probes)
    assert gated(repository, kpis=(), layers=("turn",)).file.verdict.passed
    file = gated(repository, kpis=(), layers=("turn",), inject={"work_ns": 1.5}).file
    assert file.injected == {}
    assert file.verdict.by == ("work_ns",)


# What is stored, and what is resumed


def test_the_gate_file_is_on_disk_before_the_journal_goes(edited: Path, quick: None) -> None:
    files: list[Path] = []
    with pytest.MonkeyPatch.context() as patch:
        finish = Journal.finish

        def late(journal: Journal) -> None:
            files.extend(edited.glob(".harness/gates/*.json"))
            finish(journal)

        patch.setattr(Journal, "finish", late)
        found = gated(edited)
    assert found.path is not None
    assert sorted(files) == sorted([found.path, samples_path(found.path)])
    assert not list(edited.glob(".harness/runs/*.journal"))


def test_a_file_that_cannot_be_written_costs_no_pair(
    edited: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def full(*_words: object, **_more: object) -> None:
            raise StoreError("The disk is full.")

        patch.setattr(job, "write_atomic", full)
        found = gated(edited)
    assert (str(found.trouble), found.path) == ("The disk is full.", None)
    assert found.file.verdict.passed, "what was judged is not lost"
    assert "--resume" in found.notes[-1]
    (journal,) = edited.glob(".harness/runs/*.journal")
    assert journal.read_text().count('"pair ') == 16
    monkeypatch.setattr(timing, "run_pair", lambda *_words, **_more: pytest.fail("a pair was run again"))
    assert gated(edited, resume=True, strict=True).file.verdict.passed, "strictness is no part of the question"
    assert not journal.exists()


@pytest.mark.parametrize("more", [(), ("--json", "mine.py/gate.json")])
def test_a_verdict_is_printed_though_its_file_cannot_be_written(
    more: tuple[str, ...], loopladder: Command, repository: Path
) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("return 3", "return 4"))
    if not more:
        (repository / ".harness").mkdir()
        (repository / ".harness" / "gates").write_text("in the way\n")
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", *more, cwd=repository)
    assert done.returncode == 70
    assert "regressed: work_count: " in done.stdout
    assert "fail: policy_gate" in done.stdout
    assert ("mine.py" if more else ".harness/gates") in done.stderr.splitlines()[-1]
    assert len(list(repository.glob(".harness/runs/*.journal"))) == (0 if more else 1)


def test_a_resume_without_an_interrupted_gate_is_refused_as_that_of_a_run(loopladder: Command, edited: Path) -> None:
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--resume", cwd=edited)
    assert done.returncode == 2, done.stdout
    said = " ".join(done.stderr.split())
    assert "no interrupted gate of these trees and points to resume; give the same command without --resume." in said


# What a plan does


def test_a_plan_times_and_judges_nothing(edited: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("time_points", "legs_of_suspects", "compare_growth", "judged_by_instructions"):
        monkeypatch.setattr(f"harness.gating.work.{name}", lambda *_words, **_more: pytest.fail("it was gated"))
    found = gated(edited, plan=True, exact_legs=True, budget_s=3600.0)
    assert [said.partition(":")[0] for said in found.foresight][:1] == ["work_ns"]
    assert not found.file.verdict.passed
    assert found.path is None
    assert not (edited / ".harness" / "gates").exists()


def test_a_plan_lists_what_cannot_be_timed(repository: Path) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("def work", "def worked"))
    found = gated(repository, plan=True)
    cannot, nothing = found.foresight
    assert cannot.startswith("work_ns: cannot be timed: on the head: ")
    assert nothing.startswith("Nothing is to be timed")


def test_what_need_not_be_timed_is_not_among_it() -> None:
    left = unmeasured(("not-offered", "None."), ("not-offered", "None."))
    assert left is not None
    void = Comparison(State.VOID, evidence=("on both sides: It broke.",))
    ends = {"a": Comparison(State.UNCHANGED), "b": left, "c": void, "d": void}
    assert untimed(ends) == ["c, d: cannot be timed: on both sides: It broke."]


def test_a_plan_counts_what_trying_has_taken(edited: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deadline, "spent", lambda _deadline: 3599.0)
    found = gated(edited, plan=True, budget_s=3600.0)
    assert "is not enough for one of them" in found.foresight[-1]


# Where a budget ends


class Place:
    """A ground without trees."""

    scratch = Path()

    def side_job(self, *_words: object) -> None:
        """No job."""


def begun() -> TimedPoint:
    point = PlannedPoint(load().get("tool_call_p50_ns"), {}, ("reference", "x:y"), None, "p:P")
    return TimedPoint(point, PointJudge(Direction.LOWER))


def run(point: TimedPoint, kept: Kept, deadline: Deadline) -> None:
    def keep(name: str, measure: Any) -> dict[str, Any]:
        if name not in kept:
            kept[name] = measure()
        return kept[name]

    place: Any = Place()
    time_points([point], place, seed=1, limit=60.0, deadline=deadline, keep=keep)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("calibrate", "the budget ended while this point was begun"),
        ("run_pair", "the budget ended while this point was timed"),
    ],
)
def test_what_the_budget_cuts_off_is_inconclusive_and_not_kept(
    what: str, said: str, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept, a resumed gate would take the end of a budget for a side that hangs."""
    given: list[float] = []
    over = iter([False] * (1 if what == "calibrate" else 2))

    def hang(*_words: object, limit: float, **_more: object) -> None:
        given.append(limit)
        raise Unmeasured("head", "timeout", "It did not answer.")

    monkeypatch.setattr(timing, what, hang)
    monkeypatch.setattr(Deadline, "over", lambda _deadline: next(over, True))
    monkeypatch.setattr(Deadline, "left", lambda _deadline, limit: min(limit, 7.0))
    point, kept = begun(), Kept()
    run(point, kept, Deadline(0.0, 1.0))
    assert given == [7.0], "no longer than what is left"
    assert point.void is None
    assert point.judge.comparison is not None
    assert point.judge.comparison.evidence == (said,)
    assert not any(what.removeprefix("run_") in name for name in kept)


def test_a_side_that_hangs_without_a_budget_is_void(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_words: object, **_more: object) -> None:
        raise Unmeasured("head", "timeout", "It did not answer.")

    monkeypatch.setattr(timing, "calibrate", hang)
    point, kept = begun(), Kept()
    run(point, kept, Deadline())
    assert point.void is not None
    assert list(kept.values()) == [{"void": ["head", "timeout", "It did not answer."]}]
