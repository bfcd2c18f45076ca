"""Words, names and files that were made to harm: what is shown is inert, and what is read is not written over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.cli.targets import foreign
from harness.cli.words import is_input

CALLS = '{"slice_id": "s", "calls": [{"tool": "search_flights", "args": {}}]}'


@pytest.fixture
def err(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command in an empty project: its exit code and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str]:
        return main(words), capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "\x1b[31mx"),
        ("list", "--layer", "\x1b[31mturm"),
        ("list", "--status", "a\nb"),
        ("list", "--gate", "\x9b31m"),
        ("run", "--kpi", "a\nb"),
        ("run", "--kpi", "denies", "--runtime", "\x1b]0;owned\x07"),
        ("run", "--kpi", "denies", "--param", "a\nb=\x1b[1m"),
        ("run", "--kpi", "denies", "--workload", "no\nwhere"),
        ("list", "--\x1b[31mfoo"),
    ],
)
def test_what_was_typed_is_shown_inert_and_on_one_line(words: tuple[str, ...], err) -> None:
    code, said = err(*words)
    assert code == 2
    *usage, sentence = said.removesuffix("\n").split("\n")
    assert not usage or usage[0].startswith("usage: ")
    assert sentence.isprintable()


@pytest.mark.parametrize("budget", ["49h", "48.1h", "172801", "999999h"])
def test_a_budget_of_more_than_a_weekend_is_refused(budget: str, err) -> None:
    code, said = err("run", "--kpi", "denies", "--budget", budget)
    assert code == 2
    assert "is longer than 48h, which is the most" in said


def test_a_budget_of_a_weekend_is_taken(err) -> None:
    assert err("run", "--kpi", "denies", "--budget", "48h", "--dry-run") == (0, "")


@pytest.mark.parametrize("target", ["calls.json", "link.json", "hard.json", "./x/../calls.json", "broken.json"])
def test_a_workload_is_not_written_over(target: str, err, tmp_path: Path) -> None:
    workload = tmp_path / "calls.json"
    workload.write_text(CALLS)
    (tmp_path / "link.json").symlink_to(workload)
    (tmp_path / "hard.json").hardlink_to(workload)
    (tmp_path / "x").mkdir()
    (tmp_path / "broken.json").write_text("{")
    words = ("run", "--kpi", "engine_calls", "--quick", "--workload", "calls.json", "broken.json")
    code, said = err(*words, "--json", target)
    assert code == 2
    assert "names an input and would replace it" in said
    assert workload.read_text() == CALLS
    assert (tmp_path / "broken.json").read_text() == "{"
    assert not list(tmp_path.glob(".harness/runs/*"))


@pytest.mark.parametrize("target", ["pyproject.toml", "bench/own.toml"])
def test_the_projects_own_files_are_not_written_over(target: str, err, tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "own.toml").write_text("# none yet\n")
    (tmp_path / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    before = (tmp_path / target).read_text()
    code, said = err("run", "--kpi", "denies", "--quick", "--json", target)
    assert (code, "names an input" in said) == (2, True)
    assert (tmp_path / target).read_text() == before


def test_the_doctor_does_not_write_over_the_project(err, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.harness]\n")
    code, said = err("doctor", "--json", "pyproject.toml")
    assert (code, "the project's own file" in said) == (2, True)
    assert (tmp_path / "pyproject.toml").read_text() == "[tool.harness]\n"


def test_another_file_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    assert not is_input(str(tmp_path / "a"), [tmp_path / "b", tmp_path / "nowhere"])
    assert is_input(str(tmp_path / "nowhere"), [tmp_path / "nowhere"])


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--kpi", "denies", "--quick"),
        ("gate", "--against", "HEAD", "--kpi", "denies"),
        ("gate", "--from", "a.json", "b.json"),
        ("ratchet", "check"),
        ("replay", "."),
        ("doctor",),
    ],
)
@pytest.mark.parametrize("name", ["turn.py", "link.py", "package.json"])
def test_what_we_did_not_write_is_not_written_over(words: tuple[str, ...], name: str, err, tmp_path: Path) -> None:
    """The code that is measured is on no list of inputs, and may be on no record either."""
    (tmp_path / "turn.py").write_text("work = 1\n")
    (tmp_path / "link.py").symlink_to("turn.py")
    (tmp_path / "package.json").write_text('{"schema": "mine"}')
    before = (tmp_path / name).read_bytes()
    code, said = err(*words, "--json", name)
    assert code == 2
    assert said.startswith("loopladder: --json ")
    assert f"--json {name} " in said
    assert " Name a new" in said
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b"", False),
        (b'{"schema": "harness.run/1"}', False),
        (b'{"a": {"schema": 3}, "schema": "harness.gate/1"}\n', False),
        (b'{"schema": "harness.run/1"', True),
        (b'{"schema": "harnessed"}', True),
        (b'{"a": {"schema": "harness.run/1"}}', True),
        (b'["harness.run/1"]', True),
        (b"schema = 'harness.baseline/1'\n", True),
        (b"[" * 100_000, True),
        (b"\xff\xfe", True),
    ],
)
def test_a_result_of_ours_may_be_replaced_and_an_empty_file_filled(body: bytes, refused: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(body)
    said = foreign(str(tmp_path / "file"), "run.json")
    assert (said is not None) is refused
    assert said is None or said.endswith("did not write. Name a new file: --json run.json")


def test_what_is_no_file_is_left_to_the_writing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in ("pipe", "nowhere/new.json", "a\0b", "."):
        assert foreign(str(tmp_path / target), "run.json") is None
    assert foreign("-", "run.json") is None
    assert foreign(None, "run.json") is None


def test_a_plan_has_no_gate_file_to_write(err, tmp_path: Path) -> None:
    code, said = err("gate", "--against", "HEAD", "--plan", "--json", "plan.json")
    assert (code, "leave out --json" in said) == (2, True)
    assert not list(tmp_path.iterdir())


def test_of_two_files_of_one_name_the_one_that_is_no_json_is_named_whole(err, tmp_path: Path) -> None:
    for folder, body in (("old", "[]"), ("new", "null")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bench.json").write_text(body)
    assert "loopladder: old/bench.json is in none of the known" in err("gate", "--from", "old/bench.json", "x")[1]
    assert "loopladder: new/bench.json is in none of the known" in err("gate", "--from", "new/bench.json", "x")[1]
    assert "loopladder: /dev/null is not JSON" in err("gate", "--from", "/dev/null", "x")[1]
    deep = tmp_path / ("d" * 60)
    deep.mkdir()
    (deep / "bench.json").write_text("{")
    assert "dd/bench.json is not JSON" in err("gate", "--from", str(deep / "bench.json"), "x")[1]
