"""Where no loop begins, and how far a reference has moved since one began."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from seams.contract.rsi_loop import Charge
from seams.rsi.errors import LoopError
from seams.rsi.ground import find
from seams.rsi.loop import ReferenceLoop
from tests.seams.rsi.repository import Repo, contents, metric

LOOP = ReferenceLoop()


def refused(charge: Charge, words: str) -> None:
    for attempt in (lambda: LOOP.run(charge, [metric(2)]), lambda: LOOP.open(charge)):
        with pytest.raises(LoopError, match=words) as refusal:
            attempt()
        # One sentence or two, and the last is what to type.
        assert ": " in str(refusal.value).rpartition(". ")[2]


@pytest.mark.parametrize("how", ["changed", "staged", "new", "gone"])
def test_a_dirty_tree_is_refused_and_nothing_is_lost(repo_of_one: Repo, how: str) -> None:
    place = repo_of_one.top / ("new" if how == "new" else "metric")
    if how == "gone":
        place.unlink()
    else:
        place.write_text("precious")
    if how == "staged":
        repo_of_one.git("add", "--all")
    before = contents(repo_of_one.top)
    refused(repo_of_one.charge(), rf"is dirty: {place.name}\. .*git -C .* stash --include-untracked")
    assert contents(repo_of_one.top) == before
    assert not repo_of_one.journal.exists()


def test_it_is_dirty_whatever_the_user_has_git_show(repo_of_one: Repo) -> None:
    repo_of_one.git("config", "status.showUntrackedFiles", "no")
    (repo_of_one.top / "new").write_text("x")
    refused(repo_of_one.charge(), "is dirty: new")


def test_ignored_files_are_not_dirt(repo_of_one: Repo) -> None:
    repo_of_one.commit({".gitignore": "ignored\n"})
    (repo_of_one.top / "ignored").write_text("x")
    assert LOOP.run(repo_of_one.charge(), [metric(2)]).kept == 1


def test_a_bare_repository_is_refused(repo_of_one: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(repo_of_one.top), str(bare)], check=True)
    refused(repo_of_one.charge(repository=bare), "is bare")


def test_a_shallow_repository_is_refused(repo_of_one: Repo, tmp_path: Path) -> None:
    repo_of_one.commit({"more": "x"})
    shallow = tmp_path / "shallow"
    source = f"file://{repo_of_one.top}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", source, str(shallow)], check=True)
    refused(repo_of_one.charge(repository=shallow), r"is shallow.*fetch --unshallow")


def test_no_repository_is_refused(repo_of_one: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    refused(repo_of_one.charge(repository=tmp_path), "in no git repository")
    refused(repo_of_one.charge(repository=tmp_path / "nowhere"), "no folder .* that can be entered")
    refused(repo_of_one.charge(repository=repo_of_one.top / ".git"), "in no working tree")


@pytest.mark.parametrize("name", ["nothing", "-x", "a..b", "^main", "", "a\0b", "main:metric"])
def test_a_reference_that_names_no_commit_is_refused(repo_of_one: Repo, name: str) -> None:
    refused(repo_of_one.charge(reference=name), "There is no commit named")


@pytest.mark.parametrize("branch", ["main", "-x", "a b", "x.lock", "", "a\0b", "a..b", "HEAD", "@"])
def test_a_branch_that_is_taken_or_no_branch_is_refused(repo_of_one: Repo, branch: str) -> None:
    refused(repo_of_one.charge(branch=branch), "There is a branch main already" if branch == "main" else "is no name")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("branch", "other"),
    [("main/x", "main"), ("main/x/y", "main"), ("a", "a/b/c"), ("a/b", "a/b/c"), ("a/b/c/d", "a/b/c")],
)
def test_a_branch_that_another_leaves_no_room_for_is_refused(
    repo_of_one: Repo, branch: str, other: str, packed: bool
) -> None:
    repo_of_one.git("branch", "a/b/c")
    if packed:
        repo_of_one.git("pack-refs", "--all")
    refused(repo_of_one.charge(branch=branch), rf"There is a branch {other} already, and git keeps no {branch} beside")
    assert not repo_of_one.journal.exists()


def test_a_branch_beside_others_whose_names_begin_alike_is_made(repo_of_one: Repo) -> None:
    for name in ("ab", "a/b"):
        repo_of_one.git("branch", name)
    repo_of_one.git("tag", "a/c")
    for branch in ("a/c/d", "abc", "HEAD/x"):
        assert LOOP.run(repo_of_one.charge(branch=branch), [metric(2)]).kept == 1
    assert {"heads/a/c/d", "abc", "HEAD/x"} & repo_of_one.branches() >= {"abc", "HEAD/x"}
    assert repo_of_one.git("show", "refs/heads/a/c/d:metric") == "2"


def test_a_second_loop_does_not_build_on_the_first_ones_branch(repo_of_one: Repo) -> None:
    LOOP.run(repo_of_one.charge(), [metric(2)])
    refused(repo_of_one.charge(), "There is a branch rsi already")
    assert LOOP.run(repo_of_one.charge(branch="rsi/2"[::-1].replace("/", "-"), reference="rsi"), [metric(3)]).kept == 1


def test_nobody_is_told_to_delete_a_branch_that_is_no_finished_loops(repo_of_one: Repo, tmp_path: Path) -> None:
    repo_of_one.git("branch", "work")
    other = r"Name another, that is not among: git branch --all$"
    for branch in ("main", "work"):
        refused(repo_of_one.charge(branch=branch), other)
    LOOP.run(repo_of_one.charge(), [metric(2)])
    refused(repo_of_one.charge(), r"Merge it and then type: git branch --delete rsi$")
    for reference in ("rsi", "heads/rsi", "refs/heads/rsi"):
        refused(repo_of_one.charge(reference=reference), other)
    repo_of_one.git("worktree", "add", "--quiet", str(tmp_path / "out"), "rsi")
    refused(repo_of_one.charge(), other)
    repo_of_one.git("worktree", "remove", str(tmp_path / "out"))


def test_nothing_that_a_submodule_configures_runs(repo_of_one: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner", files={".gitattributes": "* filter=trap\n"})
    repo_of_one.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.top), "sub")
    repo_of_one.commit({})
    sub = repo_of_one.top / "sub"
    for key in ("filter.trap.clean", "filter.trap.process", "core.fsmonitor"):
        repo_of_one.git("-C", str(sub), "config", key, f"touch {tmp_path / 'ran'}; cat")
    (sub / "metric").write_text("another, so that it would have to be read")
    assert LOOP.run(repo_of_one.charge(), [metric(2)]).kept == 1
    assert not (tmp_path / "ran").exists()
    for key in ("filter.trap.clean", "filter.trap.process", "core.fsmonitor"):
        repo_of_one.git("-C", str(sub), "config", "--unset", key)
    repo_of_one.git("-C", str(sub), "commit", "--quiet", "--all", "--message", "m")
    refused(repo_of_one.charge(branch="two"), "is dirty: sub")


def test_zero_candidates_are_refused(repo_of_one: Repo) -> None:
    with pytest.raises(LoopError, match=r"no candidates.*explain keep_rate"):
        LOOP.run(repo_of_one.charge(), [])
    with pytest.raises(LoopError, match=r"candidates are Candidate, which are none in a row.*help\(it.Candidate\)"):
        LOOP.run(repo_of_one.charge(), metric(2))  # type: ignore[arg-type]
    assert not repo_of_one.journal.exists()


def test_a_journal_in_the_tree_is_refused_unless_it_is_ignored(repo_of_one: Repo) -> None:
    journal = repo_of_one.top / "sub" / "journal"
    refused(repo_of_one.charge(journal=journal), "would make the working tree dirty")
    refused(repo_of_one.charge(journal=repo_of_one.top / ".git" / "journal"), "in the repository's store")
    repo_of_one.commit({".gitignore": "/sub/\n"})
    assert LOOP.run(repo_of_one.charge(journal=journal), [metric(2)]).kept == 1
    assert journal.is_file()


def test_two_loops_at_once_on_one_journal_are_refused(repo_of_one: Repo) -> None:
    session = LOOP.open(repo_of_one.charge())
    refused(repo_of_one.charge(branch="other"), "Another loop writes")
    assert session.cycle(metric(2)).kept
    session.close()


def test_a_suite_that_litters_is_refused(repo_of_one: Repo) -> None:
    refused(repo_of_one.charge(suite=[["sh", "-c", "touch litter"]]), r"changes litter, so no candidate")


def test_a_filter_whose_name_holds_any_sign_is_switched_off(repo_of_one: Repo, tmp_path: Path) -> None:
    repo_of_one.commit({".gitattributes": "metric filter=a=b\n"})
    for kind in ("clean", "smudge", "process"):
        repo_of_one.git("config", f"filter.a=b.{kind}", f"touch {tmp_path / 'ran'}; cat")
    assert LOOP.run(repo_of_one.charge(), [metric(2)]).kept == 1
    assert not (tmp_path / "ran").exists()


def test_what_only_settings_of_the_users_own_ignore_is_dirt(
    repo_of_one: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ignored").write_text("new\n")
    (tmp_path / "settings").write_text(f"[core]\n\texcludesFile = {tmp_path / 'ignored'}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    (repo_of_one.top / "new").write_text("x")
    refused(repo_of_one.charge(), "is dirty: new.*settings of your own")


def test_the_loop_works_from_a_folder_inside_and_from_another_worktree(repo_of_one: Repo, tmp_path: Path) -> None:
    repo_of_one.commit({"d/file": "x"})
    assert LOOP.run(repo_of_one.charge(repository=repo_of_one.top / "d"), [metric(2)]).kept == 1
    other = tmp_path / "other"
    repo_of_one.git("worktree", "add", "--quiet", "-b", "side", str(other))
    (other / "metric").write_text("5")
    repo_of_one.git("-C", str(other), "commit", "--quiet", "--all", "--message", "m")
    result = LOOP.run(repo_of_one.charge(repository=other, branch="rsi2"), [metric(7)])
    assert (result.final_baseline, result.kept) == (5.0, 1)
    assert repo_of_one.trees() == 2
    repo_of_one.git("worktree", "remove", str(other))


def test_freshness_is_asked_anew(repo_of_one: Repo) -> None:
    repo = repo_of_one
    (row,) = LOOP.run(repo.charge(reference="main"), [metric(2)]).rows
    ask = (repo.top, row.baseline_ref, row.ref_name)
    assert LOOP.freshness(*ask)[:4] == (True, row.baseline_ref, 0, 0)
    tips = [repo.commit({"n": str(number)}) for number in range(3)]
    found = LOOP.freshness(*ask)
    assert found[:4] == (False, tips[-1], 3, 0)
    assert "3 commits behind main" in found.detail
    repo.git("commit", "--quiet", "--amend", "--message", "other")
    assert LOOP.freshness(repo.top, tips[-1], "main")[:4] == (False, repo.git("rev-parse", "main"), 1, 1)
    assert "rewritten" in LOOP.freshness(repo.top, tips[-1], "main").detail
    assert LOOP.freshness(repo.top, row.baseline_ref, "gone")[:4] == (False, None, None, None)
    assert LOOP.freshness(repo.top, "0" * 40, "main").behind is None


def test_the_store_of_a_worktree_is_the_one_that_all_share(repo_of_one: Repo) -> None:
    assert find(repo_of_one.top).common == (repo_of_one.top / ".git").resolve()
