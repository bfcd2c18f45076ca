"""Declared dependencies of two sides: what counts as a difference and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.subject.dependencies import differing, refusal

PYPROJECT = """
[project]
requires-python = ">=3.11"
dependencies = ["NumPy >=1.26, <3", "typing.extensions; python_version < '3.12'", "x[b,a] @ https://example.invalid/x"]
[project.optional-dependencies]
fast = ["uvloop"]
"""


def _lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    root.mkdir(exist_ok=True)
    return root


def test_writing_it_differently_is_no_difference(tmp_path: Path) -> None:
    base = _lay(tmp_path / "a", {"pyproject.toml": PYPROJECT, "requirements.txt": "# c\na==1  # why\n\nB_c>=2\n"})
    other = PYPROJECT.replace("NumPy >=1.26, <3", "numpy<3,>=1.26").replace("typing.ext", "Typing_ext")
    other += '[tool.x]\ny = 1\n[dependency-groups]\ndev = ["pytest"]\n'
    head = _lay(tmp_path / "b", {"pyproject.toml": other, "requirements.txt": "b-c >= 2\na==1\n"})
    assert differing(base, head) == []
    assert refusal([]) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "item"),
    [
        ("pyproject.toml", ">=1.26", ">=2", "dependencies: numpy (base '<3,>=1.26', head '<3,>=2')"),
        ("pyproject.toml", '"uvloop"', "", "optional-dependencies.fast: uvloop (base 'any', head absent)"),
        ("pyproject.toml", '">=3.11"', '">=3.12"', "requires-python: python (base '>=3.11', head '>=3.12')"),
        ("pyproject.toml", "< '3.12'", "< '3.13'", "dependencies: typing-extensions"),
        ("requirements-dev.txt", "a==1", "a==2", "requirements-dev.txt: a (base '==1', head '==2')"),
        ("requirements/ci.txt", "-r x.txt", "-r y.txt", "requirements/ci.txt: -r x.txt (base 'any', head absent)"),
        ("uv.lock", "a", "b", "uv.lock (its content)"),
        ("poetry.lock", "a", "b", "poetry.lock (its content)"),
        ("pdm.lock", "a", "b", "pdm.lock (its content)"),
        ("Pipfile.lock", "a", "b", "Pipfile.lock (its content)"),
        ("pylock.toml", "a", "b", "pylock.toml (its content)"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, name: str, old: str, new: str, item: str) -> None:
    before = PYPROJECT if name == "pyproject.toml" else f"{old}\n"
    assert old in before
    base = _lay(tmp_path / "a", {name: before})
    head = _lay(tmp_path / "b", {name: before.replace(old, new)})
    found = differing(base, head)
    assert found[0].startswith(item)
    sentence = refusal(found)
    assert sentence is not None
    assert item in sentence
    assert sentence.endswith("git log --oneline -- pyproject.toml")
    assert differing(base, base) == []


def test_a_file_on_one_side_only_and_one_that_is_no_toml(tmp_path: Path) -> None:
    base = _lay(tmp_path / "a", {"uv.lock": "x"})
    head = _lay(tmp_path / "b", {"pyproject.toml": "[project"})
    assert [item.partition(" (")[0] for item in differing(base, head)] == ["pyproject.toml: it is not TOML", "uv.lock"]
    odd = _lay(tmp_path / "c", {"pyproject.toml": "project = 1\n"})
    assert differing(odd, _lay(tmp_path / "d", {"pyproject.toml": ""})) == []


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    base = _lay(tmp_path / "a", {"requirements.txt": "\n".join(f"p{n}==1" for n in range(9))})
    head = _lay(tmp_path / "b", {"requirements.txt": "\n".join(f"p{n}==2" for n in range(9))})
    items = differing(base, head)
    assert len(items) == 9
    sentence = refusal(items)
    assert sentence is not None
    assert sentence.count("==1") == 5
    assert "and 4 more" in sentence
