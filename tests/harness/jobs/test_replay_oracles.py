"""An evaluator's verdicts: which run each line means, what several come to, and lines that say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.formats.limits import FormatError
from harness.jobs.replay import Asked, replay
from harness.jobs.replay_oracles import Judged, read_oracles
from harness.record.replay import Replayed
from kpis.formulas.recorded.evaluate import metrics
from kpis.prices import shipped_prices
from tests.harness.jobs.session_files import busy, lines, put, verdicts


def checks(folder: Path, *told: dict[str, Any]) -> dict[Any, Judged]:
    return read_oracles(put(folder / "checks.jsonl", lines(*told)))


def judge(folder: Path, *told: dict[str, Any]) -> Replayed:
    return replay([str(folder / "runs")], Asked(shipped_prices(), oracles=checks(folder, *told)), processes=1)


def test_a_run_succeeds_if_every_check_that_applies_passes(tmp_path: Path) -> None:
    found = checks(
        tmp_path,
        {"run": "a", "oracle": "tests", "passed": True},
        {"run": "a", "oracle": "lint", "passed": None, "score": 0.5},
        {"run": "b", "passed": True}, {"run": "b", "passed": False, "score": 0.2}, {"run": "b", "passed": True},
        {"run": "c", "passed": None},
        {"case": "d", "replicate": 1, "passed": True},
    )  # fmt: skip
    assert found == {
        ("run", "a", None): Judged(success=True, score=0.5),
        ("run", "b", None): Judged(success=False, score=0.2),
        ("run", "c", None): Judged(success=None, score=None),
        ("case", "d", 1): Judged(success=True, score=None),
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


def test_a_replicate_of_its_own_goes_before_its_case(tmp_path: Path) -> None:
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
        ('{"run": "a", "case": "b", "passed": true}', "names both a run and a case."),
        ('{"passed": true}', "names neither a run nor a case."),
        ("{}", "names neither a run nor a case."),
        ("garbage", 'is no check (JSON is malformed: invalid character (byte 0)): write {"run": ID, "passed": true}.'),
        ('{"run": "a", "passed": "yes"}', "is no check (Expected `bool | null`, got `str` - at `$.passed`)"),
        ('{"run": "a", "passes": true}', "is no check (Object contains unknown field `passes`)"),
        ('{"run": 7}', "is no check (Expected `str | null`, got `int` - at `$.run`)"),
        ("[" * 100_000, "nests deeper than 64 levels"),
        ('{"case": "a", "replicate": 1e999}', "is no check ("),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: str, said: str, tmp_path: Path) -> None:
    path = put(tmp_path / "checks.jsonl", json.dumps({"run": "a", "passed": True}) + "\n\n" + line)
    with pytest.raises(FormatError) as caught:
        read_oracles(path)
    assert str(caught.value).startswith(f"{path}, line 3 ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


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
    assert read_oracles(path) == {("run", "a", None): Judged(success=True, score=None)}
