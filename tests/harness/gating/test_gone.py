"""What the head stops gating is named, be it a value, a point or a kind; and a base that cannot be read is no pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.gating import gone
from harness.gating.gone import Gone, gone_from
from harness.gating.options import GateOptions
from harness.jobs.rows import project_catalog
from harness.project import load_project
from kpis.registry import Catalog, load
from kpis.terms.comparison import State
from kpis.terms.kpi import Gate, Kpi
from tests.conftest import REPO
from tests.harness.cli.own import SEAM, row

COUNT = row("arms", "bench.probes:arms", estimand="count", unit="count") + 'params = { arm = ["a", "b"] }\n\n'
TIMED = row("work_ns", "bench.probes:work") + 'params = { n = ["10", "1000"] }\ngate_point = { n = "1000" }\n\n'
ROWS = SEAM + COUNT + TIMED

Named = Callable[..., list[Gone]]


def tree(root: Path, rows: str | bytes, table: str = 'kpis = ["bench/*.toml"]') -> Path:
    (root / "bench").mkdir(parents=True)
    (root / "pyproject.toml").write_text(f"[tool.harness]\n{table}\n")
    (root / "bench" / "kpis.toml").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    return root


@pytest.fixture
def named(tmp_path: Path) -> Named:
    """What has gone between a base of :data:`ROWS` (or ``base``) and a head of ``head``; ``said`` takes the notes."""

    def run(head: str, base: str | bytes = ROWS, said: list[str] | None = None, **options: object) -> list[Gone]:
        project = load_project(tree(tmp_path / "head", head))
        asked = GateOptions(**{"against": "HEAD", **options})  # type: ignore[arg-type]
        notes = [] if said is None else said
        return gone_from(tree(tmp_path / "base", base), project, project_catalog(project), asked, notes.append)

    return run


@pytest.mark.parametrize(
    ("was", "now", "name", "why"),
    [
        ('["a", "b"]', '["a"]', "arms[arm=b]", "arms[arm=b] gates on the base, and the head gates arms elsewhere"),
        ('"1000" }\n', '"10" }\n', "work_ns[n=1000]", "work_ns[n=1000] gates on the base"),
        ('gate = "exact"', 'gate = "report"', "arms as exact", "as exact on the base, and is report on the head"),
        ('gate = "timed"', 'gate = "report"', "work_ns as timed", "as timed on the base, and is report on the head"),
        ("[kpi.arms]", "[kpi.legs]", "arms", "arms is declared on the base and not on the head"),
    ],
)
def test_what_the_head_gates_no_more_has_gone(was: str, now: str, name: str, why: str, named: Named) -> None:
    assert was in ROWS
    (found,) = named(ROWS.replace(was, now))
    assert (found.name, found.state) == (name, State.REMOVED)
    assert why in found.row.evidence[0]
    assert found.row.state is found.comparison.state is State.REMOVED


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("", ""),
        ("[kpi.arms]\n", '[kpi.legs]\naliases = ["arms"]\n'),
        ('["a", "b"]', '["a", "b", "c"]'),
        ('n = ["10", "1000"]', 'n = ["1000"]'),
        ('gate = "exact"\n', ""),
    ],
)
def test_what_is_gated_as_before_has_not(was: str, now: str, named: Named) -> None:
    """Under an alias, among more points, without points that never gated, and by the default gate kind."""
    assert was in ROWS
    assert named(ROWS.replace(was, now, 1)) == []


def test_an_alias_does_not_hide_a_point(named: Named) -> None:
    head = ROWS.replace("[kpi.arms]\n", '[kpi.legs]\naliases = ["arms"]\n').replace('["a", "b"]', '["a"]')
    (found,) = named(head)
    assert (found.name, found.kpi, found.params) == ("arms[arm=b]", "arms", {"arm": "b"})


def test_where_all_points_are_timed_all_of_them_are_owed(named: Named) -> None:
    (found,) = named(ROWS.replace('n = ["10", "1000"]', 'n = ["1000"]'), all_params=True)
    assert found.name == "work_ns[n=10]"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"layers": ("turn",)}, ["arms", "work_ns[n=1000]"]),
        ({"layers": ("session",)}, []),
        ({"kpis": ("work_ns",)}, ["arms", "work_ns[n=1000]"]),
        ({"kpis": ("denies",)}, ["arms"]),
    ],
)
def test_a_selection_leaves_others_alone_but_what_nobody_can_name(
    options: dict[str, object], names: list[str], named: Named
) -> None:
    head = ROWS.replace("[kpi.arms]", "[kpi.legs]").replace('"1000" }\n', '"10" }\n')
    assert [found.name for found in named(head, **options)] == names


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (b"\xff\xfe", "bench/kpis.toml, line 1: this is not UTF-8 text"),
        ("[kpi.arms\n", "bench/kpis.toml"),
        (ROWS.replace('gate = "exact"', 'gate = "always"'), "bench/kpis.toml"),
    ],
)
def test_a_base_that_cannot_be_read_is_no_pass(rows: str | bytes, says: str, named: Named) -> None:
    notes: list[str] = []
    (found,) = named(ROWS, rows, notes)
    assert found.state is State.REMOVED
    assert "what the base gates is not known" in found.row.evidence[0]
    assert says in notes[0]


def test_a_base_with_a_configuration_that_cannot_be_read_is_no_pass(tmp_path: Path) -> None:
    project = load_project(tree(tmp_path / "head", ROWS))
    base = tree(tmp_path / "base", ROWS, 'kpi = ["bench/*.toml"]')
    (found,) = gone_from(base, project, project_catalog(project), GateOptions(against="HEAD"), lambda _said: None)
    assert "unknown key 'kpi'" in found.row.evidence[0]


def test_files_that_no_configuration_names_declare_nothing(named: Named, tmp_path: Path) -> None:
    base = tree(tmp_path / "other", ROWS, "")
    (base / "kpis" / "catalog").mkdir(parents=True)
    (base / "kpis" / "catalog" / "turn.toml").write_text("not = toml = at all")
    project = load_project(tree(tmp_path / "mine", SEAM))
    assert gone_from(base, project, load(), GateOptions(against="HEAD"), lambda _said: None) == []


# The catalog of this very project, which lies in each tree


def of_ours(change: Callable[[Kpi], Kpi | None]) -> list[Gone]:
    """What has gone where this repository is the base and its catalog, each row changed, the head's."""
    kpis = tuple(now for kpi in load() if (now := change(kpi)) is not None)
    project = load_project(REPO)
    return gone_from(REPO, project, Catalog(kpis, load().seams), GateOptions(against="HEAD"), lambda _said: None)


def test_of_ones_own_catalog_nothing_has_gone_that_is_there() -> None:
    assert of_ours(lambda kpi: kpi) == []


def test_the_gate_point_of_ones_own_catalog_cannot_be_moved() -> None:
    cheaper = {"objective": "greedy", "n": "100"}
    found = of_ours(lambda kpi: replace(kpi, gate_point=cheaper) if kpi.id == "planner_optimize_ns" else kpi)
    assert [each.name for each in found] == ["planner_optimize_ns[objective=greedy,n=1000]"]


def test_an_invariant_over_two_clocks_is_owed_too() -> None:
    found = of_ours(lambda kpi: replace(kpi, gate=Gate.REPORT) if kpi.id == "gate_primary" else kpi)
    assert [each.name for each in found] == ["gate_primary as invariant"]
    assert [each.name for each in of_ours(lambda kpi: None if kpi.id == "gate_primary" else kpi)] == ["gate_primary"]


def test_a_probe_that_measures_a_kpi_no_more_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(kpi: Kpi, *base: Path) -> bool:
        return bool(base) or kpi.id != "denies"

    monkeypatch.setattr(gone, "wired", without)
    found = [each for each in of_ours(lambda kpi: kpi) if each.kpi == "denies"]
    assert [each.row.evidence for each in found] == [
        ["denies is measured by a probe on the base and by none on the head"]
    ]
