"""The engine in reference mode against the external cases, and the runner against altered ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.formats.evaluation_case import read_case
from harness.formats.limits import FormatError
from harness.jobs.evaluate import evaluate
from harness.jobs.evaluate_config import Deployment, reference
from harness.record.evaluation_write import response
from kpis.rules.criticality import CriticalityError
from tests.conformance.evaluation import differs, main, run

Files = tuple[Path, Path]


@pytest.fixture
def files(cases: Path) -> Files:
    return cases / "evaluation" / "cases.jsonl", cases / "evaluation" / "expected.jsonl"


def rows(files: Files) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    cases, expected = (path.read_text(encoding="utf-8").splitlines() for path in files)
    return [(json.loads(case), json.loads(answer)) for case, answer in zip(cases, expected, strict=True)]


def test_all_hundred_are_equal_and_the_patterns_agree(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path) for path in files]) == 0
    equal, agreement, last = capsys.readouterr().out.splitlines()
    assert (equal, last) == ("equal: 100 passed, 0 failed", "100 passed, 0 failed")
    words = agreement.split()
    assert words[:2] == ["pattern", "agreement:"]
    assert int(words[2]) >= 0.95 * int(words[4])


def test_as_a_command(files: Files, repo: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.evaluation", *map(str, files)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "100 passed, 0 failed")


def _named(response: dict[str, Any], rule: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in response["rule_results"] if row["ruleName"] == rule)
    return found


@pytest.mark.parametrize(
    ("name", "alter"),
    [
        ("c001-block_multi", lambda made: made.update(score=0.766)),
        ("c001-block_multi", lambda made: made.pop("critical_failures")),
        ("c001-block_multi", lambda made: made["verdict"].update(basis="detector_veto")),
        ("c001-block_multi", lambda made: made["coverage"]["questions"].pop()),
        ("c001-block_multi", lambda made: made["coverage"]["inputs"].update(cost=True)),
        ("c001-block_multi", lambda made: made["rule_results"].pop()),
        ("c018-cost_1.33", lambda made: _named(made, "cost_under_threshold")["evidence"][0].update(threshold=0.2)),
        ("c018-cost_1.33", lambda made: _named(made, "cost_under_threshold")["evidence"][0].pop("thresholdSource")),
        ("c018-cost_1.33", lambda made: _named(made, "cost_under_threshold").update(role="gate")),
        ("c020-loop8", lambda made: _named(made, "no_tool_loop")["evidence"].pop()),
        ("c020-loop8", lambda made: made["verdict"]["risk"].update(hi=0.9998)),
        ("c020-loop8", lambda made: made["verdict"]["risk"].update(pBad=0.9704)),
        ("c020-loop8", lambda made: made["verdict"]["risk"]["perClass"].update(stub=0)),
        ("c020-loop8", lambda made: _named(made, "no_tool_loop")["uncertainty"].pop("ppv")),
        ("c024-all_cost_over_critical", lambda made: made["categories"].pop("cost")),
        ("c024-all_cost_over_critical", lambda made: made["provenance"].update(configHash="0" * 16)),
        ("c024-all_cost_over_critical", lambda made: made["provenance"].update(rulesetHash="0" * 16)),
        ("c041-custom_unknown_type", lambda made: _named(made, "r_telepathy").update(skipClass="defeated")),
    ],
)
def test_an_altered_answer_fails_by_its_name(
    files: Files,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    alter: Callable[[dict[str, Any]], object],
) -> None:
    (case, answer) = next(row for row in rows(files) if row[1]["case"] == name)
    (tmp_path / "cases.jsonl").write_text(2 * (json.dumps(case) + "\n"))
    before = json.dumps(answer)
    alter(answer["response"])
    (tmp_path / "expected.jsonl").write_text(f"{before}\n{json.dumps({**answer, 'case': 'altered'})}\n")
    assert main([str(tmp_path / "cases.jsonl"), str(tmp_path / "expected.jsonl")]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "altered"


def test_a_pattern_that_answers_otherwise_is_told_apart_and_fails_nothing(files: Files) -> None:
    case, answer = next(row for row in rows(files) if row[1]["case"] == "c033-pii_ssn")
    lines = json.dumps({**case, "output": "Nothing of that kind."}).encode(), json.dumps(answer).encode()
    tally = run(*lines)
    assert (tally.equal, tally.failed) == (1, {})
    assert tally.agreed == tally.asked - 1
    assert tally.apart == ["c033-pii_ssn: no_pii quiet"]


def test_an_error_that_was_expected_and_one_that_was_not(files: Files) -> None:
    (refused, error), (plain, answer) = rows(files)[89], rows(files)[0]
    assert error["error"] is True
    assert run(json.dumps(plain).encode(), json.dumps(error).encode()).failed == {
        "c090-crit_old_name": ["an error expected"]
    }
    failed = run(json.dumps(refused).encode(), json.dumps(answer).encode()).failed
    assert failed["c001-block_multi"][0].startswith("refused: criticalRules names 'token_efficiency'")


def test_files_that_cannot_be_read(files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "short.jsonl").write_text("{}\n")
    (tmp_path / "broken.jsonl").write_text("{\n")
    for words in ([], ["one"], [str(files[0]), "nowhere"], [str(files[0]), str(tmp_path / "short.jsonl")]):
        assert main(words) == 2
    assert main([str(tmp_path / "short.jsonl"), str(tmp_path / "broken.jsonl")]) == 2
    assert "python -m tests.conformance.evaluation CASES EXPECTED" in capsys.readouterr().err


def test_what_differs() -> None:
    assert list(differs("a", {"x": None}, {})) == []
    assert list(differs("a", {"x": True}, {"x": 1})) == ["a.x: True expected, 1 made"]
    assert list(differs("a", [1], [1, 2])) == ["a: 1 expected, 2 made"]
    assert list(differs("a.lo", 0.5, 0.5001)) == []
    assert list(differs("a.lo", 0.5, 0.5002)) != []
    assert list(differs("a.point", 0.5, 0.5001)) != []


def test_the_interpretations_are_those_of_the_reference(files: Files) -> None:
    deployment = reference()
    compared = 0
    for case, answer in rows(files):
        try:
            found = evaluate(read_case(json.dumps(case).encode(), deployment.settings), deployment)
        except (FormatError, CriticalityError):
            assert answer["error"]
            continue
        if found.verdict.basis.value != answer["response"]["verdict"]["basis"]:
            continue  # a pattern that answers otherwise
        wanted = [
            (each["severity"], each.get("rule"), each.get("configKey", "").removeprefix("eval.") or None)
            for each in answer["response"]["_interpretations"]
        ]
        assert [(each.severity, each.rule, each.setting) for each in found.interpretations] == wanted, answer["case"]
        compared += 1
    assert compared > 90


def test_places_are_the_right_ones_and_not_those_of_a_shifted_map(files: Files) -> None:
    case, _ = next(row for row in rows(files) if row[1]["case"] == "c100-surrogate_evidence")
    for deployment in (reference(), Deployment()):
        found = evaluate(read_case(json.dumps(case).encode(), deployment.settings), deployment)
        line = response(found, ident="", case="", judged_at="", engine="", note=None, counted=False)
        assert [(span["start"], span["end"]) for span in _named(line, "no_pii")["evidence"]] == [(9, 20)]
