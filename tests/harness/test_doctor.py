"""The doctor: facts into advice, start-up against its budget, and exit code 0 whatever is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import doctor as command
from harness.cli.main import main
from harness.jobs import doctor as job
from harness.jobs.doctor import Diagnosis, of_calibration
from harness.jobs.doctor_finding import Finding, Severity
from harness.record.floors import calibration
from harness.report import naming
from tests.harness.jobs.machines import BARE, LINUX, QUIET


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
