"""``calibrate`` over a measurer that the test makes: what is added, what is kept, what is refused, what is computed."""

from __future__ import annotations

import json
import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from ci.gatebench import score
from harness.jobs.calibrate import Calibrated, calibrate
from harness.jobs.calibrate_ground import Tried, Whom
from harness.jobs.calibrate_recorder import Batch
from harness.jobs.calibrate_summary import AS_IT_WAS, calibration_of, counted, state_of
from harness.jobs.calibrate_trial import INTERRUPTED, PLANNED
from harness.judge.power import chain_power, smallest_visible, spread_of
from harness.measure import machine
from harness.project import load_project
from harness.record.edit_floors import of_machine, ratios
from harness.record.floors import calibration_path, facts_of, floors
from harness.record.lock import Busy, RunLock
from harness.record.streams import read_machine, streams_path
from harness.record.trials import Kind, LoadState, Trial, TrialError, brief
from harness.report.calibrate_page import page, thin
from harness.subject import SubjectError
from harness.subject.edits import EDITS
from kpis.registry import load
from tests.harness.gating.test_gate_command import git

FINGERPRINT = machine.fingerprint()
SLUG = machine.slug(FINGERPRINT)
FACTS = facts_of(FINGERPRINT)


@dataclass
class Fake:
    """A measurer of two points. ``after`` ends the budget, and ``stops`` presses Ctrl-C, after so many trials."""

    clock: list[float]
    after: int
    stops: int | None = None
    points: tuple[str, ...] = ("a", "b")
    made: int = 0
    open: int = 0

    def whom(self) -> Whom:
        takes = {edit: frozenset(f"{name}.py" for name in self.points) for edit in EDITS}
        return Whom(
            {name: Tried(cast("Any", name), (f"{name}.py",)) for name in self.points}, ("c: it is gone",), takes
        )

    def trials(self, batch: Batch, seed: int) -> Generator[Trial, None, None]:
        self.open += 1
        try:
            for asked in batch.asked:
                self.made += 1
                yield self.trial(batch, seed, cast("str", asked.point), asked)
                self.clock[0] = 0.0 if self.made < self.after else 1000.0
        finally:
            self.open -= 1

    def trial(self, batch: Batch, seed: int, name: str, asked: Any) -> Trial:
        rng = Random(f"{seed} {name}")
        times = [(5e6, 5e6 * asked.factor * math.exp(rng.gauss(0, 0.01))) for _ in range(112)]
        pairs = tuple((brief(base), brief(head)) for base, head in times)
        void = INTERRUPTED if self.made == self.stops else None
        if self.made >= self.after:
            self.clock[0] = 1000.0
        return Trial(
            name, batch.kind, asked.factor, seed, SLUG, "0.1 to 0.2 on 2 cores", pairs, asked=asked.factor,
            edit=asked.said, void=void, planned=PLANNED[batch.kind], fingerprint=FACTS, state=batch.state,
            suite=asked.suite,
        )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.py").write_text("X = 1\n")
    (folder / "pyproject.toml").write_text('[tool.harness]\nunder_test = ["mine"]\n')
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "one")
    return folder


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("harness.gating.deadline.time.monotonic", lambda: now[0])
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    return now


def call(root: Path, clock: list[float], after: int, **more: Any) -> tuple[Calibrated, Fake]:
    clock[0] = 0.0
    fake = Fake(clock, after, **more)
    return calibrate(load_project(root), load(), budget_s=100.0, recording=fake), fake


def total(counts: dict[str, dict[str, int]]) -> int:
    return sum(number for row in counts.values() for number in row.values())


def test_a_second_call_adds_to_the_first(root: Path, clock: list[float]) -> None:
    first, fake = call(root, clock, 18)
    assert (first.made, total(first.before), total(first.after), fake.open) == (18, 0, 18, 0)
    lines = {file.name: file.read_bytes() for file in streams_path(root, SLUG).iterdir()}
    second, _ = call(root, clock, 7)
    assert (second.before, second.made, total(second.after)) == (first.after, 7, 25)
    assert second.notes == []
    for name, blob in lines.items():
        assert (streams_path(root, SLUG) / name).read_bytes().startswith(blob), "nothing that was recorded is rewritten"
    assert second.document["suites"]["of"] > first.document["suites"]["of"] > 0
    assert {trial.state for trial in read_machine(root, SLUG)} == set(LoadState)


def test_three_calls_record_what_one_would(root: Path, clock: list[float], tmp_path: Path) -> None:
    def told(folder: Path) -> list[tuple[object, ...]]:
        return sorted(
            (trial.kpi, trial.kind.value, trial.state and trial.state.value, trial.asked, trial.edit)
            for trial in read_machine(folder, SLUG)
        )

    for after in (6, 4, 8):
        call(root, clock, after)
    other = tmp_path / "other"
    git(root, "clone", "--quiet", str(root), str(other))
    call(other, clock, 18)
    assert told(root) == told(other)


def test_ctrl_c_keeps_what_was_measured(root: Path, clock: list[float]) -> None:
    found, fake = call(root, clock, 100, stops=6)
    assert (found.interrupted, found.made, fake.open) == (True, 6, 0)
    kept = read_machine(root, SLUG)
    assert (len(kept), sum(trial.void == INTERRUPTED for trial in kept)) == (6, 1)
    assert found.document["trials"]["broke off"] == 1
    assert json.loads(calibration_path(root, SLUG).read_bytes()) == found.document


def test_ctrl_c_before_the_first_trial_leaves_no_file(
    root: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: Fake) -> Whom:
        raise KeyboardInterrupt

    monkeypatch.setattr(Fake, "whom", stop)
    found, _ = call(root, clock, 5)
    assert (found.interrupted, found.made, found.path) == (True, 0, None)
    assert not (root / "baselines").exists()


def test_a_budget_too_short_for_one_trial_says_so(root: Path, clock: list[float]) -> None:
    clock[0] = 0.0
    fake = Fake(clock, 1)
    found = calibrate(load_project(root), load(), budget_s=-1.0, recording=fake)
    assert (found.made, fake.made, found.path) == (0, 0, None)


def test_no_trial_begins_that_would_not_end_in_time(root: Path, clock: list[float]) -> None:
    """Twenty pairs take 60 s: after three trials, 20 s of 200 are left for the next."""

    class Slow(Fake):
        def trials(self, batch: Batch, seed: int) -> Generator[Trial, None, None]:
            for asked in batch.asked:
                clock[0] += 60.0
                made = self.trial(batch, seed, cast("str", asked.point), asked)
                yield replace(made, pairs=made.pairs[:20])

    found = calibrate(load_project(root), load(), budget_s=200.0, recording=Slow(clock, 1000))
    assert found.made == 3


@pytest.mark.parametrize("change", ["mine.py", "new.py", "baselines/mine.toml"])
def test_a_tree_that_is_not_head_is_refused(change: str, root: Path, clock: list[float]) -> None:
    (root / change).parent.mkdir(exist_ok=True)
    (root / change).write_text("X = 2\n")
    with pytest.raises(SubjectError, match=f"'{change}'.*git stash --include-untracked$"):
        call(root, clock, 5)
    assert not streams_path(root, SLUG).exists()


def test_what_it_writes_itself_makes_no_tree_dirty(root: Path, clock: list[float]) -> None:
    call(root, clock, 2)
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "mine.pyc").write_bytes(b"")
    git(root, "add", "baselines")
    again, _ = call(root, clock, 2)
    assert again.made == 2


def test_somebody_else_who_measures_is_not_disturbed(root: Path, clock: list[float]) -> None:
    with RunLock(root), pytest.raises(Busy):
        call(root, clock, 2)


def test_a_hand_edited_calibration_is_written_anew_and_told(root: Path, clock: list[float]) -> None:
    first, _ = call(root, clock, 8)
    file = calibration_path(root, SLUG)
    file.write_text(file.read_text().replace('"red": 0', '"red": -1'))
    second, _ = call(root, clock, 1)
    (note,) = second.notes
    assert "was not what the recorded trials say" in note
    assert second.document["suites"]["red"] == 0
    file.write_text("<<<<<<< HEAD\n")
    third, _ = call(root, clock, 1)
    assert len(third.notes) == 1
    assert third.document["machine"] == first.slug


def test_another_machines_stream_is_refused_before_anything_is_measured(root: Path, clock: list[float]) -> None:
    call(root, clock, 2)
    file = streams_path(root, SLUG) / "null.jsonl"
    file.write_text(file.read_text().replace(SLUG, "another"))
    with pytest.raises(TrialError, match="line 1: it was recorded on 'another'"):
        call(root, clock, 2)


def test_trials_of_another_kernel_stay_and_do_not_count(root: Path, clock: list[float]) -> None:
    found, _ = call(root, clock, 36)
    done = read_machine(root, SLUG)
    for facts in ({**FACTS, "kernel": "2.6"}, None):
        older = [replace(trial, fingerprint=facts) for trial in done]
        assert calibration_of(SLUG, [*older, *done]) == calibration_of(SLUG, done)
    assert found.document["trials"] == json.loads(calibration_of(SLUG, done))["trials"]


def test_a_call_under_another_interpreter_leaves_what_the_streams_say(root: Path, clock: list[float]) -> None:
    """Its own trials are of another machine; the file follows from the streams alone, before the call and after it."""
    call(root, clock, 36)
    file = streams_path(root, SLUG) / "null.jsonl"
    file.write_text(file.read_text().replace(f'"python":"{FACTS["python"]}"', '"python":"3.1.4"'))
    calibration_path(root, SLUG).write_bytes(calibration_of(SLUG, read_machine(root, SLUG)))
    call(root, clock, 4)
    assert calibration_path(root, SLUG).read_bytes() == calibration_of(SLUG, read_machine(root, SLUG))


# What is computed


def test_floors_are_those_of_score_on_the_streams_of_this_project(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = score.committed()
    slugs = {trial.machine for trial in trials}
    assert slugs
    for slug in slugs:
        mine = read_machine(repo, slug)
        wanted, facts = of_machine([trial for trial in trials if trial.machine == slug])
        document = json.loads(calibration_of(slug, mine))
        assert {name: row["floor"] for name, row in document["floors"].items()} == {
            name: round(floor.size, 5) for name, floor in wanted.items()
        }
        assert document["fingerprint"] == facts
        assert calibration_path(repo, slug).read_bytes() == calibration_of(slug, mine)


def test_an_old_file_and_a_new_one_give_the_same_floors(root: Path, clock: list[float]) -> None:
    call(root, clock, 200)
    new = floors(root, SLUG, FINGERPRINT, "0" * 40)
    file = calibration_path(root, SLUG)
    document = json.loads(file.read_bytes())
    old = {key: document[key] for key in ("schema", "machine", "fingerprint", "floors")}
    file.write_text(json.dumps(old))
    assert new.sizes
    assert (new.notes, floors(root, SLUG, FINGERPRINT, "0" * 40).sizes) == ((), new.sizes)


def test_the_tables_are_counts_of_the_trials(root: Path, clock: list[float]) -> None:
    found, _ = call(root, clock, 200)
    done, rows = read_machine(root, SLUG), found.document["points"]
    for name in ("a", "b"):
        mine = [trial for trial in done if trial.kpi == name]
        assert rows[name]["null"]["of"] == sum(trial.kind is Kind.NULL for trial in mine)
        for factor in (1.03, 1.05, 1.10):
            row = rows[name]["injected"][f"{factor:.2f}"]
            assert row["of"] == sum(trial.asked == factor for trial in mine)
            assert row["at_least"] <= row["found"] / row["of"] <= row["at_most"]
        assert rows[name]["injected"]["1.10"]["found"] == rows[name]["injected"]["1.10"]["of"]
        for state in LoadState:
            row = rows[name]["load"][state.value]
            quiet = [
                ratio
                for trial in mine
                if trial.kind is Kind.NULL and trial.state is state
                for ratio in ratios(trial)[: trial.planned]
            ]
            spread, margin = spread_of(quiet), math.log1p(rows[name]["delta"])
            assert spread is not None
            assert (row["pairs"], row["spread"]) == (len(quiet), round(spread, 5))
            visible = smallest_visible(spread, ((48, 0.01),), margin)
            assert row["visible"]["48"] == pytest.approx(visible, abs=2e-4)
            power = chain_power(math.log(1.05) - margin, spread, ((16, 0.2), (64, 0.01)))
            assert row["power"]["1.05"] == pytest.approx(power, abs=2e-3)
            assert row["visible"]["16"] > row["visible"]["48"] > row["visible"]["112"] > rows[name]["delta"]
    suites = found.document["suites"]
    assert suites["of"] == sum(row["of"] for row in suites["load"].values()) == rows["a"]["null"]["of"]


def test_a_trial_is_judged_at_the_margin_that_it_was_recorded_at() -> None:
    """1.5 % slower and constant: beyond 1 %, within the 2 % of an unknown floor."""
    pairs = ((1e6, 1.015e6),) * 112
    null = Trial("a", Kind.NULL, 1.0, 1, SLUG, "x", pairs, planned=20, fingerprint=FACTS, suite=1)
    told = [json.loads(calibration_of(SLUG, [replace(null, delta=delta)]))["suites"]["red"] for delta in (None, 0.01)]
    assert told == [0, 1]


def test_what_is_undefined_is_null_and_not_zero() -> None:
    null = Trial("a", Kind.NULL, 1.0, 1, SLUG, "x", ((1.0, 1.0),) * 3, planned=3, fingerprint=FACTS)
    document = json.loads(calibration_of(SLUG, [null]))
    assert state_of(null) == AS_IT_WAS
    assert document["points"]["a"]["load"] == {AS_IT_WAS: {"pairs": 3, "spread": None}}
    assert document["points"]["a"]["null"]["undecided"] == 1
    assert document["floors"] == {}


# The page


def test_the_page_counts_before_and_after_and_names_what_is_thin(root: Path, clock: list[float]) -> None:
    call(root, clock, 2)
    found, _ = call(root, clock, 4)
    text = "\n".join(page(found))
    assert "4 trials added, of 2 timed gate points" in text
    assert "2 -> 2" in text
    assert "0 -> 2" in text
    assert "left out: c: it is gone" in text
    told = list(thin(found))
    assert "1 independent gates of unchanged code; how often one is red should rest on 20" in told
    assert "0 injections are on record of 1.10, and a bound takes 10, so none is given" in told
    assert any("without a floor" in sentence for sentence in told)
    assert "nothing is recorded under the load 'all cores busy'" in told
    assert max(len(line) for line in text.splitlines() if "->" in line) <= 80


def on_page(**parts: Any) -> list[str]:
    found = Calibrated(SLUG, counted([]), counted([]), points=("a", "b", "c"))
    for name, value in parts.items():
        setattr(found, name, value)
    return list(page(found))


def test_points_with_and_without_a_floor_add_up() -> None:
    floor = {"floor": 0.01, "edits": 6, "pairs": 60, "spread": 0.01, "largest": 0.01}
    lines = on_page(document={"floors": {"a": floor, "old": floor}})
    assert "  1 of the 3 timed gate points have a floor; so has old, which is none" in lines
    assert "thin: b and 1 more points are without a floor, which takes 6 different edits" in lines
    lines = on_page(document={"floors": {"old": floor, "older": floor}})
    assert "  0 of the 3 timed gate points have a floor; so have 2 more points, which are none" in lines
    assert "  0 of the 3 timed gate points have a floor" in on_page()


def test_a_floor_that_moved_is_told_from_what_to_what() -> None:
    floors = {name: {"floor": size} for name, size in (("a", 0.0125), ("b", 0.02))}
    lines = on_page(document={"floors": floors}, floors_before={"a": 0.01, "b": 0.02, "c": 0.03})
    assert [line for line in lines if "moved" in line] == [
        "  the floor of a moved: 1.000 % -> 1.250 %",
        "  the floor of c moved: 3.000 % -> none",
    ]


def test_a_call_notes_the_floors_of_before(root: Path, clock: list[float]) -> None:
    first, _ = call(root, clock, 300)
    assert first.floors_before == {}
    second, _ = call(root, clock, 4)
    assert second.floors_before == {name: row["floor"] for name, row in first.document["floors"].items()} != {}


def test_what_nobody_stated_is_said_and_a_bound_has_its_trials() -> None:
    after = counted([])
    after[AS_IT_WAS]["null"] = 3
    found = {"found": 9, "of": 10, "at_least": 0.6058, "at_most": 0.9949}
    few = {"found": 1, "of": 1, "at_least": 0.05, "at_most": 1.0}
    points = {"a": {"injected": {"1.05": found, "1.10": few}}}
    document = {"points": points, "suites": {"red": 0, "of": 40, "at_most": 0.0722}}
    lines = on_page(after=after, document=document)
    assert f"  '{AS_IT_WAS}': nobody stated the load that the machine had" in lines
    assert not any("nobody stated" in line for line in on_page())
    assert "  gates of unchanged code that were red: 0 of 40 (at most 7.3 %)" in lines
    assert "  injections of 1.05 found: 9 of 10 (at least 60.5 %), at 1 points" in lines
    assert "  injections of 1.10 found: 1 of 1, at 1 points" in lines
    assert "thin: 1 injection is on record of 1.10, and a bound takes 10, so none is given" in lines
    assert not any(line.startswith("thin:") and "1.05" in line for line in lines)


def test_nothing_is_thin_where_there_is_enough(root: Path, clock: list[float]) -> None:
    found, _ = call(root, clock, 600)
    assert list(thin(found)) == []
