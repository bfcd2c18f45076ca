"""The base of a comparison, and the sentences where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.subject import SubjectError
from harness.subject.revisions import resolve
from tests.harness.subject.repository import Repo, fingerprint


def test_the_base_is_where_the_histories_part(work: Repo) -> None:
    fork = work.commit({"a": "1"})
    work.git("switch", "--quiet", "--create", "topic")
    work.commit({"b": "1"})
    work.git("switch", "--quiet", "main")
    tip = work.commit({"c": "1"})
    work.git("switch", "--quiet", "topic")
    base = resolve(work.top, "main")
    assert (base.commit, base.merge_base) == (fork, True)
    assert tip != fork
    assert fork.startswith(base.short)
    assert 4 <= len(base.short) < 40


@pytest.mark.parametrize("rev", ["HEAD", "main", "main~0", "v1", "@"])
def test_a_commit_of_the_own_history_is_its_own_base(work: Repo, rev: str) -> None:
    commit = work.commit({"a": "1"})
    work.git("tag", "--annotate", "v1", "--message", "m")
    before = fingerprint(work.top / ".git")
    assert resolve(work.top, rev).commit == commit
    assert not resolve(work.top, rev).merge_base
    assert fingerprint(work.top / ".git") == before


@pytest.mark.parametrize("rev", ["nowhere", "", "--all", "HEAD..main", "^HEAD", "a\0b", "HEAD:a", "0" * 40, "x\ny"])
def test_what_names_no_commit(work: Repo, rev: str) -> None:
    work.commit({"a": "1"})
    with pytest.raises(SubjectError, match=r"There is no commit named .*\. List what there is: git branch --all$"):
        resolve(work.top, rev)


@pytest.mark.parametrize(
    ("rev", "command"), [("main2", "git fetch origin main2"), ("origin/x y", "git fetch origin 'x y'")]
)
def test_a_branch_that_was_never_fetched(work: Repo, rev: str, command: str) -> None:
    work.commit({"a": "1"})
    work.git("remote", "add", "origin", "/nowhere")
    with pytest.raises(SubjectError) as caught:
        resolve(work.top, rev)
    assert str(caught.value).endswith(command)


def test_no_common_history(work: Repo) -> None:
    work.commit({"a": "1"})
    work.git("switch", "--quiet", "--orphan", "other")
    work.commit({"b": "1"})
    with pytest.raises(SubjectError, match=r"no commit in common.* git log --oneline HEAD main$"):
        resolve(work.top, "main")


def _shallow(tmp_path: Path, origin: Repo) -> Repo:
    clone = Repo(tmp_path / "clone")
    clone.git("remote", "add", "origin", f"file://{origin.top}")
    for branch in ("topic", "main"):
        clone.git("fetch", "--quiet", "--depth=1", "origin", f"{branch}:refs/remotes/origin/{branch}")
    clone.git("switch", "--quiet", "--create", "topic", "origin/topic")
    return clone


def test_a_shallow_clone_without_the_base(tmp_path: Path, work: Repo) -> None:
    fork = work.commit({"a": "1"})
    work.git("switch", "--quiet", "--create", "topic")
    work.commit({"b": "1"})
    work.git("switch", "--quiet", "main")
    work.commit({"c": "1"})
    clone = _shallow(tmp_path, work)
    for rev, sentence in (("origin/main", "does not hold the commit where HEAD and origin/main part"), (fork, "named")):
        with pytest.raises(SubjectError, match=r"git fetch --unshallow \(in a workflow: fetch-depth: 0") as caught:
            resolve(clone.top, rev)
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)
    clone.git("fetch", "--quiet", "--unshallow", "origin", "topic", "main")
    assert resolve(clone.top, "origin/main").commit == fork


def test_a_shallow_clone_that_holds_the_base_will_do(tmp_path: Path, work: Repo) -> None:
    work.commit({"a": "1"})
    fork = work.commit({"a": "2"})
    work.git("branch", "topic")
    clone = _shallow(tmp_path, work)
    assert resolve(clone.top, "origin/main").commit == fork


def test_places_without_a_history(tmp_path: Path, work: Repo) -> None:
    bare = tmp_path / "bare"
    work.git("init", "--quiet", "--bare", str(bare))
    (tmp_path / "plain").mkdir()
    for place, command in (
        (tmp_path / "plain", f"git -C {tmp_path}/plain init"),
        (bare, "git worktree add ../tree HEAD"),
        (work.top, "git add --all && git commit --message Begin"),
        (tmp_path / "gone", f"ls -d {tmp_path}"),
    ):
        with pytest.raises(SubjectError) as caught:
            resolve(place, "HEAD")
        assert str(caught.value).endswith(command)


def test_without_git(work: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SubjectError, match=r"no git is on the path\. Look with: git --version$"):
        resolve(work.top, "HEAD")


def test_the_variables_of_a_hook_point_nowhere(work: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit = work.commit({"a": "1"})
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert resolve(work.top, "HEAD").commit == commit
