"""The suite of forty points: each does its work, three of them alone touch one module, and it is laid out whole."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from ci.gatebench.suite import EDITS, PROJECT, edit, kpi_ids, lay_out, main
from harness.measure.clock import WorkNotDoneError
from kpis.registry import Catalog, extend, load
from kpis.terms.kpi import Gate, Kpi


def catalog() -> Catalog:
    file = PROJECT / "bench" / "kpis.toml"
    return extend(load(), "bench/kpis.toml", file.read_bytes())


def of_suite() -> list[Kpi]:
    found = catalog()
    return [found.get(name) for name in kpi_ids()]


def test_it_has_forty_timed_points() -> None:
    assert sum(len(kpi.points()) for kpi in of_suite()) == 40
    assert all(kpi.estimand.timed and kpi.gate is Gate.TIMED for kpi in of_suite())


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The suite's probes can be imported; they are forgotten afterwards, for other projects have a ``bench`` too."""
    monkeypatch.syspath_prepend(str(PROJECT))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "bench"]:
        del sys.modules[name]


@pytest.mark.usefixtures("probes")
@pytest.mark.parametrize("kpi", of_suite(), ids=lambda kpi: kpi.id)
def test_each_point_does_its_work_and_shows_it(kpi: Kpi) -> None:
    module, _, name = (kpi.probe or "").partition(":")
    opened = getattr(import_module(module), name)()
    for point in kpi.points():
        made = opened.open(kpi.id, None, None, point)
        assert made.checked
        made.check(made.batch(2)())
        with pytest.raises((WorkNotDoneError, AttributeError, TypeError)):
            made.check(0)


@pytest.mark.parametrize("module", ["planning", "calls", "bodies", "turns"])
def test_three_points_alone_touch_the_module_of_the_edit(module: str, repo: Path) -> None:
    script = f"import bench.{module}, sys, json; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(PROJECT)!r}, {str(repo)!r}]; {script}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    touched = EDITS["three"].removesuffix(".py").replace("/", ".") in json.loads(done.stdout)
    assert touched == (module == "turns")
    points = [point for kpi in of_suite() if kpi.seam == f"suite/{module}" for point in kpi.points()]
    assert (len(points) == 3) == touched


def test_it_is_laid_out_as_one_commit_by_somebody_whom_git_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    root = lay_out(tmp_path)
    monkeypatch.delenv("GIT_DIR")

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout

    assert len(git("log", "--format=%h").split()) == 1
    assert {path.partition("/")[0] for path in git("ls-files").splitlines()} == {
        *("seams", "kpis", "harness", "bench"),
        *(".gitignore", "pyproject.toml"),
    }
    assert git("status", "--porcelain") == ""
    assert edit(root, "three") == 1
    assert git("diff", "--name-only").split() == ["seams/turn/view.py"]
    many = edit(root, "none-slower")
    assert len(git("diff", "--name-only").split()) == many > 20


def test_an_unknown_edit_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--edit", "everything"])
    assert left.value.code == 2
    assert "none-slower" in capsys.readouterr().err
