"""Links, pipes and folders in the place of what a project keeps: refused by name, not followed out, not waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.main import main
from harness.record.atomic import require_inside, write_atomic
from harness.record.baseline_read import BaselineError
from harness.record.floors import write_floors
from harness.record.store import StoreError, new_id, runs_dir, save
from harness.record.streams import append, read_file
from harness.record.trials import Kind, Trial, TrialError
from tests.harness.jobs.recorded import SLUG, Lab
from tests.harness.record.example import example


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outside")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["baselines", f"baselines/{SLUG}", f"baselines/{SLUG}/runs"])
def test_a_record_is_not_written_through_a_link_that_leads_out(lab: Lab, outside: Path, name: str) -> None:
    (lab.root / name).parent.mkdir(parents=True, exist_ok=True)
    (lab.root / name).symlink_to(outside)
    with pytest.raises(StoreError, match=rf"{name} is a link that leads out of the project, to {outside}, and noth"):
        lab.accept(lab.run(0))
    assert everything(outside) == {}


def test_a_file_of_the_record_is_not_written_through_a_link_that_leads_out(lab: Lab, outside: Path) -> None:
    lab.sessions(1)
    path, theirs = lab.root / "baselines" / SLUG / "turn.toml", outside / "theirs.toml"
    path.rename(theirs)
    path.symlink_to(theirs)
    before, runs = everything(outside), sorted((lab.root / "baselines" / SLUG / "runs").iterdir())
    with pytest.raises(StoreError, match=r"turn\.toml is a link that leads out of the project"):
        lab.accept(lab.run(1))
    assert everything(outside) == before
    assert sorted((lab.root / "baselines" / SLUG / "runs").iterdir()) == runs  # nor is the run file, which comes first


def test_a_link_inside_the_project_is_followed(lab: Lab) -> None:
    (lab.root / "kept").mkdir()
    (lab.root / "baselines").symlink_to("kept")
    lab.accept(lab.run(0))
    assert (lab.root / "kept" / SLUG / "turn.toml").is_file()


@pytest.mark.parametrize("name", [".harness", ".harness/runs"])
def test_a_run_is_not_kept_through_a_link_that_leads_out(tmp_path: Path, outside: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(outside)
    for write in (lambda: runs_dir(tmp_path), lambda: save(tmp_path, example(id=new_id(datetime.now(UTC))))):
        with pytest.raises(StoreError, match=f"{name} is a link that leads out of the project"):
            write()
    assert everything(outside) == {}


@pytest.mark.parametrize("name", ["baselines", "baselines/box", "baselines/box/streams"])
def test_a_trial_and_a_calibration_are_not_written_through_one(tmp_path: Path, outside: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).symlink_to(outside)
    with pytest.raises(StoreError, match=f"{name} is a link that leads out of the project"):
        append(tmp_path, Trial("a", Kind.NULL, 1.0, 1, "box", "x", ((1.0, 1.0),)))
    if not name.endswith("streams"):
        with pytest.raises(StoreError, match=f"{name} is a link that leads out of the project"):
            write_floors(tmp_path, "box", {}, None)
    assert everything(outside) == {}


def test_a_link_that_leads_out_is_no_fault_of_ours(
    lab: Lab, outside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lab.root)
    (lab.root / "baselines").symlink_to(outside)
    (lab.root / "pyproject.toml").write_text("[tool.harness]\n")
    lab.file(lab.run(0))
    assert main(["ratchet", "accept", "--run", "run.json"]) == Exit.UNUSABLE
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "is a link that leads out of the project" in said
    (lab.root / "KPI-CATALOG.md").symlink_to(outside / "page.md")
    assert main(["catalog"]) == Exit.UNUSABLE
    assert everything(outside) == {}


def test_what_lies_outside_by_its_own_name_is_the_business_of_whoever_names_it(tmp_path: Path, outside: Path) -> None:
    write_atomic(outside / "run.json", b"x")
    (tmp_path / "deep").symlink_to(outside)
    with pytest.raises(StoreError, match="deep is a link"):
        write_atomic(tmp_path / "deep" / "er" / "x.json", b"x", within=tmp_path)
    require_inside(tmp_path / "circle", tmp_path)
    assert everything(outside) == {"run.json": b"x"}


def circle(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, circle, lambda path: path.symlink_to("nowhere")])
@pytest.mark.parametrize("stem", ["turn", "syscall", "release"])
def test_what_is_no_file_is_not_taken_for_a_record_that_is_missing(
    lab: Lab, make: Callable[[Path], None], stem: str
) -> None:
    lab.sessions(1)
    path = lab.root / "baselines" / SLUG / f"{stem}.toml"
    path.unlink(missing_ok=True)
    make(path)
    for act in (lambda: lab.check(lab.run(1)), lambda: lab.accept(lab.run(1))):
        with pytest.raises(BaselineError, match=rf"{stem}\.toml cannot be read: .*; see `ls -ld "):
            act()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_run_file_that_is_none_is_named(lab: Lab, make: Callable[[Path], None]) -> None:
    lab.sessions(1)
    (run,) = (lab.root / "baselines" / SLUG / "runs").iterdir()
    run.unlink()
    make(run)
    with pytest.raises(BaselineError, match=f"rests on baselines/{SLUG}/runs/{run.name}, and it is no regular file"):
        lab.check(lab.run(1))


def test_a_stream_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "null.jsonl")
    with pytest.raises(TrialError, match="cannot be read: it is no regular file"):
        list(read_file(tmp_path / "null.jsonl"))


def test_advice_names_no_option_that_was_not_given(tmp_path: Path) -> None:
    circle(tmp_path / "turn.toml")
    for path in (tmp_path, tmp_path / ("n" * 300), tmp_path / "turn.toml" / "x"):
        with pytest.raises(StoreError) as caught:
            write_atomic(path, b"x")
        assert "--json" not in str(caught.value)
