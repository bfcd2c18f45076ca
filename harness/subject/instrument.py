"""What of a tree is instrument, and how the base gets that of the head.

The instrument is the same for both sides, or an edited probe would read as a regression. What is overlaid is no longer
compared: so a file is taken for instrument only where the project names it as such, never by a guess that could cover
the subject.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import harness
from harness.project import Project
from harness.subject import SubjectError
from harness.subject.trees import Sides
from harness.subject.under_test import located, packages_under_test, probe_modules

__all__ = ["instrument_paths", "overlay"]

_BENCHES = frozenset({"bench", "benches", "benchmark", "benchmarks", "perf", "probes"})
_TESTS = frozenset({"test", "tests"})  # a package may well hold a testing/ or perf/ that is its own code
_TEST_FILES = ("test_*.py", "*_test.py", "bench_*.py", "conftest.py")


def instrument_paths(
    project: Project, *, workloads: Iterable[Path] = (), pytest: Path | None = None
) -> tuple[str, ...]:
    """The instrument of ``project`` as paths relative to its root, sorted: KPI files, probes, workloads, ours.

    A probe is its module; its whole top-level package where that is outside the subject that the project names (or,
    where it names none, is called bench or the like). With ``pytest``, the test folder or file, also the tests with
    their conftest files. What lies outside the root is the same for both sides anyway and is left out.

    Raises:
        SubjectError: the subject is not what ``[tool.harness]`` says, or ``pytest`` is not in the project.
    """
    root = project.root.resolve()
    subject = [found for name in packages_under_test(root, project) if (found := located(name, root)) is not None]
    paths = [*project.kpi_files, *workloads, *_probes(project, root, subject)]
    if (root / "harness").is_dir() and (root / "harness").samefile(Path(harness.__file__).parent):
        paths.append(root / "harness")
    if pytest is not None:
        paths += _tests(root, pytest, subject)
    resolved = {Path(os.path.abspath(root / path)) for path in paths}  # noqa: PTH100 - a link is itself instrument
    return tuple(sorted(str(path.relative_to(root)) for path in resolved if path != root and path.is_relative_to(root)))


def _probes(project: Project, root: Path, subject: list[Path]) -> Iterator[Path]:
    for module in probe_modules(project):
        name = module.partition(".")[0]
        top = located(name, root)
        file = located(module, root)
        if top is None or file is None:
            continue  # an installed module, or a name that the worker will say is missing
        free = not any(place.is_relative_to(top) for place in subject) and top.parent == root
        if free and (project.under_test or name in _BENCHES):
            yield top
        elif file.is_dir():
            # A package of the subject may be named as a probe: then it is its __init__ that holds it, not all below.
            yield file / "__init__.py"
        else:
            yield file


def _tests(root: Path, named: Path, subject: list[Path]) -> Iterator[Path]:
    path = (root / str(named).partition("::")[0]).resolve()
    if not path.exists() or not path.is_relative_to(root):
        raise SubjectError(f"There are no tests at {named} in {root}. Look with: ls {named.parent}")
    folder = path if path.is_dir() else path.parent
    below = folder.relative_to(root).parts
    holds_subject = folder == root or any(place.is_relative_to(folder) for place in subject)
    within_subject = any(folder.is_relative_to(place) for place in subject)
    if holds_subject or not (_TESTS if within_subject else _TESTS | _BENCHES) & set(below):
        # Tests beside the code that they test: only what is a test by name.
        for pattern in _TEST_FILES:
            yield from (file for file in folder.rglob(pattern) if ".git" not in file.parts)
        if path.is_file():
            yield path
    else:
        yield folder
    for above in (folder, *folder.parents):
        if above.is_relative_to(root):
            yield above / "conftest.py"
    yield root / "pytest.ini"


def overlay(sides: Sides, paths: Iterable[str]) -> tuple[str, ...]:
    """Put the head's instrument ``paths`` into both trees of the base, in the place of what is there.

    Returns the files that differed before, or were on one side only, relative to the root and sorted: their KPIs'
    rows say that the probe changed.

    Raises:
        SubjectError: a path would leave the tree.
    """
    changed: set[str] = set()
    chosen = list(dict.fromkeys(paths))
    for path in chosen:
        if Path(path).is_absolute() or ".." in Path(path).parts or path in ("", "."):
            raise SubjectError(f"The instrument path {path!r} is not inside the project. Look with: ls -d {path}")
        changed |= _differing(sides.base[0], sides.head[0], path)
    for root in sides.base:
        for path in chosen:
            _replace(sides.head[0] / path, root, path)
    return tuple(sorted(changed))


def _differing(base: Path, head: Path, path: str) -> set[str]:
    both = {str(file.relative_to(root)) for root in (base, head) for file in _files(root / path)}
    return {name for name in both if not _same(base / name, head / name)}


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir() and not path.is_symlink():
        yield from (file for file in path.rglob("*") if file.is_symlink() or not file.is_dir())
    elif os.path.lexists(path):
        yield path


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def _replace(source: Path, root: Path, path: str) -> None:
    target = root / path
    for above in reversed(target.relative_to(root).parents[:-1]):
        # A file or a link where the head has a folder: written through a link, the subject would change.
        if (root / above).is_symlink() or (root / above).is_file():
            (root / above).unlink()
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    elif os.path.lexists(source):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
