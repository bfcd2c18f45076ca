"""The doctor: facts into advice, start-up against its budget, and exit code 0 whatever is found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli import doctor as command
from harness.cli.main import main
from harness.jobs import doctor as job
from harness.jobs import startup
from harness.jobs.doctor import (
    Diagnosis,
    Finding,
    Severity,
    of_calibration,
    of_clock,
    of_environment,
    of_noise,
    of_start,
)
from harness.jobs.startup import StartUp, measure_all, site_hooks, time_ready, time_whole
from harness.record.floors import calibration
from harness.report import naming

LINUX = {"system": "Linux", "cores": 4, "clocksource": "tsc"}
QUIET: dict[str, Any] = {
    "affinity": [0, 1, 2, 3],
    "aslr": 2,
    "container": False,
    "governor": "performance",
    "load_average": [0.25, 0.5, 0.75],
    "running": 0,
    "smt": False,
    "steal": 0.0,
    "swap_used": 0,
    "temperature": 45.0,
    "turbo": False,
    "virtual_machine": False,
}


def test_a_calibration_that_cannot_be_used_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "baselines" / "my box" / "calibration.json"
    path.parent.mkdir(parents=True)
    assert of_calibration(path) == []
    path.write_bytes(calibration("my box", {}, None))
    assert of_calibration(path) == []
    for blob, why in ((b"{", "Expecting property name"), (b"{}", "it is not a harness.calibration/1 file")):
        path.write_bytes(blob)
        (finding,) = of_calibration(path)
        assert finding.severity is Severity.NOISY
        assert f"{path}, cannot be used: {why}" in finding.fact
        assert finding.advice == f"Put it back with `git checkout -- '{path}'`."


@pytest.mark.parametrize("words", [("doctor",), ("gate", "--against", "HEAD"), ("run", "--kpi", "denies")])
@pytest.mark.parametrize("name", ["README.md", "docs/page.md", "BENCHMARK-AUTHORITY.md", "baselines/box/turn.toml"])
def test_what_a_project_keeps_is_not_written_over(
    words: tuple[str, ...],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("kept\n")
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--json", name]) == 2
    assert path.read_text() == "kept\n"
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["gate", "--from", "a.json", "b.json", "--json", name]) == 2
    assert path.read_text() == "kept\n"


def only(findings: list[Finding], severity: Severity) -> list[Finding]:
    return [finding for finding in findings if finding.severity is severity]


def test_a_quiet_machine_gets_no_advice() -> None:
    found = of_noise(QUIET, LINUX)
    assert [finding.severity for finding in found] == [Severity.GOOD]
    assert found[0].fact == "The load average is 0.25 on 4 cores."
    assert of_environment({"variables": {}, "debug_build": False}) == []


@pytest.mark.parametrize(
    ("key", "value", "severity", "fact", "advice"),
    [
        ("load_average", [2.5, 0, 0], Severity.NOISY, "The load average is 2.5 on 4 cores.", "`top"),
        ("running", 1, Severity.NOISY, "1 other process is running", "`ps "),
        ("running", 3, Severity.NOISY, "3 other processes are running", "`ps "),
        ("steal", 0.034, Severity.NOISY, "The host has taken 3.4% of", "`python -m harness run --all --full`"),
        ("swap_used", 5 * 2**20, Severity.NOISY, "5 MiB are swapped out.", "`ps "),
        ("governor", "powersave", Severity.NOISY, "governor is powersave", "`sudo cpupower"),
        ("turbo", True, Severity.NOISY, "Turbo is on", "pyperf system tune`"),
        ("smt", True, Severity.NOTE, "Two hardware threads", "`taskset -c 0,2"),
        ("aslr", 0, Severity.NOISY, "randomisation is at level 0", "`sudo sysctl kernel.randomize_va_space=2`"),
        ("affinity", [0, 1], Severity.NOTE, "may use 2 of 4 cores", "`taskset -p"),
        ("container", True, Severity.NOTE, "This is a container:", "`python -m harness run --all`"),
        ("virtual_machine", True, Severity.NOTE, "This is a virtual machine:", "`python -m harness run --all`"),
    ],
)
def test_each_disturbance_is_a_fact_with_something_to_type(
    key: str, value: object, severity: Severity, fact: str, advice: str
) -> None:
    found = [finding for finding in of_noise({**QUIET, key: value}, LINUX) if finding.severity is not Severity.GOOD]
    assert len(found) == 1
    assert found[0].severity is severity
    assert fact in found[0].fact
    assert advice in (found[0].advice or "")


def test_one_core_and_another_system_are_said() -> None:
    assert any(
        "There is one core" in finding.fact for finding in of_noise({**QUIET, "affinity": None}, {**LINUX, "cores": 1})
    )
    assert any("This is Darwin" in finding.fact for finding in of_noise(QUIET, {**LINUX, "system": "Darwin"}))


def test_what_cannot_be_read_is_said_once_and_is_not_good_news() -> None:
    found = of_noise(dict.fromkeys(QUIET), {})
    assert only(found, Severity.GOOD) == []
    named = next(finding.fact for finding in found if "could not be read" in finding.fact)
    assert all(key in named for key in QUIET)


@pytest.mark.parametrize("name", ["PYTHONDEVMODE", "PYTHONMALLOC", "PYTHONTRACEMALLOC", "PYTHONASYNCIODEBUG"])
def test_variables_that_slow_python_down_are_noisy(name: str) -> None:
    (found,) = of_environment({"variables": {name: "1"}})
    assert found.severity is Severity.NOISY
    assert found.advice == f"`unset {name}`."


def test_a_fixed_hash_seed_and_a_debug_build_are_said() -> None:
    assert of_environment({"variables": {"PYTHONHASHSEED": "random"}}) == []
    (seed,) = of_environment({"variables": {"PYTHONHASHSEED": "0"}})
    assert seed.severity is Severity.NOTE
    (debug,) = of_environment({"debug_build": True})
    assert debug.severity is Severity.NOISY


@pytest.mark.parametrize(
    ("overhead", "resolution", "source", "severity"),
    [
        (40.0, 1.0, "tsc", Severity.GOOD),
        (40.0, 1.0, None, Severity.GOOD),
        (1500.0, 1.0, "tsc", Severity.NOISY),
        (40.0, 15.6e6, None, Severity.NOISY),
        (400.0, 1.0, "hpet", Severity.NOISY),
    ],
)
def test_a_slow_or_coarse_clock_is_noisy(
    overhead: float, resolution: float, source: str | None, severity: Severity
) -> None:
    (found,) = of_clock({"overhead_ns": overhead, "resolution_ns": resolution}, source)
    assert found.severity is severity
    assert f"{overhead:.0f} ns" in found.fact


BARE = StartUp("python -c pass", "python -c pass", None, (10_000_000,), site_ns=2e6)


def test_start_up_is_printed_with_its_budget_and_the_interpreters_share() -> None:
    within = StartUp("harness list", "python -P -m harness list", 150, (90_000_000, 100_000_000, 170_000_000))
    over = StartUp("harness worker --ping", "python -P -m harness worker --ping", 40, (41_600_000,))
    failed = StartUp("harness x", "python -P -m harness x", 80, (), "exit code 1, it broke")
    bare, good, slow, broken = of_start((BARE, within, over, failed), ())
    assert bare.fact == "`python -c pass` takes 10 ms, 2 ms of it for site-packages."
    assert good == Finding(
        Severity.GOOD,
        "`python -m harness list` takes 100 ms of its budget of 150 ms, 10 ms of it the interpreter's own.",
        own=True,
    )
    assert slow.severity is Severity.NOISY
    assert "A worker takes 42 ms of its budget of 40 ms" in slow.fact
    assert slow.advice == "Find what it imports: `python -X importtime -P -m harness worker --ping`."
    assert broken.fact == "`python -m harness x` could not be timed: exit code 1, it broke."
    assert broken.advice == "Try it: `python -P -m harness x`."
    assert all(finding.own for finding in (bare, good, slow, broken))


def test_slow_site_packages_are_blamed_on_the_pth_files_by_name() -> None:
    slow = StartUp("python -c pass", "python -c pass", None, (30_000_000,), site_ns=20e6)
    (found,) = of_start((slow,), ("coverage.pth", "editable.pth"))
    assert found.severity is Severity.NOISY
    assert "there the files coverage.pth, editable.pth run at every start of Python." in found.fact
    assert of_start((BARE,), ("coverage.pth",))[0].severity is Severity.NOTE
    assert "the file coverage.pth runs at every start" in of_start((BARE,), ("coverage.pth",))[0].fact


def test_site_hooks_are_the_pth_files_that_run_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs.pth").write_text("import os; os.getcwd()\n")
    (tmp_path / "paths.pth").write_text("/somewhere/else\n# import nothing\n")
    monkeypatch.setattr(startup.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path), "platlib": str(tmp_path)})
    assert site_hooks() == ("runs.pth",)


def test_a_process_is_timed_to_its_end_or_until_it_says_ready(tmp_path: Path) -> None:
    assert time_whole((sys.executable, "-c", "pass"), tmp_path) > 0
    ready = "print(json.dumps({'ready_ns': time.clock_gettime_ns(time.CLOCK_MONOTONIC)}))"
    argv = (sys.executable, "-c", f"import json, time; {ready}; time.sleep(.3)")
    assert 0 < time_ready(argv, tmp_path) < time_whole(argv, tmp_path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit('it broke')", "exit code 1, it broke"),
        ("import sys; sys.exit(3)", "exit code 3, it said nothing"),
        ("print('not json')", "it did not say when it was ready, but 'not json'"),
        ("print('[]')", "it did not say when it was ready"),
    ],
)
def test_a_start_that_fails_is_a_reason_and_not_a_time(tmp_path: Path, code: str, words: str) -> None:
    timed = startup._timed("x", (sys.executable, "-c", code), 40, tmp_path, time_ready)
    assert timed.times_ns == ()
    assert timed.median_ns is None
    assert words in (timed.error or "")


def test_an_interpreter_that_is_not_there_is_a_reason_too(tmp_path: Path) -> None:
    assert all("did not start" in (each.error or "") for each in measure_all(tmp_path, str(tmp_path / "python")))


def diagnosis(*findings: Finding) -> Diagnosis:
    clock = {"overhead_ns": 40.0, "resolution_ns": 1.0}
    return Diagnosis("a-slug", LINUX, QUIET, {"variables": {}}, clock, (BARE,), findings)


def test_words_put_the_noisy_first_and_fit_the_width() -> None:
    text = command.in_words(
        diagnosis(Finding(Severity.GOOD, "All is well."), Finding(Severity.NOISY, "It is loud. " * 9, "`be --quiet`.")),
        50,
    )
    assert text.index("Noisy:") < text.index("It is loud.") < text.index("In order:") < text.index("All is well.")
    assert all(len(line) <= 50 for line in text.splitlines())
    assert text.splitlines()[-1].startswith("Next: python -m harness ")


def test_our_own_start_up_stands_apart_and_advice_has_the_name_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "_program", "loopladder")
    slow = Finding(Severity.NOISY, "`python -m harness list` takes 200 ms.", "`python -X importtime -m x`.", own=True)
    loud = Finding(Severity.NOISY, "It is loud.", "`taskset -c 0,2 python -m harness run --all`.")
    text = command.in_words(diagnosis(slow, Finding(Severity.GOOD, "Fine.", own=True), loud), 80)
    noisy, _, ours = text.partition("\nStart-up of loopladder itself:\n")
    assert "It is loud. `taskset -c 0,2 loopladder run --all`." in noisy
    assert "200 ms" not in noisy
    assert ours.startswith("  `loopladder list` takes 200 ms. `python -X importtime -m x`.\n  Fine.\n")
    assert text.splitlines()[-1] == "Next: loopladder run --layer turn --quick"


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    result = diagnosis(Finding(Severity.NOISY, "It is loud.\x1b[31m", None))
    monkeypatch.setattr(job, "examine", lambda _root: result)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_prints_and_exits_with_0_though_it_is_noisy(
    found: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "  It is loud.\n" in out
    assert "\x1b" not in out


def test_json_goes_to_standard_output_alone_or_to_a_file(found: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "harness.doctor/1"
    assert document["clock"]["overhead_ns"] == 40.0
    assert document["startup"][0]["median_ns"] == 10_000_000
    assert document["findings"] == [{"severity": "noisy", "fact": "It is loud.\x1b[31m", "advice": None, "own": False}]
    assert main(["doctor", "--json", "doctor.json"]) == 0
    assert json.loads((found / "doctor.json").read_text()) == document
    assert "It is loud." in capsys.readouterr().out


def test_an_unknown_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--nonsense"]) == 2
    assert "--nonsense" in capsys.readouterr().err


def test_a_real_examination_finds_start_up_clock_and_machine(tmp_path: Path) -> None:
    result = job.examine(tmp_path)
    assert [each.error for each in result.startup] == [None] * 6
    assert result.clock["overhead_ns"] >= 0
    assert result.findings
    assert json.dumps(command.document(result), allow_nan=False)
    assert all(finding.fact.endswith(".") for finding in result.findings)
