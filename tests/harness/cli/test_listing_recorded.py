"""``list --recorded`` and ``explain`` of metrics of recorded runs: every row, filters, names that are nearly right."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.main import main
from kpis.formulas.recorded.evaluate import metric_ids
from kpis.recorded_metrics import load
from kpis.terms.metric import MetricClass
from tests.harness.cli.own import REPO

Said = tuple[int, str, str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str) -> Said:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def ids(out: str) -> list[str]:
    return [row["id"] for row in json.loads(out)["metrics"]]


def test_the_list_holds_every_metric_within_its_columns(run: Callable[..., Said]) -> None:
    code, out, err = run("list", "--recorded")
    assert (code, err) == (0, "")
    shown = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ") and "  " in line]
    assert sorted(shown) == sorted(load())
    assert max(map(len, out.splitlines())) <= 80
    assert [line.split(":")[0] for line in out.splitlines() if ": " in line and not line.startswith(" ")] == [
        each.value for each in MetricClass
    ]


def test_a_text_is_looked_for_everywhere(run: Callable[..., Said]) -> None:
    found = ids(run("list", "CACHE", "--recorded", "--json")[1])
    assert {"cache_breaks", "cache_hit_ratio"} <= set(found)
    assert "tool_errors" not in found
    code, out, err = run("list", "--recorded", "no such words")
    assert (code, out) == (5, "")
    assert "`python -m harness list --recorded` shows all" in err
    assert run("list", "--recorded", "--layer", "turn")[0] == 2


@pytest.mark.parametrize("name", sorted(load()))
def test_each_metric_is_explained(name: str, run: Callable[..., Said]) -> None:
    code, out, err = run("explain", "--recorded", name)
    assert (code, err) == (0, "")
    assert out.startswith(name)
    assert (f"replay --explain {name} PATH" in out) is (name in metric_ids())
    assert max(len(line) for line in out.splitlines() if "--explain" not in line) <= 80
    row = json.loads(run("explain", "--recorded", name, "--json")[1])["metric"]
    assert (row["id"], row["definition"], row["class"]) == (
        name,
        load()[name].definition,
        load()[name].metric_class.value,
    )


def test_a_kpi_goes_before_a_metric_of_its_name(run: Callable[..., Said]) -> None:
    assert "a metric of recorded runs" not in run("explain", "demand_page_miss_rate")[1]
    assert "a metric of recorded runs" in run("explain", "demand_page_miss_rate", "--recorded")[1]
    assert "a metric of recorded runs" in run("explain", "cache_breaks")[1]


def test_names_that_are_nearly_right(run: Callable[..., Said]) -> None:
    code, _, err = run("explain", "cache_brakes")
    assert code == 2
    assert "no metric of recorded runs named cache_brakes (did you mean cache_breaks?)" in err
    assert (
        "There is no KPI named planner_optimise_ns (did you mean planner_optimize_ns?)"
        in run("explain", "planner_optimise_ns")[2]
    )
    assert "There is no KPI named xyzzy;" in run("explain", "xyzzy")[2]


def test_neither_list_nor_explain_pays_for_the_metrics(tmp_path: Path) -> None:
    for words in (["list"], ["explain", "planner_optimize_ns"]):
        code = (
            "import sys; from harness.cli.main import main; main(sys.argv[1:]);"
            "print(*(name for name in sys.modules if 'recorded' in name or 'replay' in name), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=tmp_path, env={"PYTHONPATH": str(REPO)}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert done.stderr.split() == ["harness.cli.replay"], "the words of the command line, and nothing behind them"
