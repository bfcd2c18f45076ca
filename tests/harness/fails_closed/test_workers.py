"""A worker measures the tree that it was told, with the seed and in the environment that it was given."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random

import pytest

from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.measure.opening import Refused, require_subject
from harness.measure.pair_worker import Answers, serve
from harness.measure.pairs import SideJob, Unmeasured, calibrate
from harness.measure.schedule import draw
from tests.harness.cli.own import Command
from tests.harness.measure.jobs import hostile_job

PROBES = "tests.harness.fails_closed.probes"


@pytest.fixture
def two_trees(tmp_path: Path) -> tuple[Path, Path]:
    """The tree to be measured, whose package takes parts from all over the path, and another copy with a part more."""
    for name in ("tree", "elsewhere"):
        package = tmp_path / name / "shadowed_subject"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("import pkgutil\n__path__ = pkgutil.extend_path(__path__, __name__)\n")
    (package / "part.py").touch()
    return tmp_path / "tree", tmp_path / "elsewhere"


# https://github.com/airspeed-velocity/asv/issues/1417: both commits were measured with the module of one of them.
@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("elsewhere", "The package shadowed_subject was imported from"),
        ("tree", "The module shadowed_subject.part was imported from"),
    ],
)
def test_a_subject_that_comes_from_another_tree_is_no_number_even_if_it_comes_late(
    first: str, said: str, two_trees: tuple[Path, Path], repo: Path, tmp_path: Path
) -> None:
    tree, elsewhere = two_trees
    more = {"under_test": ["shadowed_subject"], "params": {"elsewhere": str(elsewhere), "first": first}}
    job = hostile_job("Base", repo, path=[str(tree), str(repo)], min_time=0.002, **more)
    side = SideJob({**job, "probe": f"{PROBES}:ImportsLate"}, INSTRUMENT, repo)
    with pytest.raises(Unmeasured, match=said) as caught:
        calibrate("base", side, draw(Random(1)), limit=60, folder=tmp_path)
    assert str(elsewhere) in caught.value.detail


def test_a_module_of_the_tree_itself_is_no_stranger(repo: Path) -> None:
    require_subject({"under_test": ["harness", "no_such_package"], "path": [str(repo)]})
    with pytest.raises(Refused, match=r"The package harness was imported from .*, not from the project"):
        require_subject({"under_test": ["harness"], "path": [str(repo / "docs")]})


# https://github.com/psf/pyperf/issues/47 and /85: the environment and UTF-8 mode were lost on the way to the worker.
@pytest.mark.parametrize("utf8", ["0", "1"])
def test_a_worker_has_the_environment_of_its_parent_and_the_seed_that_it_was_told(
    utf8: str, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS_CLOSED_MARK", "there")
    monkeypatch.setenv("PYTHONUTF8", utf8)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    job = {**hostile_job("Base", repo, estimand="count", timed=False), "probe": f"{PROBES}:Surroundings"}
    answer = launch({**job, "task": "tally", "limit": 30}, seed=71, limit=30, folder=tmp_path, cwd=tmp_path)
    assert answer.undefined is None
    assert answer.result["tally"]["evidence"] == [
        "FAILS_CLOSED_MARK=there",
        "PYTHONHASHSEED=71",
        f"utf8_mode={utf8}",
        "safe_path=1",
        "hash_randomization=1",
        f"cwd={tmp_path.resolve()}",
    ]


def test_a_side_of_a_pair_refuses_a_seed_that_is_not_its_own(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hash seeds alone move instructions by more than an edit does."""
    monkeypatch.setenv("PYTHONHASHSEED", "71")
    heard = io.BytesIO()
    serve({**hostile_job("Base", repo), "seed": "72"}, io.BytesIO(b"calibrate\n"), Answers(heard, ""))
    (line,) = heard.getvalue().strip().splitlines()
    detail = json.loads(line)["undefined"]["detail"]
    assert detail == "The worker runs with hash seed 71, not with 72 as it was told."


# https://github.com/psf/pyperf/issues/110: the set-up of each of 1,600 benchmarks was paid in every worker.
def test_a_kpi_does_not_pay_for_the_set_up_of_another(loopladder: Command, repository: Path) -> None:
    marks = repository / "imported"
    costly = f"from pathlib import Path\n\nPath({str(marks)!r}).touch()\n"
    (repository / "bench" / "costly.py").write_text(costly + (repository / "bench" / "probes.py").read_text())
    rows = repository / "bench" / "kpis.toml"
    row = rows.read_text().partition("[kpi.work_count]")[2].replace("bench.probes", "bench.costly")
    rows.write_text(f"{rows.read_text()}\n[kpi.costly_count]{row}")
    assert loopladder("run", "--kpi", "work_count", "--quick", cwd=repository).returncode == 0
    assert not marks.exists()
    assert loopladder("run", "--kpi", "costly_count", "--quick", cwd=repository).returncode == 0
    assert marks.exists()


# https://github.com/psf/pyperf/issues/29: a program that was started with -m could not start its workers.
def test_workers_start_from_any_folder_of_a_project(loopladder: Command, repository: Path) -> None:
    """Ours is always started with -m, and the folder that it is started in is not the worker's path."""
    (repository / "bench" / "harness").mkdir()
    (repository / "bench" / "harness" / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    done = loopladder("run", "--kpi", "work_ns", "--quick", "--json", "-", cwd=repository / "bench" / "harness")
    assert done.returncode == 0, done.stderr
    assert [each["kpi"] for each in json.loads(done.stdout)["readings"]] == ["work_ns"]
