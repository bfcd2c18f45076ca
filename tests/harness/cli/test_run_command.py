"""``run`` as a person meets it: what it prints, what it keeps, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.record.run import decode
from tests.cases.probes.hostile import SUBTLE
from tests.harness.cli.own import REPO, SEAM, Command, row

HOSTILE = "tests.cases.probes.hostile"


def readings(text: str) -> dict[str, dict]:
    return {item["kpi"]: item for item in json.loads(text)["readings"]}


def test_json_on_standard_output_is_the_run_file_and_nothing_else(loopladder: Command, project: Path) -> None:
    (project / "bench" / "own.toml").write_text(SEAM + row("own_ns", f"{HOSTILE}:Base"))
    done = loopladder("run", "--kpi", "own_ns", "--quick", "--json", "-")
    assert done.returncode == 0, done.stderr
    run = decode(done.stdout.encode(), "standard output")
    assert run.complete
    assert run.readings[0].distribution is not None
    assert run.readings[0].distribution.n == 3
    stored = list((project / ".harness" / "runs").glob("*.json"))
    assert [path.read_text() for path in stored] == [done.stdout]
    assert "own_ns" in done.stderr
    samples = list((project / ".harness" / "runs").glob("*.samples/own_ns*.json"))
    assert len(samples) == 1
    shown = subprocess.run(
        [sys.executable, "-m", "pyperf", "stats", str(samples[0])], capture_output=True, text=True, check=True
    )
    assert "Total number of values: 9" in shown.stdout


@pytest.mark.parametrize(
    ("probe", "estimand", "reason", "code"),
    [
        ("Raises", "call-mean", "error", 3),
        ("Exits", "call-mean", "error", 3),
        ("Dies", "call-mean", "crashed", 3),
        ("EmptyCalls", "call-mean", "work-not-done", 3),
        ("IgnoresLoops", "call-mean", "work-not-done", 3),
        ("WrongWork", "call-mean", "work-not-done", 3),
        ("NotANumber", "count", "bad-value", 3),
        ("Infinite", "count", "bad-value", 3),
        ("SeedDependent", "count", "not-repeatable", 3),
        ("Honest", "call-mean", "not-offered", 3),
    ],
)
def test_a_probe_that_misbehaves_is_undefined_with_its_reason(
    probe: str, estimand: str, reason: str, code: int, loopladder: Command, project: Path
) -> None:
    unit = "ns" if estimand.startswith("call") else "count"
    (project / "bench" / "own.toml").write_text(SEAM + row("own", f"{HOSTILE}:{probe}", estimand=estimand, unit=unit))
    done = loopladder("run", "--kpi", "own", "--quick", "--json", "-")
    assert done.returncode == code, done.stderr
    found = readings(done.stdout)["own"]
    assert found["value"] is None
    assert found["undefined"]["reason"] == reason
    assert reason in done.stderr


def test_one_bad_probe_does_not_cost_the_others(loopladder: Command, project: Path) -> None:
    (project / "bench" / "own.toml").write_text(
        SEAM
        + row("bad", f"{HOSTILE}:Dies")
        + row("prints", f"{HOSTILE}:Prints")
        + row("forks", f"{HOSTILE}:Forks")
        + row("good", f"{HOSTILE}:Count", estimand="count", unit="count")
    )
    done = loopladder("run", "--kpi", "bad", "prints", "forks", "good", "--quick", "--json", "-")
    assert done.returncode == 3
    found = readings(done.stdout)
    assert found["bad"]["undefined"]["reason"] == "crashed"
    assert found["good"]["value"] == 3
    assert found["forks"]["value"] > 0
    assert "printed" in [notice["code"] for notice in found["prints"]["warnings"]]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("run",), 2, "Say what to measure"),
        (("run", "--layer", "turm"), 2, "turn"),
        (("run", "--kpi", "planer_optimize_ns"), 2, "planner_optimize_ns"),
        (("run", "--kpi", "denies", "--param", "arm"), 2, "KEY=VALUE"),
        (("run", "--kpi", "vdso_hit_rate", "--param", "arm=isolatd"), 2, "isolated"),
        (("run", "--kpi", "denies", "--param", "size=3"), 2, "size"),
        (("run", "--kpi", "denies", "--runtime", "referense"), 2, "reference"),
        (("run", "--kpi", "denies", "--workload", "nowhere.json"), 2, "nowhere.json"),
        (("run", "--kpi", "denies", "--budget", "soon"), 2, "soon"),
        (("run", "--kpi", "denies", "--quick", "--full"), 2, "not allowed with"),
        (("run", "--layer", "stream"), 5, "proposed"),
        (("run", "--kpi", "denies", "--resume"), 2, "no interrupted run"),
        (("frobnicate",), 2, "invalid choice"),
        ((), 2, ""),
    ],
)
def test_an_unusable_command_line_gets_one_sentence(
    words: tuple[str, ...], code: int, says: str, loopladder: Command, tmp_path: Path
) -> None:
    done = loopladder(*words)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob(".harness/runs/*.json")), "nothing was measured"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SEAM + row("own", "a:B").replace("fence", "fense"), "fense"),
        (SEAM + row("own", "a:B").replace('"ns"', '"furlongs"'), "furlongs"),
        (SEAM + row("denies", "a:B"), "denies"),
        (SEAM + row("own", "a:B") + row("own", "a:B"), "own"),
        ("kpi = [", "own.toml"),
    ],
)
def test_a_table_of_kpis_that_cannot_be_used_gets_one_sentence(
    text: str, says: str, loopladder: Command, project: Path
) -> None:
    (project / "bench" / "own.toml").write_text(text)
    done = loopladder("run", "--layer", "turn", "--quick")
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_a_dry_run_measures_nothing(loopladder: Command, tmp_path: Path) -> None:
    done = loopladder("run", "--layer", "turn", "--quick", "--dry-run")
    assert done.returncode == 0
    assert "planner_optimize_ns[objective=greedy,n=1000] reference -: 3 processes x 3 values" in done.stdout
    assert not (tmp_path / ".harness").exists()


def test_some_workloads_unreadable_measures_the_rest_and_says_so(loopladder: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    trace = {"slice_id": "two", "calls": [{"tool": "search_flights", "args": {"origin": "A"}, "meta": {}}] * 2}
    (tmp_path / "two.json").write_text(json.dumps(trace))
    done = loopladder("run", "--kpi", "engine_calls", "--workload", "two.json", "empty.json", "--quick", "--json", "-")
    assert done.returncode == 6, done.stderr
    assert "empty.json" in done.stderr
    found = readings(done.stdout)["engine_calls"]
    assert (found["value"], found["source"]) == (2, "replay")


def _start(cwd: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "harness", "run", *words]
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _wait_for_entries(root: Path, count: int) -> Path:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for journal in root.glob(".harness/runs/*.journal"):
            if journal.read_bytes().count(b"\n") > count:
                return journal
        time.sleep(0.01)
    raise AssertionError("the run wrote no journal")


SLOW = (
    "--kpi",
    "planner_optimize_ns",
    "--param",
    "objective=greedy",
    "--param",
    "n=100",
    "--param",
    "n=1000",
    "--full",
)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_was_measured_and_resume_goes_on(
    number: signal.Signals, code: int, loopladder: Command, tmp_path: Path
) -> None:
    started = _start(tmp_path, *SLOW)
    _wait_for_entries(tmp_path, 4)
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    assert started.returncode == code, err
    (kept,) = (tmp_path / ".harness" / "runs").glob("*.json")
    partial = json.loads(kept.read_text())
    assert partial["complete"] is False
    assert partial["readings"], "what was measured is in the run file"
    assert "--resume" in err
    assert "planner_optimize_ns" in out
    done = loopladder("run", *SLOW, "--resume", "--json", "-")
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)
    assert whole["complete"] is True
    assert whole["id"] == partial["id"]
    assert [reading["distribution"]["n"] for reading in whole["readings"]] == [25, 25]
    assert not list(tmp_path.glob(".harness/runs/*.journal"))


def test_kill_9_then_resume_keeps_every_finished_process(loopladder: Command, tmp_path: Path) -> None:
    started = _start(tmp_path, *SLOW)
    journal = _wait_for_entries(tmp_path, 6)
    started.kill()
    started.communicate(timeout=60)
    kept = [json.loads(line) for line in journal.read_bytes().split(b"\n")[1:-1]]
    journal.write_bytes(journal.read_bytes() + b'{"asked": "torn')
    done = loopladder("run", *SLOW, "--resume", "--json", "-")
    assert done.returncode == 0, done.stderr
    values = [
        value["values"]
        for file in tmp_path.glob(".harness/runs/*.samples/*.json")
        for bench in json.loads(file.read_text())["benchmarks"]
        for value in bench["runs"]
    ]
    final = {json.loads(entry["asked"])[0]: json.loads(entry["asked"])[3] for entry in kept}
    for entry in kept:
        # Values of a calibration that was made good belong to no sample.
        point, task, _, loops = json.loads(entry["asked"])
        if task == "measure" and loops == final[point]:
            assert entry["answer"]["pyperf"]["values"] in values, "a finished process was measured again"


def test_the_same_workload_twice_is_measured_once(loopladder: Command, tmp_path: Path) -> None:
    trace = {"slice_id": "two", "calls": [{"tool": "search_flights", "args": {"origin": "A"}, "meta": {}}] * 2}
    (tmp_path / "two.json").write_text(json.dumps(trace))
    done = loopladder("run", "--kpi", "engine_calls", "--workload", "two.json", "two.json", "--quick", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["readings"]) == 1
    assert "given twice" in done.stderr


def test_two_runs_at_once_in_one_folder_do_not_measure_each_other(loopladder: Command, tmp_path: Path) -> None:
    started = _start(tmp_path, *SLOW)
    _wait_for_entries(tmp_path, 1)
    second = loopladder("run", "--kpi", "denies", "--quick")
    started.kill()
    started.communicate(timeout=60)
    assert second.returncode == 2
    assert f"process {started.pid}" in second.stderr


def test_a_full_disk_under_standard_output_loses_nothing(loopladder: Command, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        started = subprocess.run(
            [sys.executable, "-m", "harness", "run", "--kpi", "denies", "--quick"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(REPO)}, stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert started.returncode == 70
    assert "could not be written" in started.stderr
    assert len(list(tmp_path.glob(".harness/runs/*.json"))) == 1


def test_a_full_disk_under_json_loses_nothing(loopladder: Command, tmp_path: Path) -> None:
    done = loopladder("run", "--kpi", "denies", "--quick", "--json", "/dev/full")
    assert done.returncode == 70
    assert "The run is kept at" in done.stderr
    assert len(list(tmp_path.glob(".harness/runs/*.json"))) == 1


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m harness list | head -1"
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr


def test_a_budget_ends_the_run_in_time_and_leaves_the_rest_undefined(loopladder: Command, project: Path) -> None:
    (project / "bench" / "own.toml").write_text(
        SEAM + "".join(row(f"own_{index}", f"{HOSTILE}:Base") for index in range(12))
    )
    names = [f"own_{index}" for index in range(12)]
    done = loopladder("run", "--kpi", *names, "--budget", "2s", "--json", "-")
    found = readings(done.stdout)
    assert set(found) == set(names)
    reasons = {item["undefined"]["reason"] for item in found.values() if item["undefined"]}
    assert reasons == {"out-of-budget"}
    assert any(item["value"] for item in found.values())
    assert done.returncode == 3


def test_one_odd_value_of_each_probe_costs_that_probe_its_reading_alone(loopladder: Command, project: Path) -> None:
    odd = {f"own_{name.replace('-', '_')}": name for name in SUBTLE}
    (project / "bench" / "own.toml").write_text(
        SEAM
        + row("good", f"{HOSTILE}:Count", estimand="count", unit="count")
        + "".join(row(kpi, f"{HOSTILE}:Subtle", estimand="count", unit="count") for kpi in odd)
        + "".join(row(f"own_{name.lower()}", f"{HOSTILE}:{name}") for name in ("OddSource", "ListSource"))
    )
    names = [*odd, "own_oddsource", "own_listsource"]
    done = loopladder("run", "--kpi", "good", *names, "--quick", "--json", "-")
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    run = decode(done.stdout.encode(), "standard output")
    assert run.complete
    found = {reading.kpi: reading for reading in run.readings}
    assert found["good"].value == 3
    assert found.pop("own_long_evidence").evidence == ["x" * 500] * 20
    for name in names:
        if name in found:
            undefined = found[name].undefined
            assert undefined is not None, name
            assert undefined.reason.value == "bad-value", name
            assert undefined.detail.endswith("."), name


def test_a_crafted_journal_is_refused_in_one_sentence(loopladder: Command, tmp_path: Path) -> None:
    started = _start(tmp_path, *SLOW)
    journal = _wait_for_entries(tmp_path, 2)
    started.kill()
    started.communicate(timeout=60)
    lines = journal.read_bytes().split(b"\n")
    lines[0] = json.dumps({**json.loads(lines[0]), "id": "../../../evil"}).encode()
    journal.write_bytes(b"\n".join(lines))
    os.mkfifo(journal.with_name("20991130T052031Z-3f9a1c.journal"))
    done = loopladder("run", *SLOW, "--resume")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "no interrupted run" in done.stderr
    assert not list(tmp_path.parent.glob("**/evil*"))


def test_the_same_runtime_twice_is_measured_once(loopladder: Command) -> None:
    reference = "seams.runtimes.reference:make"
    words = ("--runtime", "reference", "reference", reference)
    done = loopladder("run", "--kpi", "denies", *words, "--quick", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert [item["runtime"] for item in json.loads(done.stdout)["readings"]] == ["reference"]
    assert "The runtime reference is given twice; it is measured once." in done.stderr
    assert f"The runtime {reference} is given twice (as reference); it is measured once." in done.stderr


def _session(*lines: str) -> str:
    answer = {"content": [{"type": "text", "text": "good"}], "usage": {"input_tokens": 5, "output_tokens": 2}}
    whole = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "hello"}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "requestId": "r1", "message": {"id": "m1", **answer}},
    ]
    session = {"sessionId": "s", "timestamp": "2026-11-30T05:20:31.000Z", "version": "2.0.0"}
    whole[1]["message"] |= {"role": "assistant", "model": "m"}  # type: ignore[operator]
    return "\n".join([*(json.dumps({**line, **session}) for line in whole), *lines]) + "\n"


def test_lines_of_a_workload_that_are_lost_are_counted_and_said(loopladder: Command, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(_session("no line of ours", "nor this"))
    words = ("--kpi", "turns_saved", "--workload", "one.jsonl", "--quick", "--dry-run")
    done = loopladder("run", *words)
    assert done.returncode == 6, done.stderr
    assert "2 lines of one.jsonl could not be read: 2 lines (3, 4) are nothing that this format writes" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    (tmp_path / "one.jsonl").write_text(_session("no line of ours"))
    assert "1 line of one.jsonl could not be read: Line 3 is" in loopladder("run", *words).stderr
    torn = _session('{"type": "us')
    (tmp_path / "one.jsonl").write_text(torn.rstrip("\n"))
    done = loopladder("run", *words)
    assert done.returncode == 6
    assert "1 line of one.jsonl could not be read: The file ends in the middle of line 3" in done.stderr


def test_what_a_reader_remarks_is_said_and_no_failure(loopladder: Command, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(_session().encode() + b"\0" * 9)
    done = loopladder("run", "--kpi", "turns_saved", "--workload", "one.jsonl", "--quick", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "one.jsonl was read with a remark: The file ends in NUL bytes after line 2" in done.stderr
