"""``replay --compare`` as it is typed: two arms and more, the file, verdicts that tell arms apart, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.cli.replay_compare import arm_names
from harness.record.replay_compare_schema import replay_compare_schema
from tests.harness.cli.own import Said
from tests.harness.jobs.session_files import busy, lines, put, verdicts
from tests.schema_check import faults


@pytest.fixture
def arms(tmp_path: Path) -> list[str]:
    for name, prompt in (("a", 100), ("b", 90), ("c", 80)):
        for at in range(3):
            put(tmp_path / name / f"{at}.jsonl", verdicts(f"c{at}", passed=name != "c", replicate=0, prompt=prompt))
    return ["a", "b", "c"]


def test_more_than_two_arms(arms: list[str], replay: Callable[..., Said], tmp_path: Path) -> None:
    code, out, err = replay("--compare", *arms, "--json", "out.json")
    assert (code, err) == (0, "")
    assert "a: 3 runs, b: 3 runs, 3 pairs by case and replicate" in out
    assert "a: 3 runs, c: 3 runs, 3 pairs by case and replicate" in out
    assert max(map(len, out.splitlines())) <= 80
    document = json.loads((tmp_path / "out.json").read_bytes())
    assert faults(document, replay_compare_schema()) == []
    assert [each["name"] for each in document["against_first"]] == ["b", "c"]
    assert [each["passed"]["non_inferior"] for each in document["against_first"]] == ["satisfied", "violated"]


def test_the_file_on_standard_output(arms: list[str], replay: Callable[..., Said]) -> None:
    code, out, err = replay("--compare", *arms, "--json", "-")
    assert (code, json.loads(out)["schema"]) == (0, "harness.replay-compare/1")
    assert "all arms, over 3 runs" in err


def test_a_verdict_on_runs_of_two_arms_is_refused(arms: list[str], replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "both.jsonl", lines({"case": "c9", "passed": True}, {"case": "c1", "passed": True}))
    code, out, err = replay("--oracles", "both.jsonl", "--compare", *arms)
    assert (code, out) == (2, "")
    assert 'both.jsonl, line 2 is on runs of a and of b, and would make both the same. Add "arm": "a"' in err
    assert err.rstrip().endswith("python -m harness replay --compare ARM_A ARM_B --oracles FILE")


def test_the_page_is_there_where_the_file_cannot_be_written(arms: list[str], replay: Callable[..., Said]) -> None:
    code, out, err = replay("--compare", *arms, "--json", "/proc/out.json")
    assert code == 70
    assert "all arms, over 3 runs that each of them has" in out
    assert "/proc/out.json cannot be written" in err


def test_arms_tell_verdicts_apart(arms: list[str], replay: Callable[..., Said], tmp_path: Path) -> None:
    told = [{"case": f"c{at}", "arm": name, "passed": at < 2 or name == "b"} for at in range(3) for name in "ab"]
    put(tmp_path / "told.jsonl", lines(*told, {"case": "c0", "arm": "nowhere", "passed": True}))
    code, out, _ = replay("--oracles", "told.jsonl", "--compare", "a", "b")
    assert code == 0
    assert "passed by both 2, by the first alone 0, by the second alone 1, by neither 0" in out
    assert "1 of 7 verdicts is on no run of any arm." in out


def test_sessions_without_a_case_pair_by_the_verdicts(replay: Callable[..., Said], tmp_path: Path) -> None:
    told = []
    for name in "ab":
        for at in range(2):
            busy(f"{name}-{at}").save(tmp_path / name)
            told.append({"run": f"{name}-{at}", "case": f"c{at}", "replicate": 0, "passed": name == "a"})
    put(tmp_path / "told.jsonl", lines(*told))
    assert "0 pairs by case and replicate" in replay("--compare", "a", "b")[1]
    code, out, _ = replay("--oracles", "told.jsonl", "--compare", "a", "b")
    assert code == 0
    assert "a: 2 runs, b: 2 runs, 2 pairs by case and replicate" in out
    assert "passed by both 0, by the first alone 2, by the second alone 0, by neither 0" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a",), "--compare takes two folders or more"),
        (("a", "b", "./a"), "--compare names a twice, and an arm does not differ from itself"),
        (("a", "b", "b/../a"), "--compare names a twice, and an arm does not differ from itself"),
        (("a", "linked"), "--compare names a twice, and an arm does not differ from itself"),
        ((".", "a"), "--compare names ., and a inside of it, whose runs would be in both arms"),
        (("b", "linked/0.jsonl", "a"), "--compare names a, and linked/0.jsonl inside of it"),
        (("a", "b", "--by", "tool"), "goes without --by"),
        (("a", "b", "--accept"), "goes without --accept"),
        (("a", "b", "--json", "a/0.jsonl"), "names an input and would replace it"),
        (
            ("a", "nowhere"),
            "nowhere cannot be read: No such file or directory. Name a file or a folder that can be read: ",
        ),
    ],
)
def test_what_is_refused(words: tuple[str, ...], said: str, arms: list[str], replay: Callable[..., Said]) -> None:
    Path("linked").symlink_to("a")
    code, out, err = replay("--compare", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "python -m harness replay" in err or "--json replay.json" in err


def test_arms_that_end_alike_have_their_whole_names() -> None:
    assert arm_names(["x/a", "y/b/"]) == ["a", "b"]
    assert arm_names(["x/a", "y/a", "c"]) == ["x/a", "y/a", "c"]


def test_a_number_is_explained_by_its_symbol(arms: list[str], replay: Callable[..., Said]) -> None:
    assert replay("--explain", "cr@3", "a")[1].startswith("context_regret_3 (CR@3): unknown")
    code, _, err = replay("--explain", "RAF@1", "a")
    assert code == 2
    assert "RAF@1 is the symbol of raf_1, read_after_fold_1: name one of them" in err
    out = replay("--explain", "pass_k_windows", "a")[1]
    assert out.startswith("pass_k_windows (pass^k): 1.000\n")


def test_explain_without_a_recording_knows_symbols_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PMA"]) == 0
    assert capsys.readouterr().out.startswith("pma_all_pairs (PMA), a metric of recorded runs")
