"""Streams that are closed, full or narrow, signals that come early or are ignored: a sentence and the right code."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli import run_end, streams
from harness.cli.main import main
from harness.project import Project
from tests.harness.cli.own import REPO
from tests.harness.jobs.recorded import Lab

BASH = ("bash", "-c")
QUICK = "run --kpi denies --quick"


def shell(folder: Path, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``command`` in a shell, where ``$H`` is our own."""
    everything = {**os.environ, "PYTHONPATH": str(REPO), "H": f"{sys.executable} -m harness", **environment}
    return subprocess.run([*BASH, command], cwd=folder, env=everything, capture_output=True, text=True, check=False)


def kept(folder: Path) -> int:
    return len(list(folder.glob(".harness/runs/*.json")))


@pytest.mark.parametrize(("columns", "widest"), [("", 80), ("200", 80), ("50", 50)])
def test_a_note_is_wrapped_between_words(
    columns: str, widest: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    words = " ".join(["A", "sentence", "with", "--options", "and\x1b[31m"] * 12)
    streams.note(words)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 2
    assert widest - 12 < max(map(len, lines)) <= widest
    assert " ".join(map(str.strip, lines)) == f"loopladder: {words}".replace("\x1b[31m", "")


def test_a_closed_output_costs_the_page_and_not_the_run(tmp_path: Path) -> None:
    done = shell(tmp_path, f"$H {QUICK} >&-")
    assert done.returncode == 70
    assert "standard output is closed" in done.stderr
    assert "The run is kept at" in done.stderr
    assert done.stderr.count("\n") == 1
    assert kept(tmp_path) == 1


def test_a_closed_standard_error_does_not_mix_into_the_output(tmp_path: Path) -> None:
    done = shell(tmp_path, f"$H {QUICK} --json - 2>&-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["complete"]


def test_all_streams_closed_still_measures(tmp_path: Path) -> None:
    done = shell(tmp_path, f"$H {QUICK} <&- >&- 2>&-")
    assert done.returncode == 70
    (run,) = tmp_path.glob(".harness/runs/*.json")
    assert json.loads(run.read_text())["complete"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("--help >/dev/full", 70, "No space left"),
        ("--version >&-", 70, "standard output is closed"),
        ("list >&-", 70, "standard output is closed"),
        ("list nothing-of-that-name 2>&-", 5, ""),
        ("explain nothing-of-that-name 2>/dev/full", 2, ""),
        ("list <&-", 0, ""),
    ],
)
def test_the_exit_code_is_ours_whatever_the_streams_are(
    words: str, code: int, says: str, unbuffered: str, tmp_path: Path
) -> None:
    done = shell(tmp_path, f"$H {words}", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert done.stderr.count("\n") == bool(says)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("list", 0),
        ("list --status nonsense 2>&1", 2),
        ("explain nothing-of-that-name 2>&1", 2),
        ("--help", 0),
        ("catalog --check", 1),
        ("authority --check", 1),
        ("authority --strict", 1),
        ("ratchet check --run run.json --verbose", 4),
        ("ratchet check --run run.json --json - 2>&1", 4),
        ("ratchet check --run nothing.json 2>&1", 2),
        ("gate --from a.json a.json", 5),
        ("run --kpi nothing-of-that-name 2>&1", 2),
    ],
)
def test_a_reader_that_goes_away_changes_no_exit_code(words: str, code: int, unbuffered: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("It takes 5 ms.\n" * 5000)
    lab = Lab(tmp_path)
    lab.file(lab.run(0))
    for name in ("pyproject.toml", "KPI-CATALOG.md"):
        (tmp_path / name).write_text("[tool.harness]\n")
    benches = [{"metadata": {"name": f"b{n}"}, "runs": [{"values": [1.0, 2.0]}]} for n in range(200)]
    (tmp_path / "a.json").write_text(json.dumps({"version": "1.0", "metadata": {}, "benchmarks": benches}))
    done = shell(tmp_path, f"($H {words}; echo $? > code) | true", PYTHONUNBUFFERED=unbuffered)
    assert int((tmp_path / "code").read_text()) == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "could not be written" not in done.stderr


def test_what_a_command_does_after_its_reader_has_gone_is_done(tmp_path: Path) -> None:
    done = shell(tmp_path, f"($H {QUICK} --json run.json; echo $? > code) | true")
    assert (tmp_path / "code").read_text() == "0\n", done.stderr
    assert json.loads((tmp_path / "run.json").read_text())["complete"]


@pytest.mark.parametrize(
    "narrow",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_an_output_without_a_character_is_no_fault(narrow: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    (tmp_path / "bench" / "own.toml").write_text(
        '[kpi.own]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "Wie spät?"\nfence = "Käthe"\nunit = "ns"\n'
        'direction = "lower"\nestimand = "call-mean"\nprobe = "a:B"\n',
        encoding="utf-8",
    )
    helped = shell(tmp_path, "$H --help", **narrow)
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.isascii()
    assert "\\x" not in helped.stdout
    listed = shell(tmp_path, "$H list own", **narrow)
    assert (listed.returncode, listed.stderr) == (0, "")
    as_json = shell(tmp_path, "$H explain own --json", **narrow)
    assert json.loads(as_json.stdout)["kpi"]["question"] == "Wie spät?"


def test_a_terminal_that_goes_away_under_the_progress_line_costs_nothing(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(REPO), "TERM": "xterm"}
    command = [sys.executable, "-m", "harness", "run", "--kpi", "denies", "engine_calls", "--quick", "--json", "-"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=theirs) as started:
        os.close(theirs)
        assert b"denies" in os.read(ours, 4096)
        os.close(ours)
        assert started.stdout is not None
        assert json.loads(started.stdout.read())["complete"]
    assert started.returncode == 0
    assert kept(tmp_path) == 1


def _wait_for_a_journal(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not any(journal.read_bytes().count(b"\n") > 2 for journal in folder.glob(".harness/runs/*.journal")):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_signal_that_was_ignored_when_we_were_started_stays_ignored(tmp_path: Path) -> None:
    command = f"trap '' HUP INT; exec {sys.executable} -m harness run --kpi planner_optimize_ns --quick"
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    with subprocess.Popen([*BASH, command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as started:
        _wait_for_a_journal(tmp_path)
        started.send_signal(signal.SIGHUP)
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=120)
    assert started.returncode == 0
    (run,) = tmp_path.glob(".harness/runs/*.json")
    assert json.loads(run.read_text())["complete"]


EARLY = """
import os, signal, sys
class Early:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Early())
from harness.cli.main import main
sys.exit(main(["list"]))
"""


@pytest.mark.parametrize("name", ["harness.report.naming", "argparse", "harness.cli.run", "harness.jobs.rows"])
def test_ctrl_c_among_the_imports_ends_with_130_and_no_traceback(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run(
        [sys.executable, "-c", EARLY.format(name=name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_the_way_to_the_guard_imports_next_to_nothing() -> None:
    program = (
        "import sys, harness.cli.main; "
        "print(sorted({'typing', 're', 'argparse', 'contextlib', 'enum', 'shlex'} & set(sys.modules)))"
    )
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(REPO)!r}); {program}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize(("words", "code"), [("list", 2), (QUICK, 2), ("doctor", 2), ("--help", 0), ("schema kpi", 0)])
def test_a_folder_that_was_removed_under_us(words: str, code: int, tmp_path: Path) -> None:
    done = shell(tmp_path, f"mkdir gone && cd gone && rmdir ../gone && $H {words}")
    assert done.returncode == code, done.stderr
    assert done.stderr == (
        "loopladder: The current folder has been removed, so there is no project here. Go to one that exists: cd ~\n"
        if code
        else ""
    )


def test_too_many_open_files_is_said_as_such(tmp_path: Path) -> None:
    done = shell(tmp_path, f"ulimit -n 10; $H {QUICK}")
    assert done.returncode == 70
    assert "Too many files are open for one more" in done.stderr
    assert "ulimit -n 1024" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_folder_for_temporary_files_is_named_and_the_run_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/some where")
    full = OSError(28, "No space left on device")
    fresh = run_end.out_of_room(full, Project(tmp_path))
    assert "/some where, is full; see `df -h '/some where'`" in fresh
    assert "--resume" not in fresh
    (tmp_path / ".harness" / "runs").mkdir(parents=True)
    (tmp_path / ".harness" / "runs" / "x.journal").touch()
    assert run_end.out_of_room(full, Project(tmp_path)).endswith(
        "then give the same command again with --resume, since what was measured is kept."
    )


def test_no_room_while_measuring_is_no_lost_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.jobs.run.run", full)
    assert main(["run", "--kpi", "denies", "--quick"]) == 70
    assert "folder for temporary files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("doctor", "--json", "/proc/x"), "/proc takes no new files; choose another place"),
        (("doctor", "--json", "/tmp"), "it is a folder"),
        (("catalog",), "is read-only for you"),
    ],
)
def test_what_cannot_be_written_is_70(
    words: tuple[str, ...],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.jobs.doctor.measure_all", lambda _root: ())
    if words == ("catalog",):
        monkeypatch.setattr("harness.record.atomic._replace", read_only)  # the tests may run as one who may do all
    assert main(words) == 70
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1


def test_a_file_that_cannot_be_used_is_not_taken_for_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/some where")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.jobs.evidence.gather", denied)
    assert main(["list"]) == 70
    assert capsys.readouterr().err == (
        "loopladder: /some where cannot be used: Permission denied. See what it is: ls -ld '/some where'\n"
    )
