"""Which packages are the subject, and who would be imported in their place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.project import Project, load_project
from harness.subject import SubjectError
from harness.subject.under_test import packages_under_test, shadowed


def _lay(root: Path, *names: str, toml: str = "", probe: str | None = None) -> Project:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    lines = ["[tool.harness]", toml]
    if probe:
        (root / "own.toml").write_text(f'[kpi.own]\nprobe = "{probe}"\n[kpi.other]\n')
        lines.append('kpis = ["own.toml"]')
    (root / "pyproject.toml").write_text("\n".join(lines))
    return load_project(root)


ROOT = ("one/__init__.py", "tests/__init__.py", "test/__init__.py", "one_tests/__init__.py", "docs/__init__.py")
ROOT += ("data/notes.txt", "setup.py", "conftest.py", "tool.py", "scripts/run.py", "my-dir/__init__.py")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (ROOT, ("one", "tool")),
        (
            ("src/two/__init__.py", "src/space/inner/__init__.py", "src/mod.py", "src/egg.egg-info/x"),
            ("mod", "space", "two"),
        ),
        (("src/two/__init__.py", *ROOT), ("one", "tool", "two")),
        (("src/__init__.py", "src/two/__init__.py"), ("two",)),
    ],
)
def test_the_packages_of_a_repository(tmp_path: Path, names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert packages_under_test(tmp_path, _lay(tmp_path, *names)) == expected


@pytest.mark.parametrize(
    ("probe", "toml", "expected"),
    [
        ("bench.probes:X", "", ("one", "two")),
        ("two.probes:X", "", ("bench", "one")),
        ("two.probes:X", 'runtime = "two.adapter:make"', ("bench", "one", "two")),
        ("two.probes:X", '[project]\nname = "two"\nversion = "1"', ("bench", "one", "two")),
        ("missing:X", "", ("bench", "one", "two")),
    ],
)
def test_a_package_that_holds_probes(tmp_path: Path, probe: str, toml: str, expected: tuple[str, ...]) -> None:
    table = toml if not toml.startswith("[") else ""
    project = _lay(tmp_path, "one/__init__.py", "two/__init__.py", "bench/__init__.py", toml=table, probe=probe)
    if toml.startswith("["):
        with (tmp_path / "pyproject.toml").open("a") as file:
            file.write(f"\n{toml}\n")
    assert packages_under_test(tmp_path, project) == expected


def test_the_only_package_is_the_subject_even_with_a_probe_in_it(tmp_path: Path) -> None:
    assert packages_under_test(tmp_path, _lay(tmp_path, "one/__init__.py", probe="one.bench:X")) == ("one",)


def test_the_project_has_the_last_word(tmp_path: Path) -> None:
    project = _lay(tmp_path, "one/sub/__init__.py", "src/two/__init__.py", "tests/__init__.py", toml="")
    for names in (("two",), ("tests", "one"), ("one.sub",)):
        own = Project(tmp_path, under_test=names)
        assert packages_under_test(tmp_path, own) == names
    with pytest.raises(SubjectError, match=r"under_test names 'three', .*src.* then run: python -m harness doctor$"):
        packages_under_test(tmp_path, Project(project.root, under_test=("two", "three")))


def test_nothing_to_test(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match=r'No package to test .* under_test = \["yourpackage"\]$'):
        packages_under_test(tmp_path, _lay(tmp_path, "tests/__init__.py", "readme.txt"))


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An interpreter with an empty site folder of its own."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    site = next(place.glob("lib/python*/site-packages"))
    return str(place / "bin" / "python"), site


@pytest.fixture
def environment(bare_python: tuple[str, Path], tmp_path: Path) -> tuple[str, Path, Path, Path]:
    """(python, its emptied site folder, a tree with pkg, an installed copy of pkg elsewhere)."""
    python, site = bare_python
    for path in sorted(site.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    tree, copy = tmp_path / "tree", tmp_path / "copy"
    for place in (tree, copy):
        (place / "pkg").mkdir(parents=True)
        (place / "pkg" / "__init__.py").touch()
    return python, site, tree, copy


def _distribution(site: Path, *files: str, editable: Path | None = None) -> None:
    info = site / "my_dist-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-dist\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    if editable:
        (info / "direct_url.json").write_text(json.dumps({"url": editable.as_uri(), "dir_info": {"editable": True}}))


FINDER = """
import sys
from importlib.machinery import PathFinder
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return PathFinder.find_spec(name, [{copy!r}]) if name == "pkg" else None
sys.meta_path.insert({at}, Finder)
"""


def test_what_comes_after_the_tree_shadows_nothing(environment: tuple[str, Path, Path, Path]) -> None:
    python, site, tree, copy = environment
    (site / "my_dist.pth").write_text(f"{copy}\n")
    (site / "pkg").mkdir()
    (site / "pkg" / "__init__.py").touch()
    (site / "_finder.py").write_text(FINDER.format(copy=str(copy), at="len(sys.meta_path)"))
    (site / "late.pth").write_text("import _finder\n")
    assert shadowed(["pkg", "pkg.sub", "not_anywhere"], python, [tree]) == []


@pytest.mark.parametrize("owned", [True, False])
def test_a_finder_that_comes_first(environment: tuple[str, Path, Path, Path], owned: bool) -> None:
    python, site, tree, copy = environment
    (site / "__editable___my_finder.py").write_text(FINDER.format(copy=str(copy), at=0))
    pth = site / "__editable__.my_dist.pth"
    pth.write_text("import __editable___my_finder\n")
    if owned:
        _distribution(site, pth.name, "__editable___my_finder.py", editable=copy)
    (sentence,) = shadowed(["pkg.sub", "pkg"], python, [tree])
    assert sentence.startswith(f"pkg would be imported from {copy}/pkg/__init__.py and not from the tree")
    assert f"because of {pth}. " in sentence
    assert sentence.endswith(f"Type: {python} -m pip uninstall my-dist" if owned else f"Remove it: rm {pth}")
    assert "\n" not in sentence


def test_a_package_that_a_pth_has_already_imported(environment: tuple[str, Path, Path, Path]) -> None:
    python, site, tree, copy = environment
    (site / "a.pth").write_text(f"{copy}\nimport pkg\n")
    (sentence,) = shadowed(["pkg"], python, [tree])
    assert f"{copy}/pkg/__init__.py" in sentence
    assert sentence.endswith(f"Remove it: rm {site}/a.pth")


def test_a_namespace_that_reaches_out_of_the_tree(environment: tuple[str, Path, Path, Path]) -> None:
    """A module that one side deleted would still be found in the installed copy."""
    python, site, tree, copy = environment
    (site / "a.pth").write_text(f"{copy}\n")
    for place in (tree, copy):
        (place / "space").mkdir()
        (place / "space" / "m.py").touch()
    (sentence,) = shadowed(["space"], python, [tree])
    assert sentence.startswith(f"space would be imported from {copy}/space and not")


def test_an_installed_copy_where_the_tree_has_none(environment: tuple[str, Path, Path, Path]) -> None:
    python, site, tree, _ = environment
    (site / "pkg2").mkdir()
    (site / "pkg2" / "__init__.py").touch()
    _distribution(site, "pkg2/__init__.py")
    (sentence,) = shadowed(["pkg2"], python, [tree])
    assert sentence.endswith("-m pip uninstall my-dist")


def test_a_name_of_the_interpreter(environment: tuple[str, Path, Path, Path]) -> None:
    python, _, tree, _ = environment
    (tree / "time.py").touch()
    (sentence,) = shadowed(["time"], python, [tree])
    assert sentence.startswith("time would be imported from ")
    assert sentence.endswith("-m site")


def test_an_interpreter_that_does_not_answer(tmp_path: Path) -> None:
    for python in (str(tmp_path / "none"), "/bin/true"):
        with pytest.raises(SubjectError, match="could not be asked where it would import pkg from"):
            shadowed(["pkg"], python, [tmp_path])
