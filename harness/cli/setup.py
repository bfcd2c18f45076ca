"""What every command reads first: the catalog with the project's own rows, and the workloads that were named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.formats.limits import FormatError
from harness.formats.workload import LoadedWorkload, load
from harness.project import Project, plugin_kpi_files
from kpis.errors import CatalogError
from kpis.registry import Catalog, extend
from kpis.registry import load as load_builtin

__all__ = ["load_catalog", "load_workloads"]


def load_catalog(project: Project) -> Catalog:
    """The built-in catalog, those of installed plug-ins, and the project's own.

    Raises:
        CatalogError: a file cannot be read or used.
    """
    catalog = load_builtin()
    for file in (*plugin_kpi_files(), *project.kpi_files):
        inside = file.is_relative_to(project.root)
        name = file.relative_to(project.root).as_posix() if inside else file.name
        try:
            blob = file.read_bytes()
        except OSError as error:
            raise CatalogError([f"{name} cannot be read: {error.strerror}; see `ls -l {name}`."]) from error
        catalog = extend(catalog, name, blob)
    return catalog


def load_workloads(names: Sequence[str], say: Callable[[str], None]) -> list[LoadedWorkload]:
    """The workloads that could be read; ``say`` hears a sentence for each that could not."""
    loaded: list[LoadedWorkload] = []
    for name in names:
        try:
            one = load(Path(name))
        except FormatError as error:
            say(str(error))
            continue
        loaded.append(one)
    return loaded
