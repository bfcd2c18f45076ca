"""Installed plug-ins: their KPI files are found without importing them, wherever the installer left them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.jobs.rows import project_catalog
from harness.project import Project, ProjectError, installed_runtimes, plugin_kpi_files, runtime_reference

ROW = (
    '[kpi.acme_ns]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "q?"\nfence = "f."\nunit = "ns"\n'
    'direction = "lower"\nestimand = "call-mean"\nprobe = "acme.probes:Mine"\n'
)


def plugin(site: Path, *, listed: tuple[str, ...] = (), origin: dict[str, object] | None = None) -> None:
    """A distribution ``acme-kpis`` as an installer leaves it in ``site``."""
    info = site / "acme_kpis-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-kpis\nVersion: 1.0\n")
    points = "[harness.kpis]\nacme = acme.tables\n\n[harness.runtimes]\nacme = acme.runtime:make\n"
    (info / "entry_points.txt").write_text(points)
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in listed))
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))


def table(folder: Path) -> Path:
    (folder / "acme" / "tables").mkdir(parents=True)
    file = folder / "acme" / "tables" / "kpis.toml"
    file.write_text(ROW)
    return file


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    return folder


NAME = "acme/tables/kpis.toml of the package acme-kpis"


def test_the_installers_list_names_the_files(site: Path) -> None:
    file = table(site)
    plugin(site, listed=("acme/tables/kpis.toml", "acme/tables/gone.toml", "acme/other/more.toml"))
    assert plugin_kpi_files() == {NAME: file}


@pytest.mark.parametrize("layout", ["", "src"])
def test_an_editable_installation_is_followed_to_the_projects_folder(site: Path, tmp_path: Path, layout: str) -> None:
    root = tmp_path / "a checkout"
    file = table(root / layout)
    plugin(site, origin={"url": f"{root.as_uri()}", "dir_info": {"editable": True}})
    assert plugin_kpi_files() == {NAME: file}
    kpi = project_catalog(Project(tmp_path)).get("acme_ns")
    assert kpi.origin == NAME


@pytest.mark.parametrize(
    "origin",
    [
        None,
        {},
        {"url": "https://example.org/acme.zip"},
        {"url": "file:///nowhere/acme", "dir_info": {}},
        {"url": "file:///nowhere/acme", "dir_info": {"editable": True}},
    ],
)
def test_a_plug_in_without_a_table_is_one_sentence_with_its_name_and_group(
    site: Path, origin: dict[str, object] | None
) -> None:
    plugin(site, origin=origin)
    with pytest.raises(ProjectError) as refused:
        plugin_kpi_files()
    sentence = str(refused.value)
    assert "The plug-in acme of the package acme-kpis names acme.tables in the group harness.kpis" in sentence
    assert sentence.endswith("python -m pip uninstall acme-kpis")
    assert "\n" not in sentence


def test_a_plug_in_that_is_developed_here_is_read_once(site: Path, tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    file = table(root)
    plugin(site, origin={"url": root.as_uri(), "dir_info": {"editable": True}})
    assert project_catalog(Project(root, kpi_files=(file,))).get("acme_ns").origin == "acme/tables/kpis.toml"


def test_an_unknown_runtime_lists_the_known_ones(site: Path) -> None:
    plugin(site)
    assert installed_runtimes() == ["acme"]
    assert runtime_reference("acme") == ("acme", "acme.runtime:make")
    with pytest.raises(ProjectError, match=r"no runtime 'acm' \(did you mean acme\?\); known are reference, acme, and"):
        runtime_reference("acm")
    with pytest.raises(ProjectError, match="known are reference, acme, and any package"):
        runtime_reference("zzz")
