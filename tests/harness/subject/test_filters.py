"""Files behind a content filter: given back where that needs no code, named where it does."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.subject import SubjectError
from harness.subject.trees import materialise
from tests.harness.subject.repository import Repo, fingerprint


def pointer(content: bytes) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (digest.encode(), len(content))


def keep(store: Path, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()
    held = store / digest[:2] / digest[2:4] / digest
    held.parent.mkdir(parents=True, exist_ok=True)
    held.write_bytes(content)


@pytest.fixture
def lfs(work: Repo) -> Repo:
    """A repository whose *.bin are stored as pointers; no filter has run on what lies in the working tree."""
    work.commit(
        {
            ".gitattributes": "*.bin filter=lfs -text\n",
            "old.bin": pointer(b"old"),
            "same.bin": pointer(b"same"),
            "moved.bin": pointer(b"one"),
        }
    )
    work.git("config", "filter.lfs.process", "false")
    work.git("config", "filter.lfs.required", "true")
    return work


def test_objects_of_the_local_store_take_the_place_of_pointers(lfs: Repo) -> None:
    keep(lfs.top / ".git" / "lfs" / "objects", b"old")
    lfs.write({"old.bin": b"new content", "moved.bin": pointer(b"two")})
    before = fingerprint(lfs.top)
    with materialise(lfs.project(), lfs.base()) as sides:
        assert [(root / "old.bin").read_bytes() for root in sides.roots] == [
            b"old",
            b"old",
            b"new content",
            b"new content",
        ]
        # A pointer in the working tree: nobody has the content, and the sides are alike.
        assert (sides.base[0] / "moved.bin").read_bytes() == pointer(b"one")
        assert {(root / "same.bin").read_bytes() for root in sides.roots} == {pointer(b"same")}
        assert sides.unfiltered == ()
    assert fingerprint(lfs.top) == before


def test_an_object_that_is_missing_or_torn_is_named(lfs: Repo) -> None:
    keep(lfs.top / "elsewhere" / "objects", b"old")
    lfs.git("config", "lfs.storage", str(lfs.top / "elsewhere"))
    lfs.write({"old.bin": b"new content", "same.bin": b"other", ".gitignore": "elsewhere\n"})
    with materialise(lfs.project(), lfs.base()) as sides:
        assert (sides.base[0] / "old.bin").read_bytes() == b"old"
        assert sides.unfiltered == ("same.bin",)
        assert sides.warnings[0].endswith(f"git lfs fetch origin {lfs.base().commit}")
        assert "'same.bin' of the base" in sides.warnings[0]
    next(path for path in (lfs.top / "elsewhere").rglob("*") if path.is_file()).write_bytes(b"ol")
    with materialise(lfs.project(), lfs.base()) as sides:
        assert set(sides.unfiltered) == {"old.bin", "same.bin"}


def test_the_working_file_stands_in_where_the_commit_stores_the_same(work: Repo) -> None:
    """Any filter: rot13 on the way in and out, and git believes the working file to be unmodified."""
    work.git("config", "filter.rot.clean", "tr a-z n-za-m")
    work.git("config", "filter.rot.smudge", "tr a-z n-za-m")
    work.commit({".gitattributes": "*.rot filter=rot\n", "sub/a.rot": "hello", "sub/b.rot": "world"})
    assert work.git("show", "HEAD:sub/a.rot") == "uryyb"
    work.write({"sub/b.rot": "changed"})
    with materialise(work.project("sub"), work.base()) as sides:
        assert (sides.base[0] / "a.rot").read_text() == "hello"
        assert (sides.base[0] / "b.rot").read_text() == "jbeyq"
        assert sides.unfiltered == ("b.rot",)


def test_a_filter_that_only_cleans_is_none(work: Repo) -> None:
    work.git("config", "filter.strip.clean", "cat")
    work.git("config", "filter.strip.smudge", "cat")
    work.commit({".gitattributes": "* filter=strip\n", "a": "1"})
    work.write({"a": "2"})
    with materialise(work.project(), work.base()) as sides:
        assert (sides.unfiltered, sides.warnings) == ((), ())


def test_a_filter_that_cannot_be_switched_off_is_refused(work: Repo) -> None:
    work.commit({"a": "1"})
    work.git("config", "filter.a=b.smudge", "tr a b")
    with (
        pytest.raises(SubjectError, match=r"'a=b' has a name .* git config --show-origin --get-regexp filter$"),
        materialise(work.project(), work.base()),
    ):
        pass
