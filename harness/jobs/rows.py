"""The catalog of a project: the built-in rows, its own, and those of installed plug-ins.

Kept apart from the jobs that work on the catalog, because ``list`` must answer at once and needs nothing else of them.
"""

from __future__ import annotations

from harness.project import Project, plugin_kpi_files
from kpis.errors import CatalogError
from kpis.registry import Catalog, extend, load

__all__ = ["project_catalog"]


def project_catalog(project: Project, *, plugins: bool = True) -> Catalog:
    """The built-in catalog with the rows of the project and, if ``plugins``, of installed packages.

    Raises:
        CatalogError: a file of rows cannot be read or used.
    """
    catalog = load()
    for path in (*(plugin_kpi_files() if plugins else ()), *project.kpi_files):
        name = path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else path.name
        try:
            blob = path.read_bytes()
        except OSError as error:
            raise CatalogError([f"{name} cannot be read: {error.strerror}; see `ls -l {name}`."]) from error
        catalog = extend(catalog, name, blob)
    return catalog
