"""An evaluator's verdicts: which run each line means, what several come to, and lines that say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.formats.limits import FormatError
from harness.jobs.replay import Asked, replay
from harness.jobs.replay_attempts import Attempt, Unit, attempts_of
from harness.jobs.replay_oracles import Check, Oracles, of_arm, read_oracles
from harness.record.replay import Replayed, RunResult
from kpis.formulas.recorded.efficiency import SCORE_UNIT
from kpis.formulas.recorded.evaluate import metrics
from kpis.prices import shipped_prices
from tests.harness.jobs.session_files import busy, lines, put, verdicts


def checks(folder: Path, *told: dict[str, Any]) -> Oracles:
    return read_oracles(put(folder / "checks.jsonl", lines(*told)))


def judge(folder: Path, *told: dict[str, Any]) -> Replayed:
    oracles = checks(folder, *told) if told else {}
    return replay([str(folder / "runs")], Asked(shipped_prices(), oracles=oracles), processes=1)


def judgements(result: Replayed) -> dict[str, tuple[int, int]]:
    """By run how many attempts are judged, and how many of them passed."""
    return {run.run_id: tallied(run) for run in result.runs}


def tallied(run: RunResult) -> tuple[int, int]:
    said = [attempt.success for attempt in attempts_of(run.facts) if attempt.success is not None]
    if not attempts_of(run.facts):
        return run.parts.efficiency.judged, run.parts.efficiency.succeeded
    return len(said), sum(said)


def simulations(*rewards: tuple[int, int, float], name: str = "") -> bytes:
    """A file of tau-bench: (task, trial, reward) each."""
    return json.dumps([
        {"task_id": task, "trial": trial, "reward": reward, "info": {"task": {}, "source": name, "user_cost": 0.0},
         "traj": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done"}]}
        for task, trial, reward in rewards
    ]).encode()  # fmt: skip


def test_lines_are_filed_by_what_they_name(tmp_path: Path) -> None:
    found = checks(
        tmp_path,
        {"run": "a", "oracle": "tests", "passed": True},
        {"run": "a", "oracle": "lint", "passed": None, "score": 0.5},
        {"run": "b", "case": "d", "replicate": 1, "arm": "x"},
        {"case": "d", "replicate": 1, "passed": False},
    )
    assert found == {
        ("run", "a"): [Check(1, "a", told=True, passed=True), Check(2, "a", told=True, score=0.5)],
        ("run", "b"): [Check(3, "b", "d", 1, "x")],
        ("case", "d"): [Check(4, None, "d", 1, told=True, passed=False)],
    }


def test_a_run_succeeds_if_every_check_that_applies_passes(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path / "runs" / f"{name}.jsonl", verdicts(name, passed=True))
    said = [
        {"run": "a.None.100", "passed": True}, {"run": "a.None.100", "passed": None, "score": 0.5},
        {"run": "b.None.100", "passed": True}, {"run": "b.None.100", "passed": False, "score": 0.2},
        {"run": "b.None.100", "passed": True}, {"run": "c.None.100", "passed": None},
    ]  # fmt: skip
    result = judge(tmp_path, *said)
    assert judgements(result) == {"a.None.100": (1, 1), "b.None.100": (1, 0), "c.None.100": (0, 0)}
    assert [run.parts.efficiency.score_units for run in result.runs] == [SCORE_UNIT // 2, SCORE_UNIT // 5, 0]


def test_a_check_by_case_counts_beside_one_by_run(tmp_path: Path) -> None:
    """A closer name hides no failure."""
    for name in ("k0", "k2"):
        put(tmp_path / "runs" / f"{name}.jsonl", verdicts(name, passed=True))
    said = [
        {"run": "k0.None.100", "passed": True}, {"case": "k0", "passed": False},
        {"run": "k2.None.100", "passed": None}, {"case": "k2", "passed": False},
    ]  # fmt: skip
    result = judge(tmp_path, *said)
    assert judgements(result) == {"k0.None.100": (1, 0), "k2.None.100": (1, 0)}
    assert result.issues == []


def test_a_check_on_one_simulation_says_nothing_of_the_others(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "r.json", simulations((0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1), (2, 0, 0), (2, 1, 0)))
    one = {"case": "0", "replicate": 0, "passed": True}
    assert list(judgements(judge(tmp_path, one)).values()) == [(6, 4)]
    assert list(judgements(judge(tmp_path, one, {"case": "1", "replicate": 0, "passed": False})).values()) == [(6, 3)]
    assert list(judgements(judge(tmp_path, {"case": "2", "passed": True})).values()) == [(6, 6)]
    assert list(judgements(judge(tmp_path, {"case": "0", "passed": None})).values()) == [(4, 2)]


def test_a_check_by_run_is_on_all_its_cases(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "r.json", simulations((0, 0, 1), (1, 0, 1)))
    (run,) = judge(tmp_path).runs
    (failed,) = judge(tmp_path, {"run": run.run_id, "passed": False, "score": 9}, {"case": "1", "passed": True}).runs
    assert tallied(failed) == (2, 0)
    assert [facts.score for facts in failed.facts] == [1, 1], "a score of the whole run is of none of its cases"


def test_a_score_alone_leaves_the_recordings_verdict(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a.jsonl", verdicts("c", passed=True))
    (run,) = judge(tmp_path, {"case": "c", "score": 0.5}).runs
    assert (tallied(run), run.parts.efficiency.score_units) == ((1, 1), SCORE_UNIT // 2)


def test_a_verdict_alone_leaves_the_recordings_score(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "r.json", simulations((0, 0, 1)))
    (run,) = judge(tmp_path, {"case": "0", "passed": False}).runs
    assert (tallied(run), run.parts.efficiency.score_units) == ((1, 0), SCORE_UNIT)


def test_a_name_that_is_empty_is_told(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a.jsonl", verdicts("c", passed=True))
    (issue,) = judge(tmp_path, {"case": "", "passed": True}).issues
    assert issue.message == "1 of 1 verdict matches no run: the first is on case with an empty name."


def test_a_check_by_run_says_of_which_case_it_is(tmp_path: Path) -> None:
    for name in ("s-1", "s-2"):
        busy(name).save(tmp_path / "runs")
    said = [
        {"run": "s-1", "case": "c", "replicate": 3, "passed": True}, {"run": "s-1", "case": "c", "passed": True},
        {"run": "s-2", "case": "d"}, {"case": "d", "passed": False}, {"case": "c", "replicate": 3, "passed": False},
    ]  # fmt: skip
    result = judge(tmp_path, *said)
    found = {run.run_id: attempts_of(run.facts) for run in result.runs}
    assert found == {
        "s-1": (Attempt(Unit("c", 3, None), success=False),),
        "s-2": (Attempt(Unit("d", None, None), success=False),),
    }
    assert result.issues == []


def test_a_check_by_run_may_number_a_replicate_and_not_change_a_case(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a.jsonl", verdicts("c", passed=True))
    result = judge(
        tmp_path,
        {"run": "c.None.100", "case": "c", "replicate": 2},
        {"run": "c.None.100", "case": "e", "passed": False},
    )
    assert attempts_of(result.runs[0].facts) == (Attempt(Unit("c", 2, None), success=True),)
    (issue,) = result.issues
    assert issue.message == "1 of 2 verdicts matches no run: the first is on run c.None.100, case e."


def test_arms_tell_runs_of_one_case_apart(tmp_path: Path) -> None:
    head = {"schema": "loopladder.trace/1"}
    for name in ("basic", "economy"):
        told = {"type": "facts", "case_id": "c", "arm": name, "success": True}
        request = {"type": "request", "tokens": {"fresh_in": 1, "out_total": 1}}
        put(tmp_path / "runs" / f"{name}.jsonl", lines({**head, "run_id": name}, request, told))
    result = judge(tmp_path, {"case": "c", "arm": "economy", "passed": False})
    assert judgements(result) == {"basic": (1, 1), "economy": (1, 0)}


def test_what_concerns_one_arm_of_a_comparison(tmp_path: Path) -> None:
    told = checks(tmp_path, *({"case": "c", "arm": arm, "score": 1} for arm in "abx"), {"run": "r", "score": 1})
    assert of_arm(told, "b", ["a", "b"]) == {
        ("case", "c"): [Check(2, None, "c", score=1), Check(3, None, "c", None, "x", score=1)],
        ("run", "r"): [Check(4, "r", score=1)],
    }


def test_a_verdict_takes_the_place_of_the_recordings_own_word(tmp_path: Path) -> None:
    for case in ("c1", "c2", "c3"):
        put(tmp_path / "runs" / f"{case}.jsonl", verdicts(case, passed=True, replicate=0))
    busy("s-1").save(tmp_path / "runs")
    told = [
        {"case": "c1", "passed": False},
        {"case": "c2", "replicate": 0, "passed": True, "score": 1},
        {"run": "s-1", "passed": True},
    ]
    result = judge(tmp_path, *told)
    facts = {run.run_id: run.parts.efficiency for run in result.runs}
    judged = {name: (parts.judged, parts.succeeded) for name, parts in facts.items()}
    assert judged == {"c1.0.100": (1, 0), "c2.0.100": (1, 1), "c3.0.100": (1, 1), "s-1": (1, 1)}
    assert metrics(result.parts)["recorded_requests"].value == 12 + 3


def test_a_check_on_a_case_is_on_all_its_replicates(tmp_path: Path) -> None:
    for at in (0, 1):
        put(tmp_path / "runs" / f"{at}.jsonl", verdicts("c", passed=True, replicate=at))
    result = judge(tmp_path, {"case": "c", "passed": True}, {"case": "c", "replicate": 1, "passed": False})
    assert sorted(run.parts.efficiency.succeeded for run in result.runs) == [0, 1]


def test_a_case_that_no_check_applies_to_is_not_judged(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a.jsonl", verdicts("c", passed=True))
    (run,) = judge(tmp_path, {"case": "c", "passed": None}).runs
    assert run.parts.efficiency.judged == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"run": "a", "replicate": 1}', "names a replicate of no case: add its case, or correct it, then run `python"),
        ('{"passed": true}', 'names neither a run nor a case: write {"run": ID, "passed": true}.'),
        ("{}", "names neither a run nor a case: "),
        ("garbage", 'is no check (JSON is malformed: invalid character (byte 0)): write {"run": ID, "passed": true}.'),
        ('{"run": "a", "passed": "yes"}', "is no check (Expected `bool | null`, got `str` - at `$.passed`)"),
        ('{"run": "a", "passes": true}', "is no check (Object contains unknown field `passes`)"),
        ('{"run": 7}', "is no check (Expected `str | null`, got `int` - at `$.run`)"),
        ("[" * 100_000, "nests deeper than 64 levels"),
        ('{"case": "a", "replicate": 1e999}', "is no check ("),
        ('{"case": "a"}', "says neither passed nor score, and not of which case a run is: write "),
        ('{"run": "a", "oracle": "tests", "score": null}', "says neither passed nor score"),
        ('{"run": "a", "passed": false, "passed": true}', "has passed twice, and nobody can say which is meant"),
        ('{"run": "a", "passed": true, "pa\\u0073sed": true}', "has passed twice"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: str, said: str, tmp_path: Path) -> None:
    path = put(tmp_path / "checks.jsonl", json.dumps({"run": "a", "passed": True}) + "\n\n" + line)
    with pytest.raises(FormatError) as caught:
        read_oracles(path)
    assert str(caught.value).startswith(f"{path}, line 3 ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", ["", "\n \n", "\ufeff"])
def test_a_file_without_a_check_is_refused(body: str, tmp_path: Path) -> None:
    path = put(tmp_path / "checks.jsonl", body.encode())
    with pytest.raises(FormatError, match="has no check: write one a line"):
        read_oracles(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"cannot be read \(No such file or directory\): name a file that can"):
        read_oracles(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="no regular file"):
        read_oracles(tmp_path)


@pytest.mark.parametrize("score", [1e308, -1e13])
def test_a_score_beyond_any_real_one_is_refused(tmp_path: Path, score: float) -> None:
    with pytest.raises(FormatError, match=r"checks\.jsonl, line 2 has a score beyond 1,000,000,000,000: correct it"):
        checks(tmp_path, {"run": "a", "score": 1e12}, {"run": "b", "score": score})


def test_a_mark_of_the_byte_order_is_no_part_of_a_verdict(tmp_path: Path) -> None:
    path = put(tmp_path / "checks.jsonl", b"\xef\xbb\xbf" + lines({"run": "a", "passed": True}))
    assert read_oracles(path) == {("run", "a"): [Check(1, "a", told=True, passed=True)]}
