"""The catalog of a project: the built-in rows, its own, and those of installed plug-ins.

Kept apart from the jobs that work on the catalog, because ``list`` must answer at once and needs nothing else of them.
Validating users' files takes longer than that: files that were found sound are remembered by their content in the
project's state folder, and read from there until one of them changes. Refuses to trust what it cannot read back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import kpis as kpis_package
from harness import __version__
from harness.formats.limits import regular_bytes
from harness.project import Project, plugin_kpi_files
from kpis.errors import CatalogError
from kpis.registry import Catalog, extend_all, load, row_of, with_rows
from kpis.retired import Retired
from kpis.terms.kpi import Kpi, Layer, Seam

__all__ = ["project_catalog"]

_RULES = Path(str(kpis_package.__file__)).parent
_ENUMS = ("unit", "direction", "estimand", "gate", "target_status", "takes")


def project_catalog(project: Project, *, plugins: bool = True) -> Catalog:
    """The built-in catalog with the rows of the project and, if ``plugins``, of installed packages.

    Raises:
        CatalogError: a file of rows cannot be read or used.
        ProjectError: a plug-in names a package without a file of rows.
    """
    own = {path.relative_to(project.root).as_posix(): path for path in project.kpi_files}
    here = {path.resolve() for path in own.values()}
    others = plugin_kpi_files() if plugins else {}
    # A plug-in that is developed in this very project is read once.
    paths = {**{name: path for name, path in others.items() if path.resolve() not in here}, **own}
    if not paths:
        return load()
    files: dict[str, bytes] = {}
    for name, path in paths.items():
        try:
            files[name] = regular_bytes(path)
        except OSError as error:
            raise CatalogError([f"{name} cannot be read: {error.strerror}; see `ls -l {path}`."]) from error
    known = project.root / ".harness" / "rows.json"
    key = _key(files)
    found = _recalled(known, key)
    if found is not None:
        return found
    catalog = extend_all(load(), files)
    _remember(known, key, catalog)
    return catalog


def _key(files: Mapping[str, bytes]) -> str:
    """Digest of all that decides whether ``files`` are sound: they, the built-in rows, and the rules."""
    digest = hashlib.sha256(__version__.encode())
    rules = (*sorted((_RULES / "catalog").glob("*.toml")), *sorted(_RULES.glob("schema*.py")))
    for name, blob in (*((path.name, path.read_bytes()) for path in rules), *files.items()):
        digest.update(f"{name}\0{len(blob)}\0".encode() + blob)
    return digest.hexdigest()


def _recalled(path: Path, key: str) -> Catalog | None:
    try:
        known = json.loads(regular_bytes(path))
        if known["key"] != key:
            return None
        rows = [row_of(row.pop("id"), Layer(row.pop("layer")), row) for row in known["rows"]]
        stones = [Retired(**{**stone, "on": date.fromisoformat(stone["on"])}) for stone in known["retired"]]
        return with_rows(load(), rows, {seam["name"]: Seam(**seam) for seam in known["seams"]}, stones)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # not there, damaged or no file: the rows' own files are read again


def _remember(path: Path, key: str, catalog: Catalog) -> None:
    """Only where the state folder is there already: looking at a catalog leaves no trace in a project."""
    if not path.parent.is_dir():
        return
    from harness.record.store import write_atomic

    built_in = load().seams
    seams = [{name: getattr(seam, name) for name in Seam.__dataclass_fields__} for seam in catalog.seams.values()]
    known = {
        "key": key,
        "rows": [_plain(kpi) for kpi in catalog if kpi.origin != "catalog"],
        "seams": [seam for seam in seams if seam["name"] not in built_in],
        "retired": [
            {**asdict(stone), "on": stone.on.isoformat()} for stone in catalog.retired if stone.origin != "catalog"
        ],
    }
    with suppress(OSError):  # a folder that cannot be written costs time and nothing else
        if path.is_file() or not path.exists():  # a pipe or a device would be written to
            write_atomic(path, json.dumps(known).encode("ascii"), within=path.parent.parent)


def _plain(kpi: Kpi) -> dict[str, Any]:
    row = {name: getattr(kpi, name) for name in Kpi.__dataclass_fields__}
    return {**row, "layer": kpi.layer.value, **{name: row[name].value for name in _ENUMS}}
