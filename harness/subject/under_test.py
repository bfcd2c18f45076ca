"""Which packages are the subject: those that the project names, else those that its repository holds.

Reads file names and TOML; imports nothing of the project. Too long a list does no harm (each name is only required to
come from the tree), too short a one would: so a package is left out only where it is clearly a test or a probe.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.project import Project
from harness.subject import SubjectError
from harness.subject.shadow import shadowed

__all__ = ["located", "packages_under_test", "probe_modules", "search_path", "shadowed"]

_TEST = re.compile(r"tests?|testing|conftest|test_\w+|\w+_tests?")
_TOOLS = frozenset({"setup", "noxfile", "tasks", "fabfile", "dodo", "docs", "examples"})


def packages_under_test(root: Path, project: Project) -> tuple[str, ...]:
    """The names of the subject's packages in the tree at ``root``, sorted, or as the project gives them.

    By default: the packages and modules of src/ and the packages of the root, without tests, and without those that
    hold a probe unless they hold the runtime, bear the project's name, or are all that there is.

    Raises:
        SubjectError: a name of ``[tool.harness] under_test`` does not exist, or nothing is found.
    """
    if project.under_test:
        for name in project.under_test:
            if located(name, root) is None:
                places = ", ".join(str(place) for place in search_path(root))
                raise SubjectError(
                    f"pyproject.toml: under_test names {name!r}, and there is no such package in {places}. "
                    "Mend [tool.harness], then run: python -m harness doctor"
                )
        return project.under_test
    names = sorted(set(_held(root)))
    runtime = (project.runtime or "").partition(":")[0].partition(".")[0]
    probing = {module.partition(".")[0] for module in probe_modules(project)} - {runtime, _own_name(root)}
    subject = [name for name in names if name not in probing] or names
    if not subject:
        raise SubjectError(
            f"No package to test was found in {root} or its src/. "
            'Name it in pyproject.toml: [tool.harness] under_test = ["yourpackage"]'
        )
    return tuple(subject)


def search_path(root: Path) -> list[Path]:
    """The folders that come first on a worker's path, as :attr:`harness.project.Project.path` has them."""
    return [root / "src", root] if (root / "src").is_dir() else [root]


def located(module: str, root: Path) -> Path | None:
    """The file of ``module`` in the tree at ``root``, or the folder of a package; None where there is none."""
    for place in search_path(root):
        stem = place.joinpath(*module.split("."))
        if stem.is_dir() and _is_package(stem, loose=True):
            return stem
        if (file := stem.with_name(f"{stem.name}.py")).is_file():
            return file
    return None


def probe_modules(project: Project) -> tuple[str, ...]:
    """The modules that the project's KPI files name as probes, sorted. A file that is no TOML names none here."""
    modules = set()
    for file in project.kpi_files:
        rows = _toml(file).get("kpi")
        for row in rows.values() if isinstance(rows, dict) else ():
            named = row.get("probe") if isinstance(row, dict) else None
            if isinstance(named, str) and named.partition(":")[0]:
                modules.add(named.partition(":")[0])
    return tuple(sorted(modules))


def _held(root: Path) -> Iterator[str]:
    for place in search_path(root):
        source = place.name == "src"
        for entry in sorted(place.iterdir()):
            name = entry.name.removesuffix(".py")
            if not name.isidentifier() or _TEST.fullmatch(name) or name in _TOOLS:
                continue
            if entry.is_dir():
                # Without __init__.py, a folder of src/ is a package still; at the root it may be anything.
                if _is_package(entry, loose=source) and not (place == root and entry.name == "src"):
                    yield name
            elif entry.suffix == ".py" and not name.startswith("__"):
                yield name


def _is_package(folder: Path, *, loose: bool) -> bool:
    if (folder / "__init__.py").is_file():
        return True
    return loose and any(folder.rglob("*.py"))


def _own_name(root: Path) -> str:
    project = _toml(root / "pyproject.toml").get("project")
    name = project.get("name") if isinstance(project, dict) else None
    return re.sub(r"[-.]+", "_", name).lower() if isinstance(name, str) else ""


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
