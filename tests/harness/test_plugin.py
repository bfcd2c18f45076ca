"""The sugar for authors of probes, and what [tool.harness] may say."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harness import probe
from harness.measure.clock import Tally, WorkNotDoneError
from harness.project import ProjectError, load_project, runtime_reference
from harness.record.store import StoreError


def test_a_function_becomes_a_probe_that_gets_what_it_asks_for() -> None:
    seen = {}

    @probe(engine="noop")
    def spawn(size, runtime):
        seen.update(size=size, runtime=runtime)
        return lambda: 7

    opened = spawn().open("x", "the runtime", None, {"size": "4"})
    assert seen == {"size": "4", "runtime": "the runtime"}
    assert opened.engine == "noop"
    assert opened.batch(3)() == 7
    assert [call() for call in opened.calls(2)] == [7, 7]


def test_a_parameter_that_the_function_does_not_take_is_an_error() -> None:
    @probe
    def spawn(size="3"):
        return lambda: size

    with pytest.raises(TypeError, match="does not take the parameter sise"):
        spawn().open("x", None, None, {"sise": "4"})


def test_a_coroutine_function_is_timed_as_one() -> None:
    @probe
    def turn():
        async def call():
            await asyncio.sleep(0)
            return 7

        return call

    batch = turn().open("x", None, None, {}).batch(2)
    assert asyncio.iscoroutinefunction(batch)
    assert asyncio.run(batch()) == 7


def test_a_tally_passes_through_and_the_set_up_may_be_async() -> None:
    @probe
    async def count():
        return Tally(3)

    assert asyncio.run(count().open("x", None, None, {})) == Tally(3)


def test_a_check_that_says_no_voids_the_reading() -> None:
    @probe(check=lambda result: result == 8)
    def spawn():
        return lambda: 7

    with pytest.raises(WorkNotDoneError, match="of type int"):
        spawn().open("x", None, None, {}).check(7)


def project(tmp_path: Path, table: str) -> Path:
    (tmp_path / "pyproject.toml").write_text(f"[tool.harness]\n{table}\n")
    return tmp_path


def test_the_root_is_the_nearest_table_and_src_comes_first_on_the_path(tmp_path: Path) -> None:
    root = project(tmp_path, 'runtime = "a.b:c"')
    (root / "src").mkdir()
    (root / "deep" / "er").mkdir(parents=True)
    found = load_project(root / "deep" / "er")
    assert found.root == root
    assert found.runtime == "a.b:c"
    assert found.path == [str(root / "src"), str(root)]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('kpi = ["x"]', "did you mean 'kpis'?"),
        ('kpis = "x.toml"', "kpis must be a list of strings"),
        ("kpis = [1]", "kpis must be a list of strings"),
        ('kpis = ["none/*.toml"]', "names no file inside the project"),
        ('kpis = ["../*.toml"]', "names no file inside the project"),
        ('kpis = ["/etc/*.toml"]', "names no file inside the project"),
        ("runtime = 3", "runtime must be a string"),
        ("runtime = ", "is not valid TOML"),
    ],
)
def test_a_table_that_cannot_be_used_gets_one_sentence(tmp_path: Path, table: str, words: str) -> None:
    with pytest.raises((ProjectError, StoreError)) as caught:
        load_project(project(tmp_path, table))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_runtime_is_the_reference_or_a_factory() -> None:
    assert runtime_reference("reference")[1] == "seams.runtimes.reference:make"
    assert runtime_reference("pkg.mod:make") == ("pkg.mod:make", "pkg.mod:make")
    for wrong in ("referense", "pkg.mod", "a:b:c", "pkg mod:make", ""):
        with pytest.raises(ProjectError, match="There is no runtime"):
            runtime_reference(wrong)
