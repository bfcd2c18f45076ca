"""A test of pytest-benchmark's as a slice: what it may do with the fixture, and what is not measured and why."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.gating.pytest_points import point_of
from harness.measure.answer import Answer
from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.measure.pairs import Load, SideJob, Unmeasured, calibrate, run_pair
from harness.measure.schedule import ROUNDS, draw

WORK = "def fast(n):\n    return sum(range(n))\n\n\ndef steady(n):\n    return sum(range(n))\n"

CONFIGURATION = """\
[tool.pytest.ini_options]
addopts = "--strict-markers --benchmark-disable --benchmark-min-rounds=3 --benchmark-warmup=off --ff{more}"
required_plugins = ["pytest-benchmark"]
markers = ["timeout: not every environment has the plug-in"]
"""

CONFTEST = "def pytest_benchmark_update_json(config, benchmarks, output_json):\n    output_json['mine'] = 1\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that configures pytest-benchmark in every way that could be in ours."""
    place = tmp_path_factory.mktemp("suite")
    (place / "mine").mkdir()
    (place / "mine" / "__init__.py").touch()
    (place / "mine" / "work.py").write_text(WORK)
    (place / "tests").mkdir()
    shutil.copy(Path(__file__).parents[2] / "cases" / "pytest_mode" / "suite.py", place / "tests" / "test_suite.py")
    (place / "tests" / "conftest.py").write_text(CONFTEST)
    more = " -n 2" if find_spec("xdist") else ""
    (place / "pyproject.toml").write_text(CONFIGURATION.replace("{more}", more))
    return place


def job(root: Path, scratch: Path, node: str) -> dict[str, Any]:
    point = point_of(f"tests/test_suite.py::{node}")
    return {
        "kpi": point.kpi.id,
        "pytest": point.kpi.id,
        "configuration": None,
        "scratch": str(scratch),
        "estimand": "call-mean",
        "timed": True,
        "params": {},
        "probe": point.probe,
        "runtime": point.runtime[1],
        "seam": point.kpi.seam,
        "frozen_sync": False,
        "workload": None,
        "path": [str(root)],
        "roots": [str(root)],
        "under_test": ["mine"],
        "min_time": 0.001,
    }


def discovered(root: Path, scratch: Path, node: str) -> Answer:
    asked = {**job(root, scratch, node), "task": "discover", "limit": 60}
    return launch(asked, seed=1, limit=60, folder=scratch, cwd=root)


@pytest.mark.parametrize(
    "node",
    [
        "test_call",
        "test_parametrised[20-a]",
        "test_parametrised[40-b c]",
        "TestInAClass::test_keywords",
        "test_decorated",
        "test_set_up",
        "test_iterations",
        "test_what_a_test_may_ask",
        "test_woven_by_hand",
    ],
)
def test_whatever_the_fixture_is_used_for_is_measured(node: str, root: Path, tmp_path: Path) -> None:
    answer = discovered(root, tmp_path, node)
    assert answer.undefined is None, answer.output
    names = {Path(name).relative_to(root).as_posix() for name in answer.result["touched"]}
    assert {"mine/work.py", "tests/test_suite.py", "tests/conftest.py"} <= names
    assert not answer.result["spawns"]
    assert not list(tmp_path.iterdir()), "nothing of pytest's is left behind"
    assert not (root / ".pytest_cache").exists()


@pytest.mark.parametrize(
    ("node", "reason", "said"),
    [
        ("test_wrong", "work-not-done", "the sum is off (tests/test_suite.py, line "),
        ("test_twice", "error", "calls benchmark twice"),
        ("test_nothing", "error", "never calls benchmark"),
        ("test_interrupted", "error", "KeyboardInterrupt ended pytest before the test did (tests/test_suite.py, line "),
        ("test_leaves", "error", "pytest.exit (enough for today) ended pytest before the test did"),
        ("test_leaves_when_measured", "error", "pytest.exit (enough for today) ended pytest before the test did"),
        ("test_coroutine", "work-not-done", "answer is a coroutine function"),
        ("test_generator", "work-not-done", "generator that nobody ran"),
        ("test_raises", "error", "calls benchmark with what raises"),
        ("test_skipped", "not-offered", "skipped (not on Tuesdays)"),
        ("test_expected_to_fail", "work-not-done", "marked to fail (known to be wrong)"),
        ("test_broken_fixture", "error", "setup of the test failed: LookupError: no such place (tests/test_suite.py"),
        ("test_absent", "error", "python -m pytest 'tests/test_suite.py::test_absent'"),
    ],
)
def test_what_was_not_measured_says_why(node: str, reason: str, said: str, root: Path, tmp_path: Path) -> None:
    found = discovered(root, tmp_path, node).undefined
    assert found is not None
    assert found[0] == reason
    assert said in found[1]


def test_the_last_result_of_the_timed_calls_is_what_the_asserts_see(root: Path, tmp_path: Path) -> None:
    """A call that only works once passes where it is made once, and is found out where it is timed."""
    assert discovered(root, tmp_path, "test_drained").undefined is None
    spec = SideJob(job(root, tmp_path, "test_drained"), INSTRUMENT, root, ends=True)
    with pytest.raises(Unmeasured) as gone:
        calibrate("head", spec, draw(Random(1)), limit=60, folder=tmp_path)
    assert gone.value.reason == "work-not-done"


@pytest.mark.parametrize("node", ["test_call", "test_set_up", "test_iterations"])
def test_a_pair_of_one_test(node: str, root: Path, tmp_path: Path) -> None:
    spec = SideJob(job(root, tmp_path, node), INSTRUMENT, root, ends=True)
    loops, wall = calibrate("base", spec, draw(Random(1)), limit=60, folder=tmp_path)
    assert loops > 1
    assert wall > 0
    load = Load(min(loops, 50), means=True)
    pair = run_pair({"base": spec, "head": spec}, draw(Random(2)), load=load, limit=60, folder=tmp_path)
    for side in ("base", "head"):
        assert len(pair.wall[side]) == ROUNDS  # type: ignore[index]
        assert all(value > 0 for value in pair.wall[side])  # type: ignore[index]
    assert not list(tmp_path.iterdir())


def test_collecting_names_the_benchmarks_alone(root: Path, tmp_path: Path) -> None:
    asked = {**job(root, tmp_path, "x"), "pytest": "tests", "task": "collect", "limit": 60}
    found = launch(asked, seed=1, limit=60, folder=tmp_path, cwd=root).result
    names = [node.partition("::")[2] for node in found["nodes"]]
    assert "TestInAClass::test_keywords" in names
    assert "test_parametrised[40-b c]" in names
    assert "test_skipped" in names, "it is owed an answer"
    assert "test_without" not in names
    assert found["ignored"] == ["disable_gc", "min_rounds"]
    assert found["configuration"] == str(root / "pyproject.toml")
    assert found["errors"] == []
