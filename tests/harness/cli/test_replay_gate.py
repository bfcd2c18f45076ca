"""``replay --gate`` and ``--compare`` as they are typed: exit codes, the file of the record, what stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cli.own import Said
from tests.harness.jobs.context_runs import run as context_run
from tests.harness.jobs.session_files import Session, busy, put, trajectory, verdicts

RECORD = Path("baselines/replay/mine.toml")


@pytest.fixture
def run(replay: Callable[..., Said], tmp_path: Path) -> Callable[..., Said]:
    """Run ``replay`` in a folder with one session."""
    busy().save(tmp_path / "runs")
    return replay


def accept(run: Callable[..., Said], *more: str) -> Said:
    return run("--gate", "mine", "--accept", "runs", *more)


def altered(name: str, old: str, new: str) -> None:
    """Change the value of one metric on the record."""
    head, _, rest = RECORD.read_text().partition(f"[metric.{name}]\n")
    assert old in rest
    RECORD.write_text(f"{head}[metric.{name}]\n{rest.replace(old, new, 1)}")


def test_without_a_record_nothing_is_comparable(run: Callable[..., Said]) -> None:
    code, out, err = run("--gate", "mine", "runs")
    assert code == 4
    assert "unknown: required_evidence_missing" in out
    assert "Put this there: python -m harness replay --gate mine --accept PATH" in err
    assert not RECORD.exists()


def test_what_was_accepted_passes_and_stays_as_it_is(run: Callable[..., Said]) -> None:
    code, out, _ = accept(run)
    assert code == 0
    assert "metrics of 1 run are on record: mine.toml" in out
    first = RECORD.read_bytes()
    code, out, err = run("--gate", "mine", "runs")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "pass: clean"
    code, out, _ = accept(run)
    assert code == 0
    assert "Nothing moved, and nothing was written." in out
    assert RECORD.read_bytes() == first


def test_worse_by_one_fails(run: Callable[..., Said]) -> None:
    accept(run)
    altered("exposed_tokens", "131310", "131309")
    code, out, _ = run("--gate", "mine", "runs")
    assert code == 1
    assert "regressed: exposed_tokens: 131309 -> 131310 (lower is better)" in out
    assert out.splitlines()[-1] == "fail: policy_gate by exposed_tokens"


def test_the_worse_goes_on_record_by_name_and_reason_only(run: Callable[..., Said]) -> None:
    accept(run)
    altered("exposed_tokens", "131310", "131309")
    before = RECORD.read_bytes()
    code, _, err = accept(run)
    assert code == 1
    assert RECORD.read_bytes() == before
    assert "exposed_tokens: worse than on record, and left as on record. If it is meant: python -m harness " in err
    assert accept(run, "--why", "a longer task", "--worse", "exposed_tokens")[0] == 0
    assert 'why = "a longer task"' in RECORD.read_text()
    assert run("--gate", "mine", "runs")[0] == 0


@pytest.mark.parametrize("name", ["critical_violation_rate", "success", "prompt_tokens_peak"])
def test_a_context_metric_may_move_for_the_worse_too(name: str, replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "runs" / "r.jsonl", context_run())
    assert accept(replay)[0] == 0
    head, _, rest = RECORD.read_text().partition(f"[metric.{name}]\n")
    better = {"critical_violation_rate": 0, "success": 1, "prompt_tokens_peak": 1}[name]
    RECORD.write_text(f"{head}[metric.{name}]\nvalue = {better}\n{rest[rest.index(chr(10)) + 1 :]}")
    put(tmp_path / "runs" / "r.jsonl", context_run(passed=False, shown=()))
    assert name in accept(replay)[2]
    every = accept(replay)[2].removeprefix("loopladder: ").partition(":")[0].split(", ")
    assert accept(replay, "--worse", *every, "--why", "meant")[0] == 0
    assert 'why = "meant"' in RECORD.read_text().partition(f"[metric.{name}]")[2].partition("[")[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recorded_requests", "recorded_requests has no better direction and is on no record, so --worse cannot name"),
        ("critical_violatons", "did you mean critical_violations?"),
        (
            "critical_violations",
            "Nothing was put on record: these runs have no critical_violations for --worse to move",
        ),
        (
            "pass_k_windows",
            "these runs have no pass_k_windows for --worse to move. See what they have: python -m harness",
        ),
    ],
)
def test_what_cannot_be_worse_is_refused_by_name(name: str, said: str, run: Callable[..., Said]) -> None:
    accept(run)
    before = RECORD.read_bytes()
    code, _, err = accept(run, "--worse", name, "--why", "so")
    assert code == 2
    assert said in err
    assert RECORD.read_bytes() == before


def test_what_a_killed_accept_left_is_gone_after_the_next(run: Callable[..., Said]) -> None:
    accept(run)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = RECORD.with_name(f".{gone.pid}-0123abcd.tmp")
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    assert accept(run)[0] == 0
    assert list(RECORD.parent.iterdir()) == [RECORD]


@pytest.mark.parametrize("words", [(), ("--gate", "mine"), ("--evaluate",)])
def test_the_page_is_there_where_the_file_cannot_be_written(words: tuple[str, ...], run: Callable[..., Said]) -> None:
    accept(run)
    shown = run(*words, "runs")[1]
    code, out, err = run(*words, "--json", "/proc/x.json", "runs")
    assert (code, out) == (70, shown)
    assert "/proc/x.json cannot be written" in err


def test_a_metric_whose_name_went(run: Callable[..., Said]) -> None:
    accept(run)
    RECORD.write_text(RECORD.read_text().replace("[metric.exposed_tokens]", "[metric.exposed_tokens_of_old]"))
    code, out, _ = run("--gate", "mine", "runs")
    assert code == 5
    assert "removed: exposed_tokens_of_old: " in out


def test_what_cannot_be_told_any_more(run: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "runs" / "s-1.jsonl", trajectory())
    accept(run)
    altered("cache_hit_ratio", "undefined = ", "value = 0.5 #")
    code, out, _ = run("--gate", "mine", "runs")
    assert code == 3
    assert "void: cache_hit_ratio: undefined now: " in out


def test_another_number_of_runs(run: Callable[..., Said], tmp_path: Path) -> None:
    accept(run)
    Session("s-2", minute=600).ask().answer("msg_2").save(tmp_path / "runs")
    assert run("--gate", "mine", "runs")[0] in (1, 4)
    code, _, err = accept(run)
    assert code == 1, "its sums are begun anew, and a ratio that is worse is not"
    assert "cache_hit_ratio: worse than on record, and left as on record." in err
    assert accept(run, "--worse", "cache_hit_ratio", "--why", "a cold start")[0] == 0
    assert run("--gate", "mine", "runs")[0] == 0
    assert 'why = "a cold start"' in RECORD.read_text()


def test_what_could_not_be_read_whole_is_not_put_on_record(run: Callable[..., Said], tmp_path: Path) -> None:
    accept(run)
    before = RECORD.read_bytes()
    torn = tmp_path / "runs" / "s-9.jsonl"
    torn.write_bytes(Session("s-9", minute=600).ask().answer("msg_9").data + b'{"type": "assistant", "mess')
    code, _, err = accept(run, "--worse", "cache_hit_ratio", "--why", "a cold start")
    assert code == 6
    assert "Nothing was put on record: " in err
    assert err.rstrip().endswith("python -m harness replay --gate mine --accept PATH")
    assert RECORD.read_bytes() == before
    assert "pass:" not in run("--gate", "mine", "runs")[1]


@pytest.mark.parametrize("edit", ["<<<<<<< ours\n", "more = 1\n", "schema = 3\n", "\x00"])
def test_a_record_that_a_hand_was_at(edit: str, run: Callable[..., Said]) -> None:
    accept(run)
    RECORD.write_text(edit + RECORD.read_text())
    for words in (["--gate", "mine", "runs"], ["--gate", "mine", "--accept", "runs"]):
        code, _, err = run(*words)
        assert code == 2
        assert "mine.toml" in err
        assert "git " in err
    assert RECORD.read_text().startswith(edit)


def test_runs_that_could_not_all_be_read_never_pass(run: Callable[..., Said], tmp_path: Path) -> None:
    accept(run)
    with (tmp_path / "runs" / "s-1.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    assert run("--gate", "mine", "runs")[0] != 0


def test_the_file_holds_the_verdict(run: Callable[..., Said], tmp_path: Path) -> None:
    accept(run)
    run("--gate", "mine", "runs", "--json", "out.json")
    document = json.loads((tmp_path / "out.json").read_bytes())
    assert (document["verdict"]["state"], document["verdict"]["passed"]) == ("pass", True)
    assert {claim["rule"] for claim in document["claims"]} >= {"exposed_tokens", "cache_hit_ratio"}
    assert "baselines" not in json.dumps(document)


def test_nothing_to_hold_against_a_record(run: Callable[..., Said], tmp_path: Path) -> None:
    accept(run)
    (tmp_path / "empty").mkdir()
    for words in (["--gate", "mine", "empty"], ["--gate", "mine", "--accept", "empty"]):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert "No recorded run is there" in err


def test_two_arms(run: Callable[..., Said], tmp_path: Path) -> None:
    for name, passed in (("one", False), ("other", True)):
        for at in range(3):
            put(tmp_path / name / f"{at}.jsonl", verdicts(f"c{at}", passed=passed or at > 0, prompt=90 + len(name)))
    code, out, err = run("--compare", "one", "other")
    assert (code, err) == (0, "")
    assert out.startswith("one: 3 runs, other: 3 runs, 3 pairs by case and replicate\n")
    assert max(map(len, out.splitlines())) <= 80
    assert "by the second alone 1" in out
    put(tmp_path / "other" / "3.jsonl", busy().data + b"garbage\n")
    assert run("--compare", "one", "other")[0] == 6
    code, out, err = run("--compare", "one", "nowhere")
    assert (code, out) == (2, "")
    assert "nowhere cannot be read: No such file or directory." in err


@pytest.mark.parametrize("link", ["baselines", "baselines/replay", "baselines/replay/mine.toml"])
def test_no_record_is_put_behind_a_link_out_of_the_project(
    link: str, run: Callable[..., Said], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "mine.toml").write_bytes(b"precious")
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(outside / "mine.toml" if link.endswith("toml") else outside)
    code, _, err = accept(run)
    assert code == 2
    assert "is a link that leads out of the project" in err
    assert [(each.name, each.read_bytes()) for each in outside.iterdir()] == [("mine.toml", b"precious")]
