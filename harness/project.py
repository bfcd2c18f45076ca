"""The user's project: its root, and what ``[tool.harness]`` in its pyproject.toml says.

Reads configuration and the metadata of installed plug-ins; imports no code of the project.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from harness.record.store import find_root

__all__ = [
    "REFERENCE",
    "Project",
    "ProjectError",
    "installed_runtimes",
    "load_project",
    "plugin_kpi_files",
    "runtime_reference",
]

REFERENCE = "seams.runtimes.reference:make"
_RUNTIMES, _KPIS = "harness.runtimes", "harness.kpis"  # the groups of entry points
_MEND = "Mend it, then run: python -m harness list"
_KEYS: dict[str, type[object]] = {"kpis": list, "runtime": str, "under_test": list, "build": str}


class ProjectError(Exception):
    """The project's configuration cannot be used; one sentence that ends with the next command."""


@dataclass(frozen=True, slots=True)
class Project:
    """Where the project is and what it says of itself. Paths are absolute."""

    root: Path
    kpi_files: tuple[Path, ...] = ()
    runtime: str | None = None
    under_test: tuple[str, ...] = ()
    build: str | None = None

    @property
    def path(self) -> list[str]:
        """The folders that come first on a worker's path: the root, and its src/ where there is one."""
        source = self.root / "src"
        return [str(source), str(self.root)] if source.is_dir() else [str(self.root)]


def load_project(start: Path) -> Project:
    """The project around ``start``; :func:`harness.record.store.find_root` says where it begins.

    Raises:
        ProjectError: pyproject.toml is not TOML, or its table has an unknown key or a value of the wrong kind.
    """
    root = find_root(start)
    file = root / "pyproject.toml"
    if not file.is_file():
        return Project(root)
    table = _table(file)
    files: list[Path] = []
    for pattern in table.get("kpis", []):
        inside = _matching(root, pattern)
        if not inside:
            raise ProjectError(
                f"{file.name}: kpis = [{pattern!r}] names no file inside the project. "
                "Mend the pattern in [tool.harness], then run: python -m harness list"
            )
        files += inside
    return Project(
        root=root,
        kpi_files=tuple(dict.fromkeys(files)),
        runtime=table.get("runtime"),
        under_test=tuple(table.get("under_test", ())),
        build=table.get("build"),
    )


def _table(file: Path) -> dict[str, Any]:
    """``[tool.harness]`` of ``file``; empty where it has none."""
    blob = b""
    try:
        blob = file.read_bytes()
        tool = tomllib.loads(blob.decode("utf-8")).get("tool", {})
    except (ValueError, RecursionError, OSError) as error:
        why = str(error).rstrip(".")
        if blob.startswith(b"\xef\xbb\xbf"):
            why = "it begins with a byte order mark"
        elif isinstance(error, RecursionError):
            why = "it is nested too deeply"
        raise ProjectError(f"{file.name} cannot be read as TOML: {why}. {_MEND}") from error
    if not isinstance(tool, dict):
        raise ProjectError(f"{file.name}: tool must be a table, as in [tool.harness]. {_MEND}")
    table = tool.get("harness", {})
    if not isinstance(table, dict):
        raise ProjectError(f"{file.name}: [tool.harness] must be a table. {_MEND}")
    for key, value in table.items():
        _require_known(file.name, key, value)
    return table


def _require_known(name: str, key: str, value: object) -> None:
    if key not in _KEYS:
        near = get_close_matches(key, _KEYS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known keys are {', '.join(_KEYS)}."
        raise ProjectError(f"{name}: [tool.harness] has the unknown key {key!r}{hint} {_MEND}")
    items = value if isinstance(value, list) else [value]
    if not isinstance(value, _KEYS[key]) or not all(isinstance(item, str) for item in items):
        wanted = "a list of strings" if _KEYS[key] is list else "a string"
        raise ProjectError(f"{name}: [tool.harness] {key} must be {wanted}. {_MEND}")
    if not all(item.strip() for item in items if isinstance(item, str)):
        raise ProjectError(f"{name}: [tool.harness] {key} is empty: give it a value, or leave it out. {_MEND}")


def _matching(root: Path, pattern: str) -> list[Path]:
    """The files inside the project that ``pattern`` names; none where it is no pattern at all."""
    if Path(pattern).is_absolute():
        return []
    try:
        found = sorted(root.glob(pattern))
        return [path for path in found if path.is_file() and path.resolve().is_relative_to(root.resolve())]
    except (ValueError, IndexError, NotImplementedError, OSError):  # "**x", ".", a NUL, a name that is too long
        return []


def runtime_reference(name: str) -> tuple[str, str]:
    """(name to show, ``module:factory``) of a runtime: ``reference``, an installed plug-in's name, or a reference.

    Raises:
        ProjectError: it is none of these.
    """
    if name == "reference":
        return name, REFERENCE
    if name.count(":") == 1 and all(part.isidentifier() for part in name.replace(":", ".").split(".")):
        return name, name
    installed = {point.name: point.value for point in _entry_points(_RUNTIMES)}
    if name in installed:
        return name, installed[name]
    known = ["reference", *sorted(installed)]
    near = get_close_matches(name, known, 1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise ProjectError(
        f"There is no runtime {name!r}{hint}; known are {', '.join(known)}, and any package.module:factory: "
        f"try --runtime {near[0] if near else known[-1]}"
    )


def _entry_points(group: str) -> list[Any]:
    """The installed entry points of ``group``.

    importlib.metadata alone takes a third of the time that ``list`` has, and most environments hold no plug-in of
    ours: so the installers' files are searched for the group's name first.
    """
    named = f"[{group}]".encode()
    files = (file for folder in sys.path for file in Path(folder or ".").glob("*.dist-info/entry_points.txt"))
    if not any(named in file.read_bytes() for file in files):
        return []
    from importlib import metadata

    return list(metadata.entry_points(group=group))


def installed_runtimes() -> list[str]:
    """The names of the runtimes that installed packages offer (entry points of group ``harness.runtimes``)."""
    return sorted({point.name for point in _entry_points(_RUNTIMES)})


def plugin_kpi_files() -> dict[str, Path]:
    """The KPI files of installed packages, by what messages call them: the file's name and its package's.

    An entry point of group ``harness.kpis`` names a package with TOML files. No code of the package is imported: the
    files are found through the installer's own list, or in the folder that an editable installation points to.

    Raises:
        ProjectError: an entry point names a package without a TOML file.
    """
    found: dict[str, Path] = {}
    for point in _entry_points(_KPIS):
        folder = point.value.partition(":")[0].strip().replace(".", "/")
        files = _listed(point.dist, folder) or _editable(point.dist, folder)
        package = point.dist.name
        if not files:
            raise ProjectError(
                f"The plug-in {point.name} of the package {package} names {point.value} in the group {_KPIS}, and no "
                f"TOML file is found there. Mend its packaging, or remove it: python -m pip uninstall {package}"
            )
        found |= {f"{name} of the package {package}": path for name, path in files.items()}
    return dict(sorted(found.items()))


def _listed(package: Any, folder: str) -> dict[str, Path]:
    items = [item for item in package.files or () if str(item).startswith(f"{folder}/") and item.suffix == ".toml"]
    paths = {str(item): Path(str(item.locate())) for item in items}
    return {name: path for name, path in paths.items() if path.is_file()}


def _editable(package: Any, folder: str) -> dict[str, Path]:
    """The files where ``pip install -e`` left them: below the project's folder, or below its src/."""
    import json
    from urllib.parse import unquote, urlsplit

    try:
        origin = json.loads(package.read_text("direct_url.json") or "{}")
    except ValueError:
        return {}
    url = urlsplit(str(origin.get("url", "")))
    if url.scheme != "file" or not origin.get("dir_info", {}).get("editable"):
        return {}
    root = Path(unquote(url.path))
    return {
        path.relative_to(base).as_posix(): path
        for base in (root / "src", root)
        for path in sorted((base / folder).rglob("*.toml"))
    }
