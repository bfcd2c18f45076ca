"""The probe of the loop: its numbers, and the loops whose word it does not take."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.rsi._plan import K, expected, planned
from harness.probes.rsi._scratch import CAPACITY, value_of
from harness.probes.rsi.loop import Probe
from kpis.registry import load
from seams.rsi.loop import ReferenceLoop
from seams.runtimes.reference import make
from tests.harness.probes.rsi.runtimes import Asynchronous, Cheating, opened

RATES = {
    "keep_rate": (3, 9, {"KEEP": 3, "REVERT": 5, "ESCALATE": 1}),
    "suite_green_rate": (7, 9, {"suite_green": 7, "red": 1, "unmeasured": 1}),
    "truth_clean_rate": (6, 9, {"truth_clean": 6, "dirty": 2, "unmeasured": 1}),
}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == [], "something was left behind"


@pytest.mark.parametrize("kpi", RATES)
def test_a_rate_and_its_histogram(kpi: str) -> None:
    tally = opened(Probe(), kpi, make())
    assert (tally.numerator, tally.denominator, dict(tally.reasons)) == RATES[kpi]
    assert set(tally.reasons) == set(load().get(kpi).reasons)
    assert sum(tally.reasons.values()) == tally.denominator
    assert tally.source == "synthetic"
    assert any("8 measured" in said for said in tally.evidence)


def test_a_rate_repeats_to_the_last_word() -> None:
    assert opened(Probe(), "keep_rate", make()) == opened(Probe(), "keep_rate", make())


class Counted:
    """The reference runtime, whose loop notes how often it was run."""

    name, version = "counted", "1"

    def __init__(self) -> None:
        self.runs = 0

    def offer(self, seam: str, engine: Any) -> Any:
        outer = self

        class Loop(ReferenceLoop):
            def run(self, *words: Any, **more: Any) -> Any:
                outer.runs += 1
                return super().run(*words, **more)

        return Loop() if seam == "rsi/loop" else None


def test_one_run_of_the_loop_gives_every_rate_as_each_is_alone() -> None:
    runtime = Counted()
    found = Probe().open_all("keep_rate", runtime, None, {})
    assert runtime.runs == 1
    assert found == {kpi: opened(Probe(), kpi, make()) for kpi in RATES}
    assert set(Probe().open_all("vs_main_freshness", make(), None, {})) == {"vs_main_freshness"}


def test_an_asynchronous_loop_is_awaited() -> None:
    tally = opened(Probe(), "keep_rate", Asynchronous())
    assert (tally.numerator, tally.denominator) == (3, 9)
    assert opened(Probe(), "vs_main_freshness", Asynchronous()).numerator == 1


def test_freshness_is_asked_again() -> None:
    tally = opened(Probe(), "vs_main_freshness", make())
    assert (tally.numerator, tally.denominator) == (1, None)
    assert "not fresh, 1, 2, 1 behind" in tally.evidence[1]


def test_a_runtime_without_a_loop_is_undefined() -> None:
    for kpi in Probe.kpis:
        found = opened(Probe(), kpi, Cheating(loop=None))
        assert isinstance(found, Undefined)
        assert found.reason == "not-offered"


def test_the_plan_holds_every_decision_and_no_rate_is_one_by_choice() -> None:
    wanted = expected(planned(), K)
    assert {each.decision for each in wanted} == {"KEEP", "REVERT", "ESCALATE"}
    assert len(wanted) == len(planned())
    assert 0 < sum(each.suite_green for each in wanted) < len(wanted)
    assert 0 < sum(each.truth_clean for each in wanted) < len(wanted)


def test_what_is_largest_is_proposed_last_and_in_vain() -> None:
    wanted = expected(planned(), K)
    assert planned()[-1].capacity == max(step.capacity or 0 for step in planned())
    assert not wanted[-1].kept
    kept = [each.metric for each in wanted if each.kept]
    assert kept == sorted(kept, key=float)
    assert value_of(CAPACITY) < min(float(each or 0) for each in kept)


class Bent:
    """The reference loop, whose result or repository is bent afterwards."""

    def __init__(self, bend) -> None:
        self._bend = bend

    def run(self, charge, candidates, observer=None):
        return self._bend(charge, ReferenceLoop().run(charge, candidates, observer))

    def freshness(self, repository, baseline_ref, ref_name):
        return ReferenceLoop().freshness(repository, baseline_ref, ref_name)


def with_row(number: int, **more):
    def bend(charge, result):
        rows = list(result.rows)
        rows[number] = replace(rows[number], **more)
        return result._replace(rows=tuple(rows))

    return bend


def in_repository(*words: str):
    def bend(charge, result):
        subprocess.run(["git", *words], cwd=charge.repository, check=True, capture_output=True)
        return result

    return bend


def journal_lies(charge, result):
    lines = charge.journal.read_text().splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "decision": "REVERT"})
    charge.journal.write_text("".join(f"{line}\n" for line in lines))
    return result


def edits_the_tree(charge, result):
    (charge.repository / "README.md").write_text("x")
    return result


def leaves_a_tree(charge, result):
    command = ["git", "worktree", "add", "-q", "--detach", str(charge.journal.parent / "t")]
    subprocess.run(command, cwd=charge.repository, check=True)
    return result


@pytest.mark.parametrize(
    ("bend", "why"),
    [
        (with_row(1, decision="KEEP", kept=True), "row 2 says"),
        (with_row(1, suite_green=True), "row 2 says"),
        (with_row(2, truth_clean=True), "row 3 says"),
        (with_row(4, measured=True), "row 5 says"),
        (with_row(5, candidate_metric=0.5), "row 6 says"),
        (with_row(7, breaker_nonkeeps=1), "row 8 says"),
        (with_row(0, commit="0" * 40), "the journal says something else"),
        (lambda charge, result: result._replace(rows=result.rows[:-1]), "8 rows of 9"),
        (lambda charge, result: result._replace(kept=9), "says that it kept 9"),
        (lambda charge, result: result._replace(final=1.0), "ended at 1.0"),
        (lambda charge, result: result._replace(escalated=False), "handed over"),
        (lambda charge, result: result._replace(tip="0" * 40), "does not hold the commits"),
        (journal_lies, "the journal says something else of cycle 1"),
        (lambda charge, result: (charge.journal.write_text(""), result)[1], "holds 0 lines"),
        (in_repository("update-ref", "refs/heads/rsi", "rsi~1"), "does not hold the commits"),
        (in_repository("branch", "more"), "made refs/heads/more"),
        (in_repository("checkout", "-q", "--detach"), "symbolic-ref failed"),
        (edits_the_tree, "changed the working tree"),
        (leaves_a_tree, "left a worktree"),
    ],
)
def test_a_loop_that_says_or_does_something_else_is_found_out(bend, why: str) -> None:
    with pytest.raises(WorkNotDoneError, match=why):
        opened(Probe(), "keep_rate", Cheating(loop=Bent(bend)))


@pytest.mark.parametrize(
    "answer",
    [
        lambda found: found._replace(fresh=True),
        lambda found: found._replace(behind=0),
        lambda found: found._replace(ahead=0, behind=0),
        lambda found: found._replace(now="0" * 40),
    ],
)
def test_a_loop_that_does_not_look_at_the_reference_is_found_out(answer) -> None:
    class Stale(Bent):
        def freshness(self, repository, baseline_ref, ref_name):
            return answer(super().freshness(repository, baseline_ref, ref_name))

    with pytest.raises(WorkNotDoneError, match="how far main has moved"):
        opened(Probe(), "vs_main_freshness", Cheating(loop=Stale(lambda charge, result: result)))


@pytest.mark.parametrize("kpi", [*RATES, "vs_main_freshness"])
def test_without_git_it_is_not_installed(kpi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = opened(Probe(), kpi, make())
    assert isinstance(found, Undefined)
    assert found.reason == "not-installed"
