"""What a newcomer types next works: the command's own name, its status of a row of one's own, its pipes and widths."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.cli.own import REPO, SEAM, Command, row

HOSTILE = "tests.cases.probes.hostile"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The console script of an environment inside the project."""
    file = tmp_path / ".venv" / "bin" / "loopladder"
    file.parent.mkdir(parents=True)
    body = f"import sys\nsys.path.insert(0, {str(REPO)!r})\nfrom harness.cli.main import main\nsys.exit(main())\n"
    file.write_text(f"#!{sys.executable}\n{body}")
    file.chmod(0o755)
    return file


def call(folder: Path, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("list", "--status", "standing"), 5, "`{} list` shows all."),
        (("explain", "denies"), 0, "  {} run --kpi denies\n"),
        (("explain", "denys"), 2, "`{} list` shows all."),
        (("run",), 2, "See: {} list"),
        (("catalog", "--check"), 1, "run `{} catalog` and commit"),
        (("list", "--nonsense"), 2, "See: {} --help"),
        (("run", "--budget", "never"), 2, "See: {} run --help"),
    ],
)
def test_advice_can_be_typed_as_it_stands(
    words: tuple[str, ...], code: int, said: str, script: Path, tmp_path: Path
) -> None:
    reached = call(tmp_path, ".venv/bin/loopladder", *words)
    assert reached.returncode == code, reached.stderr
    assert said.format(".venv/bin/loopladder") in reached.stdout + reached.stderr
    on_path = call(tmp_path, "loopladder", *words, path=str(script.parent))
    assert said.format("loopladder") in on_path.stdout + on_path.stderr
    for done in (reached, on_path):
        assert "python -m harness" not in done.stdout + done.stderr


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("gate", "--help"), ("hook", "--help")])
def test_a_usage_has_our_name_and_not_the_path_of_the_script(
    words: tuple[str, ...], script: Path, tmp_path: Path
) -> None:
    reached = call(tmp_path, ".venv/bin/loopladder", *words).stdout
    assert reached.startswith("usage: loopladder ")
    assert ".venv" not in reached
    assert call(script.parent, str(script), *words).stdout == reached
    module = call(REPO, sys.executable, "-m", "harness", *words).stdout
    assert module.startswith("usage: python -m harness ")


def test_an_error_has_our_name_and_advice_that_can_be_typed(script: Path, tmp_path: Path) -> None:
    said = call(tmp_path, ".venv/bin/loopladder", "run", "--budget", "never").stderr
    assert said.startswith("usage: loopladder run ")
    assert "\nloopladder run: " in said
    assert said.endswith(" See: .venv/bin/loopladder run --help\n")


def test_help_keeps_to_80_columns(loopladder: Command) -> None:
    assert max(map(len, loopladder("--help").stdout.splitlines())) <= 80


def test_a_row_of_ones_own_stands_after_a_run_of_it_alone(loopladder: Command, project: Path) -> None:
    (project / "bench" / "own.toml").write_text(SEAM + row("own_ns", f"{HOSTILE}:Base"))
    assert "own_ns  proposed" in loopladder("list", "own_").stdout
    assert loopladder("run", "--kpi", "own_ns", "--quick").returncode == 0
    assert "own_ns  standing" in loopladder("list", "own_").stdout
    (run,) = (project / ".harness" / "runs").glob("*.json")
    assert f"by run {run.stem}\n" in loopladder("explain", "own_ns").stdout


def test_a_reader_of_a_run_that_goes_away_is_no_error_and_costs_no_file(tmp_path: Path) -> None:
    command = f"{sys.executable} -m harness run --kpi denies --quick --json run.json | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert (tmp_path / "run.json").is_file()


def test_the_run_that_no_one_reads_ends_with_0(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "run", "--kpi", "denies", "--quick"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPO)},
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_in_a_pipe_all_commands_have_the_same_width(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    for words in (("list",), ("explain", "turn_spawn_ns"), ("doctor",), ("run", "--kpi", "safety_floor", "--quick")):
        done = subprocess.run(
            [sys.executable, "-m", "harness", *words],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(REPO)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert 80 < max(map(len, done.stdout.splitlines())) <= 100, words
