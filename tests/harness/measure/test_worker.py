"""Workers and what probes do to them: an answer always comes, and it says what happened."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.measure.handed import BASES, SOURCES
from harness.measure.launch import Answer, _Heard, _read_answer, launch
from kpis.terms.quantity import Basis, Source
from tests.cases.probes import hostile
from tests.harness.measure.jobs import HOSTILE, hostile_job


def ask(probe: str, repo: Path, tmp_path: Path, *, limit: float = 30, seed: int = 1, **more: Any) -> Answer:
    job = hostile_job(probe, repo, **{"task": "discover", "min_time": 0.005, "limit": limit, **more})
    return launch(job, seed=seed, limit=limit, folder=tmp_path, cwd=repo)


@pytest.mark.parametrize(
    ("probe", "reason", "words"),
    [
        ("Raises", "error", "no such table: orders (tests/cases/probes/hostile.py, line "),
        ("RaisesInTheClock", "error", "ZeroDivisionError: in the batch"),
        ("Exits", "error", "sys.exit(3)"),
        ("Dies", "crashed", "exit status 7"),
        ("WrongWork", "work-not-done", "the sum was -1"),
        ("NoEngine", "engine-not-cut", "'warp'"),
        ("NotASlice", "error", "returned int"),
        ("Honest", "not-offered", "There is no such seam."),
        ("Count", "error", "a Tally where this KPI needs a slice"),
        ("Missing", "error", "has no 'Missing'"),
        ("forgotten_await", "work-not-done", "a coroutine that nobody awaited"),
        ("no_decorator", "error", "@probe above the function"),
    ],
)
def test_a_discovery_says_what_the_probe_did(probe: str, reason: str, words: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == reason
    assert words in answer.undefined[1]


@pytest.mark.parametrize(
    ("probe", "task"),
    [
        ("DoesNoWork", "calibrate"),
        ("DoesNoWork", "measure"),
        ("EmptyCalls", "measure"),
        ("IgnoresLoops", "calibrate"),
    ],
)
def test_a_slice_without_work_is_refused(probe: str, task: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, task=task, values=2, warmups=1, loops=200_000)
    assert answer.undefined is not None
    assert answer.undefined[0] in ("work-not-done", "too-short")


@pytest.mark.parametrize(
    ("probe", "reason"), [("NotANumber", "bad-value"), ("Infinite", "bad-value"), ("ZeroDenominator", "no-denominator")]
)
def test_a_tally_that_is_no_number_is_undefined(probe: str, reason: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, timed=False, estimand="count")
    assert answer.undefined is not None
    assert answer.undefined[0] == reason


def test_the_fourth_trap_a_frozen_sync_seam_refuses_a_slice_without_a_cut(repo: Path, tmp_path: Path) -> None:
    answer = ask("Base", repo, tmp_path, frozen_sync=True)
    assert answer.undefined is not None
    assert answer.undefined[0] == "engine-not-cut"
    assert "turn/view is frozen-sync" in answer.undefined[1]
    assert ask("sugar", repo, tmp_path, frozen_sync=True, params={"size": "4"}).undefined is None


def test_a_factory_that_makes_no_runtime_says_so(repo: Path, tmp_path: Path) -> None:
    answer = ask("Base", repo, tmp_path, runtime=f"{HOSTILE}:make_nothing")
    assert answer.undefined is not None
    assert "made a object, which has no offer" in answer.undefined[1]


def test_a_hanging_probe_costs_its_limit_and_nothing_else(repo: Path, tmp_path: Path) -> None:
    answer = ask("Hangs", repo, tmp_path, limit=1)
    assert answer.undefined == ("timeout", "It did not end within its limit of 1.0 s.")


def test_what_a_probe_prints_is_counted_and_kept_out(repo: Path, tmp_path: Path) -> None:
    answer = ask("Prints", repo, tmp_path)
    assert answer.undefined is None
    assert answer.printed > 400_000
    assert len(answer.output) <= 64 * 1024


def test_a_fork_of_the_probe_does_not_answer(repo: Path, tmp_path: Path) -> None:
    answer = ask("Forks", repo, tmp_path)
    assert answer.undefined is None
    assert answer.result["slice"] == "batch"


def test_no_child_of_a_probe_outlives_its_worker(repo: Path, tmp_path: Path) -> None:
    assert ask("LeavesAChild", repo, tmp_path).undefined is None
    deadline = time.monotonic() + 5
    while _workers_on(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _workers_on(tmp_path)


def _workers_on(folder: Path) -> list[int]:
    """Living processes whose command line names a job file in ``folder``."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if str(folder).encode() in command and state != "Z":
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize("probe", ["Together", "TogetherLater"])
def test_one_opening_answers_for_those_that_are_wanted_beside_it(probe: str, repo: Path, tmp_path: Path) -> None:
    count = {"timed": False, "estimand": "count"}
    wanted = ["b", "odd", "gone", "slice", "absent"]
    result = ask(probe, repo, tmp_path, kpi="a", beside=wanted, **count).result
    assert result["tally"]["numerator"] == 2
    others = result["beside"]
    assert set(others) == {"b", "odd", "gone"}
    assert others["b"]["tally"]["numerator"] == 3
    assert others["odd"]["undefined"]["reason"] == "bad-value"
    assert others["gone"] == {"undefined": {"reason": "not-offered", "detail": "None."}}
    refused = ask(probe, repo, tmp_path, kpi="gone", beside=["b"], **count)
    assert refused.undefined == ("not-offered", "None.")
    alone = ask(probe, repo, tmp_path, kpi="a", beside=[], **count).result
    assert alone["tally"]["evidence"] == ["alone"]
    assert "beside" not in alone


def test_an_opening_of_all_without_the_one_that_is_asked_for_is_an_error(repo: Path, tmp_path: Path) -> None:
    found = ask("TogetherWithout", repo, tmp_path, kpi="a", beside=["b"], timed=False, estimand="count")
    assert found.undefined == ("error", "open_all() returned dict without an entry for a.")


def test_two_seeds_give_two_counts_where_a_count_hangs_on_the_hash(repo: Path, tmp_path: Path) -> None:
    counts = {
        ask("SeedDependent", repo, tmp_path, seed=seed, timed=False, estimand="count").result["tally"]["numerator"]
        for seed in (1, 2)
    }
    assert len(counts) == 2


def test_an_async_slice_runs_on_one_loop_from_value_to_value(repo: Path, tmp_path: Path) -> None:
    common = {"values": 3, "warmups": 1, "runtime": f"{HOSTILE}:make_async"}
    answer = ask("sugar_async", repo, tmp_path, task="calibrate", **common)
    assert answer.undefined is None
    answer = ask("sugar_async", repo, tmp_path, task="measure", loops=answer.result["loops"], **common)
    assert answer.undefined is None
    assert len(answer.result["values_ns"]) == 3


def test_a_measured_process_carries_wall_cpu_and_the_harness_share(repo: Path, tmp_path: Path) -> None:
    calibrated = ask("Base", repo, tmp_path, task="calibrate", values=1, warmups=1).result
    answer = ask("Base", repo, tmp_path, task="measure", values=4, warmups=1, loops=calibrated["loops"]).result
    assert len(answer["values_ns"]) == len(answer["cpu_ns"]) == 4
    assert answer["process_ns"] > 0
    assert 0 < answer["overhead_share"] < 0.5
    metadata = answer["pyperf"]["metadata"]
    assert metadata["loops"] == calibrated["loops"]
    assert not {"hostname", "command", "python_executable"} & set(metadata)


def test_stamped_calls_give_a_median_a_tail_and_a_histogram(repo: Path, tmp_path: Path) -> None:
    common = {"estimand": "call-p50", "params": {"size": "4"}, "warmups": 1}
    answer = ask("sugar", repo, tmp_path, task="measure", values=3, loops=400, **common).result
    assert sum(answer["calls"].values()) == 1200
    assert answer["process_ns"] <= answer["p99_ns"]


def test_the_touched_files_are_the_slice_s_own(repo: Path, tmp_path: Path) -> None:
    touched = ask("Base", repo, tmp_path).result["touched"]
    names = {Path(name).relative_to(repo).as_posix() for name in touched}
    assert "tests/cases/probes/hostile.py" in names
    assert not any("site-packages" in name or name.endswith(".pyc") for name in names)


def test_a_worker_that_does_not_have_the_seed_it_was_told_refuses(repo: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(
        "harness.measure.launch.worker_environment", lambda _seed, **_more: {**os.environ, "PYTHONHASHSEED": "9"}
    )
    monkeypatch.setenv("PYTHONPATH", str(repo))
    answer = ask("Base", repo, tmp_path)
    assert answer.undefined is not None
    assert "hash seed" in answer.undefined[1]


ODD = sorted(set(hostile.SUBTLE) - {"count-negative", "count-fraction", "long-evidence"})


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_value_is_refused_in_the_worker_by_name(odd: str, repo: Path, tmp_path: Path) -> None:
    answer = ask("Subtle", repo, tmp_path, kpi=odd, timed=False, estimand="count")
    assert answer.undefined is not None
    assert answer.undefined[0] == "bad-value"
    words = ("basis", "source", "excluded", "reasons", "knobs", "evidence", "denominator", "undefined")
    assert next((word for word in words if word in odd), "numerator") in answer.undefined[1].lower()


def test_evidence_is_cut_to_what_a_person_reads(repo: Path, tmp_path: Path) -> None:
    tally = ask("Subtle", repo, tmp_path, kpi="long-evidence", timed=False, estimand="count").result["tally"]
    assert [len(sentence) for sentence in tally["evidence"]] == [500] * 20


@pytest.mark.parametrize("probe", ["OddSource", "ListSource"])
def test_a_slice_of_an_unknown_source_is_a_bad_value(probe: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == "bad-value"
    assert "source = " in answer.undefined[1]


def test_the_words_of_a_tally_are_those_of_the_terms() -> None:
    assert set(BASES) == {basis.value for basis in Basis} - {"clock"}
    assert set(SOURCES) == {source.value for source in Source}


@pytest.mark.parametrize("probe", ["LeavesAThread", "HangsInClose"])
def test_a_worker_that_has_answered_is_done(probe: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, limit=30)
    assert answer.undefined is None
    assert answer.result["slice"] == "batch"
    assert answer.seconds < 20
    assert any("did not end by itself" in notice for notice in answer.notices)


def test_a_close_that_raises_costs_no_answer_and_is_said(repo: Path, tmp_path: Path) -> None:
    answer = ask("RaisesInClose", repo, tmp_path)
    assert answer.result["slice"] == "batch"
    assert answer.notices == ["The worker ended with exit status 1 after it had answered."]
    assert "it is shut" in answer.output


@pytest.mark.parametrize(("probe", "estimand"), [("SaysFalse", "call-mean"), ("CallsThatSayFalse", "call-p50")])
def test_a_check_that_says_false_means_work_not_done(probe: str, estimand: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, estimand=estimand)
    assert answer.undefined is not None
    assert answer.undefined[0] == "work-not-done"
    assert "the check refused a result of type int" in answer.undefined[1]


@pytest.mark.parametrize(
    "probe", ["SaysFive", "SaysNothing", "SaysUndefined", "SaysBytes", "SaysATally", "ChildSpeaks"]
)
def test_only_the_worker_answers_for_itself(probe: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == "crashed"
    assert answer.undefined[1].endswith("before it answered; something else wrote to the pipe for its answer.")


def test_what_stands_before_the_answer_does_not_spoil_it(repo: Path, tmp_path: Path) -> None:
    answer = ask("SaysTooEarly", repo, tmp_path)
    assert answer.undefined is None
    assert answer.result["slice"] == "batch"


@pytest.mark.parametrize(("probe", "timed"), [("SaysNoEnd", True), ("AnswersAtLength", False)])
def test_an_answer_without_end_is_cut_off(probe: str, timed: bool, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, timed=timed, estimand="call-mean" if timed else "count")
    assert answer.undefined == ("bad-value", "Its answer is longer than 16 MiB.")


@pytest.mark.parametrize(
    "line", [b"5", b"[]", b'{"undefined": {}}', b'{"undefined": 5}', b"NaN", b"[" * 100_000, b"\xff"]
)
def test_a_line_with_the_token_that_is_no_answer_is_a_crash(line: bytes, tmp_path: Path) -> None:
    heard = _Heard("token", line=line)
    answer = Answer()
    _read_answer(answer, heard, 0, 1.0)
    assert answer.undefined is not None
    assert answer.undefined[0] == "crashed"


def _running(word: str) -> list[int]:
    """Processes with this word on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_daemon_of_a_probe_ends_with_its_worker_and_is_said(repo: Path, tmp_path: Path) -> None:
    answer = ask("LeavesADaemon", repo, tmp_path)
    assert answer.undefined is None
    assert not _running(hostile.DAEMON_SLEEPS)
    assert answer.notices == ["A process that the probe had started outlived the worker and had to be ended."]


def test_a_launch_leaves_the_children_of_its_caller_alone(repo: Path, tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True) as bystander:
        answer = ask("LeavesADaemon", repo, tmp_path)
        assert bystander.poll() is None
        bystander.kill()
    assert len(answer.notices) == 1


PARENT = """
import sys
from pathlib import Path
from tests.harness.measure.test_worker import ask
ask("Hangs", Path(sys.argv[1]), Path(sys.argv[2]), limit=3000)
"""


def test_a_parent_that_is_killed_takes_its_worker_along(repo: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", PARENT, str(repo), str(tmp_path)]
    with subprocess.Popen(words, cwd=repo) as parent:
        assert _until(lambda: any(pid != parent.pid for pid in _workers_on(tmp_path)))
        time.sleep(0.5)
        parent.kill()
    assert _until(lambda: not _workers_on(tmp_path))


def _until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_of_a_long_message_the_type_and_the_first_line_are_said(repo: Path, tmp_path: Path) -> None:
    answer = ask("SpeaksAtLength", repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[1].startswith("LookupError: no such table: orders (tests/cases/probes/hostile.py, line ")
    assert "and in: archive" in answer.output


def test_an_error_in_a_folder_that_is_gone_is_still_an_answer(repo: Path, tmp_path: Path) -> None:
    answer = ask("LosesItsFolder", repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == "error"
    assert answer.undefined[1].startswith("LookupError: gone (hostile.py, line ")
