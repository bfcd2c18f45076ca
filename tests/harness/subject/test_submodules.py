"""Submodules on both sides: from .git/modules, recursively, and by name where they are not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.subject import SubjectError
from harness.subject.trees import materialise
from tests.harness.subject.repository import Repo, fingerprint, listing


@pytest.fixture
def outer(work: Repo, tmp_path: Path) -> Repo:
    """A repository with a submodule in a folder with a space, which has one of its own."""
    inner = Repo(tmp_path / "inner")
    inner.commit({"leaf": "1"})
    middle = Repo(tmp_path / "middle")
    middle.git("submodule", "--quiet", "add", str(inner.top), "in")
    middle.commit({"twig": "1"})
    work.git("submodule", "--quiet", "add", str(middle.top), "lib/my mod")
    work.commit({"root": "1"})
    work.git("submodule", "--quiet", "update", "--init", "--recursive")
    return work


def _names(root: Path) -> dict[str, bytes | str]:
    return {name: content for name, content in listing(root).items() if not name.endswith(".gitmodules")}


def test_both_sides_have_them(outer: Repo) -> None:
    module = outer.top / "lib" / "my mod"
    (module / "twig").write_text("2")
    (module / "in" / "leaf").write_text("2")
    (module / "in" / "new").write_text("n")
    before = fingerprint(outer.top)
    with materialise(outer.project(), outer.base()) as sides:
        assert fingerprint(outer.top) == before
        for root in sides.base:
            assert _names(root) == {"root": b"1", "lib/my mod/twig": b"1", "lib/my mod/in/leaf": b"1"}
        for root in sides.head:
            assert _names(root) == {
                "root": b"1",
                "lib/my mod/twig": b"2",
                "lib/my mod/in/leaf": b"2",
                "lib/my mod/in/new": b"n",
            }


def test_the_base_has_the_commit_that_it_names(outer: Repo) -> None:
    base = outer.base()
    module = Repo.__new__(Repo)
    module.top = outer.top / "lib" / "my mod"
    module.commit({"twig": "2"})
    outer.commit()
    outer.git("rm", "--quiet", "--force", "lib/my mod")
    outer.commit()
    with materialise(outer.project(), outer.base(base.commit)) as sides:
        assert _names(sides.base[0])["lib/my mod/twig"] == b"1"
        assert _names(sides.head[0]) == {"root": b"1"}
    with materialise(outer.project(), outer.base("HEAD~1")) as sides:
        assert _names(sides.base[0])["lib/my mod/twig"] == b"2"


def test_an_absent_one_is_refused_by_name(outer: Repo, tmp_path: Path) -> None:
    outer.git("clone", "--quiet", str(outer.top), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    with (
        pytest.raises(SubjectError, match=r"'lib/my mod' is not checked out .* --init --recursive -- 'lib/my mod'$"),
        materialise(clone.project(), clone.base()),
    ):
        pass
    shutil.rmtree(clone.top / "lib")
    with (
        pytest.raises(
            SubjectError, match=r"'lib/my mod' of the base is not in this clone\. Type: git submodule update"
        ),
        materialise(clone.project(), clone.base()),
    ):
        pass


def test_an_absent_commit_is_refused_by_name(outer: Repo, tmp_path: Path) -> None:
    lost = "1" * 40
    outer.git("update-index", "--cacheinfo", f"160000,{lost},lib/my mod")
    outer.git("commit", "--quiet", "--message", "m")
    with (
        pytest.raises(SubjectError, match=rf"'lib/my mod' lacks the commit 1{{12}} .* fetch origin {lost}$"),
        materialise(outer.project(), outer.base()),
    ):
        pass


def test_a_link_to_a_repository_that_nobody_declared(work: Repo) -> None:
    Repo(work.top / "stray").commit({"x": "1"})
    work.commit({"a": "1"})
    with materialise(work.project(), work.base()) as sides:
        assert listing(sides.base[0]) == listing(sides.head[0]) == {"a": b"1", "stray/x": b"1"}
    shutil.rmtree(work.top / "stray")
    with pytest.raises(SubjectError, match="The submodule 'stray'"), materialise(work.project(), work.base()):
        pass


def test_a_name_that_climbs_out_of_the_folder_of_modules(outer: Repo, tmp_path: Path) -> None:
    text = (outer.top / ".gitmodules").read_text()
    there = outer.git("-C", str(tmp_path / "middle"), "rev-parse", "HEAD")
    outer.git("rm", "--quiet", "--cached", "lib/my mod")
    shutil.rmtree(outer.top / "lib")
    outer.write({".gitmodules": text.replace('"lib/my mod"', '"../../../middle/.git"')})
    outer.git("add", ".gitmodules")
    outer.git("update-index", "--add", "--cacheinfo", f"160000,{there},lib/my mod")
    outer.git("commit", "--quiet", "--message", "m")
    with pytest.raises(SubjectError, match="is not in this clone"), materialise(outer.project(), outer.base()):
        pass
