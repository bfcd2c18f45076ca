"""The audit of closed work over real repositories, and what it says of those that it cannot read whole."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.probes.fleet._repository import Commit, Scratch
from seams.contract.fleet_closure import Audit, Bucket, Candidate, Coverage, Finding, Outcome, Row, Witness
from seams.fleet.closure import bucket, finding, offer
from seams.fleet.tracker import Issue

MAIN = "refs/remotes/origin/main"
CODE = {"src/a.py": "pass\n"}
CLOSURE = offer("none")


@pytest.fixture
def scratch() -> Iterator[Scratch]:
    made = Scratch()
    yield made
    made.close()


def closed(number: int, reason: str = "COMPLETED") -> dict[str, object]:
    return {"number": number, "state": "CLOSED", "stateReason": reason}


def opened(number: int) -> dict[str, object]:
    return {"number": number, "state": "OPEN", "stateReason": ""}


def laid_out(scratch: Scratch, commits: list[Commit], issues: list[dict[str, object]]) -> None:
    """Each commit on the one before, main where origin has the last."""
    before: tuple[str, ...] = ()
    chained = []
    for commit in commits:
        chained.append(commit if commit.parents else commit._replace(parents=before))
        before = (commit.name,)
    scratch.add(chained)
    scratch.point(MAIN, commits[-1].name)
    scratch.point("refs/heads/main", commits[-1].name)
    scratch.git("reset", "--quiet", "--hard")
    scratch.export.write_text("".join(f"{json.dumps(each)}\n" for each in issues))


def audited(scratch: Scratch, **more) -> Audit:
    return CLOSURE.audit(str(scratch.top), str(scratch.export), **more)


def buckets(audit: Audit) -> dict[int, Bucket]:
    return {row.number: row.bucket for row in audit.rows}


@pytest.mark.parametrize(
    ("closed", "planned", "best", "falls"),
    [
        (True, False, Witness.DIFF, Bucket.CLOSED_NOT_PLANNED),
        (True, True, Witness.DIFF, Bucket.TRUE_RESOLVED),
        (True, True, Witness.DATA, Bucket.DATA_RESOLVED),
        (True, True, Witness.NONE, Bucket.CLAIMED_CLOSED),
        (False, True, Witness.DIFF, Bucket.OPEN_WITNESSED),
        (False, True, Witness.DATA, Bucket.OPEN),
        (False, True, Witness.NONE, Bucket.OPEN),
    ],
)
def test_where_an_issue_falls(closed: bool, planned: bool, best: Witness, falls: Bucket) -> None:
    assert bucket(Issue(1, closed, planned), best) is falls


def test_a_gap_hides_no_claim_and_is_no_pass() -> None:
    claimed, witnessed = {Bucket.CLAIMED_CLOSED: 1}, {Bucket.OPEN_WITNESSED: 1}
    assert finding(claimed, ["a gap"]) is Finding.CLAIMED_CLOSED
    assert finding(witnessed, ["a gap"]) is Finding.INCOMPLETE
    assert finding({}, ["a gap"]) is Finding.INCOMPLETE
    assert finding(witnessed, []) is Finding.OPEN_WITNESSED
    assert finding({}, []) is Finding.OK
    assert [each for each in Finding if each.ok] == [Finding.OPEN_WITNESSED, Finding.OK]


def test_one_borne_out_and_two_claimed(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "fix: it, fixes #1", CODE)], [closed(1), closed(2), closed(3)])
    audit = audited(scratch)
    assert Counter(buckets(audit).values()) == {Bucket.TRUE_RESOLVED: 1, Bucket.CLAIMED_CLOSED: 2}
    assert audit.finding is Finding.CLAIMED_CLOSED
    assert audit.rows[0] == Row(1, Bucket.TRUE_RESOLVED, ((scratch.ids["one"], Witness.DIFF),))
    assert audit.coverage == Coverage(3, 1, 1)
    assert (audit.reach.main, audit.reach.commit, audit.reach.local_only) == (MAIN, scratch.ids["one"], 0)
    assert audit.notes == ()


def test_all_borne_out_is_in_order(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "fix: it, fixes #1", CODE)], [closed(1)])
    assert audited(scratch).finding is Finding.OK


def test_the_best_witness_of_several_counts(scratch: Scratch) -> None:
    commits = [
        Commit("word", "fix: it, fixes #1, fixes #2", {"README.md": "x"}),
        Commit("deed", "fix: now, fixes #1, see #2 and #2", CODE),
    ]
    laid_out(scratch, commits, [closed(1), closed(2)])
    audit = audited(scratch)
    assert buckets(audit) == {1: Bucket.TRUE_RESOLVED, 2: Bucket.CLAIMED_CLOSED}
    assert audit.rows[0].commits == ((scratch.ids["deed"], Witness.DIFF), (scratch.ids["word"], Witness.NONE))
    assert audit.rows[1].mentions == 1


def test_a_commit_that_main_does_not_reach_counts_for_nothing(scratch: Scratch) -> None:
    commits = [Commit("one", "Begin", CODE), Commit("two", "fix: it, fixes #1, fixes #2", {"src/b.py": "pass"})]
    laid_out(scratch, commits, [closed(1), opened(2)])
    scratch.point(MAIN, "one")
    audit = audited(scratch)
    assert buckets(audit) == {1: Bucket.CLAIMED_CLOSED, 2: Bucket.OPEN}
    assert (audit.reach.local_only, audit.reach.local_claims) == (1, (1, 2))
    assert CLOSURE.candidates(audit) == []
    assert buckets(audited(scratch, main="main")) == {1: Bucket.TRUE_RESOLVED, 2: Bucket.OPEN_WITNESSED}


def test_a_detached_head_is_another_branch(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Begin", CODE), Commit("two", "fixes #1", {"b.py": "x"})], [closed(1)])
    scratch.point(MAIN, "one")
    scratch.git("checkout", "--quiet", "--detach")
    scratch.git("branch", "--delete", "--force", "main")
    audit = audited(scratch)
    assert buckets(audit) == {1: Bucket.CLAIMED_CLOSED}
    assert audit.reach.local_only == 1


def test_without_an_origin_the_local_main_stands_in_and_that_is_said(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "fix: it, fixes #1", CODE)], [closed(1)])
    scratch.git("update-ref", "-d", MAIN)
    audit = audited(scratch)
    assert audit.finding is Finding.OK
    assert "never pushed" in audit.notes[0]


def test_a_merge_is_judged_by_what_it_brings_to_main(scratch: Scratch) -> None:
    commits = [
        Commit("one", "Begin", CODE),
        Commit("side", "Work", {"src/b.py": "pass"}, ("one",)),
        Commit("merge", "Merge b\n\nFixes #1", {"src/b.py": "pass"}, ("one", "side")),
        Commit("empty", "Merge nothing\n\nFixes #2", {}, ("merge", "side")),
    ]
    laid_out(scratch, commits, [closed(1), closed(2)])
    assert buckets(audited(scratch)) == {1: Bucket.TRUE_RESOLVED, 2: Bucket.CLAIMED_CLOSED}


def test_what_was_taken_back_bears_nothing_out_until_it_is_back_again(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("fix", "fix: it, fixes #1", CODE)], [closed(1)])

    def taken_back(name: str, title: str, of: str) -> None:
        message = f'{title} "fix: it, fixes #1"\n\nThis reverts commit {scratch.ids[of]}.'
        scratch.add([Commit(name, message, {"src/a.py": name}, (list(scratch.ids)[-1],))])
        scratch.point(MAIN, name)
        scratch.point("refs/heads/main", name)
        scratch.git("reset", "--quiet", "--hard")

    taken_back("revert", "Revert", "fix")
    audit = audited(scratch)
    assert buckets(audit) == {1: Bucket.CLAIMED_CLOSED}
    assert "reverted" in audit.notes[0]
    (closing,) = CLOSURE.close(str(scratch.top), [Candidate(1, scratch.ids["fix"])])
    assert (closing.outcome, "reverted" in closing.said) == (Outcome.SKIP_UNWITNESSED, True)
    taken_back("reapply", "Reapply", "revert")
    assert buckets(audited(scratch)) == {1: Bucket.TRUE_RESOLVED}


def test_names_and_messages_that_look_like_commits_are_none(scratch: Scratch) -> None:
    fake = ":000000 100644 " + "0" * 40 + " " + "1" * 40 + " A"
    commits = [
        Commit(
            "one",
            f"fix: it, fixes #1\n\n{'a' * 40}\n{fake}\n\ncommit {'b' * 40} 17\n",
            {"a" * 40: "x", "README.md": "x"},
        ),
        Commit("two", "Fixes #2", {"results.json": "{}", '"src/odd\\n:x.py"': "x"}),
        Commit("three", "Fixes #3", {"b" * 40: "x"}),
    ]
    laid_out(scratch, commits, [closed(1), closed(2), closed(3)])
    wanted = {1: Bucket.CLAIMED_CLOSED, 2: Bucket.TRUE_RESOLVED, 3: Bucket.CLAIMED_CLOSED}
    assert buckets(audited(scratch)) == wanted


def test_a_huge_message_is_read_to_its_end(scratch: Scratch) -> None:
    message = "fix: it\n\n" + "close " * 300_000 + " " * 1_000_000 + "#9 " + "#" * 100_000 + "\nfixes #1"
    laid_out(scratch, [Commit("one", message, CODE)], [closed(1), closed(9)])
    audit = audited(scratch)
    assert buckets(audit) == {1: Bucket.TRUE_RESOLVED, 9: Bucket.TRUE_RESOLVED}


@pytest.mark.parametrize(("limit", "complete"), [(2, False), (3, True)])
def test_commits_beyond_the_limit_are_a_gap(scratch: Scratch, limit: int, complete: bool) -> None:
    commits = [Commit("one", "Fixes #1", CODE), Commit("two", "Fixes #2", {"b.py": "x"}), Commit("3", "more", {})]
    laid_out(scratch, commits, [closed(2)])
    audit = audited(scratch, commit_limit=limit)
    assert audit.finding is (Finding.OK if complete else Finding.INCOMPLETE)
    assert (audit.coverage.commits, audit.coverage.commits_in_all) == (limit, 3)
    assert audit.finding.ok is complete
    assert complete or "newest 2 were read" in audit.coverage.gaps[0]


def test_as_many_issues_as_the_limit_are_a_gap(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Fixes #1, fixes #2", CODE)], [closed(1), closed(2)])
    assert audited(scratch, issue_limit=2).finding is Finding.INCOMPLETE
    assert audited(scratch, issue_limit=3).finding is Finding.OK


@pytest.mark.parametrize("lines", ["", "\n\n", "{\n"])
def test_an_export_without_an_issue_is_no_pass(scratch: Scratch, lines: str) -> None:
    laid_out(scratch, [Commit("one", "Begin", CODE)], [])
    scratch.export.write_text(lines)
    audit = audited(scratch)
    assert audit.finding is Finding.INCOMPLETE
    assert "holds no issue" in audit.coverage.gaps[-1]


def test_a_broken_line_is_a_gap_and_the_others_count(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Fixes #1", CODE)], [closed(1)])
    scratch.export.write_text(scratch.export.read_text() + '{"number": 2, "st')
    audit = audited(scratch)
    assert audit.finding is Finding.INCOMPLETE
    assert audit.coverage.gaps == ("Line 2 of the export is not JSON.",)
    assert buckets(audit) == {1: Bucket.TRUE_RESOLVED}


def test_a_dirty_tree_counts_for_nothing_and_is_said(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Begin", CODE)], [closed(1)])
    (scratch.top / "src" / "a.py").write_text("fixed = True\n")
    (scratch.top / "new.py").touch()
    audit = audited(scratch)
    assert buckets(audit) == {1: Bucket.CLAIMED_CLOSED}
    assert "2 changes" in audit.notes[0]


def test_a_bare_repository_is_audited_and_that_is_said(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Fixes #1", CODE)], [closed(1)])
    scratch.git("clone", "--quiet", "--bare", "--no-hardlinks", str(scratch.top), str(scratch.folder / "bare"))
    audit = CLOSURE.audit(str(scratch.folder / "bare"), str(scratch.export))
    assert audit.finding is Finding.OK
    assert any("bare" in note for note in audit.notes)


def test_where_a_shallow_history_is_cut_off_nothing_is_borne_out(scratch: Scratch) -> None:
    """The commit at the cut has no parent there, so all of its tree would look like its change."""
    commits = [Commit("one", "Begin", CODE), Commit("two", "fix: it, fixes #1", {"README.md": "x"})]
    laid_out(scratch, commits, [opened(1)])
    scratch.git("clone", "--quiet", "--depth=1", f"file://{scratch.top}", str(scratch.folder / "cut"))
    audit = CLOSURE.audit(str(scratch.folder / "cut"), str(scratch.export))
    assert buckets(audit) == {1: Bucket.OPEN}
    assert audit.finding is Finding.INCOMPLETE
    assert "shallow" in audit.coverage.gaps[0]


def test_what_is_no_repository_is_an_error_in_a_sentence(scratch: Scratch, tmp_path: Path) -> None:
    laid_out(scratch, [Commit("one", "Begin", CODE)], [closed(1)])
    export = str(scratch.export)
    within = scratch.top / "src"
    assert within.is_dir()
    for place in (str(tmp_path), str(tmp_path / "absent"), export, str(within), str(scratch.top / ".git"), "a\0b"):
        audit = CLOSURE.audit(place, export)
        assert (audit.finding, audit.rows, audit.finding.ok) == (Finding.AUDIT_ERROR, (), False)
        (sentence,) = audit.notes
        assert ": git" in sentence or ": ls" in sentence
    for path in (str(tmp_path / "absent"), str(tmp_path), "a\0b"):
        audit = CLOSURE.audit(str(scratch.top), path)
        assert audit.finding is Finding.AUDIT_ERROR
        assert "export" in audit.notes[0]
    assert audited(scratch, main="no-such").finding is Finding.AUDIT_ERROR
    assert audited(scratch, main="--all").finding is Finding.AUDIT_ERROR
    assert audited(scratch, commit_limit=0).finding is Finding.AUDIT_ERROR


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"commit_limit": "5"}, "A limit of '5' is no whole number"),
        ({"issue_limit": 2.5}, "A limit of 2.5 is no whole number"),
        ({"issue_limit": True}, "A limit of True is no whole number"),
        ({"commit_limit": None}, "A limit of None is no whole number"),
        ({"main": 5}, "The branch 5 is no name"),
        ({"main": "\ud800"}, "The branch '\\ud800' is no name"),
        ({"main": "a\0b"}, "The branch 'a\\x00b' is no name"),
        ({"repository": None}, "The repository None is no path"),
        ({"repository": b"/tmp"}, "The repository b'/tmp' is no path"),
        ({"export": 0}, "The export 0 is no path"),
        ({"export": "\ud800"}, "cannot be read"),
    ],
)
def test_an_argument_that_is_none_is_a_sentence_with_what_to_do(scratch: Scratch, given, said) -> None:
    laid_out(scratch, [Commit("one", "feat: one (fixes #1)", CODE)], [closed(1)])
    asked = {"repository": str(scratch.top), "export": str(scratch.export)} | given
    audit = CLOSURE.audit(**asked)
    assert audit.finding is Finding.AUDIT_ERROR
    assert said in audit.notes[0]
    assert any(step in audit.notes[0] for step in ("Run: ", "Look with: ", "Write one: "))


def test_what_is_no_candidate_and_no_repository_closes_nothing(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "feat: one (fixes #1)", CODE)], [closed(1)])
    held = [Candidate(1, None)]
    assert CLOSURE.close(str(scratch.top), held)[0].outcome is Outcome.SKIP_UNWITNESSED
    refused = CLOSURE.close(5, held)[0]
    assert (refused.outcome, "The repository 5 is no path" in refused.said) == (Outcome.SKIP_UNWITNESSED, True)
    with pytest.raises(TypeError, match=r"A limit of '3' is no whole number; give candidates\(\) one"):
        CLOSURE.candidates(audited(scratch), limit="3")


def test_a_repository_without_a_commit_is_an_error(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "new")], check=True)
    (tmp_path / "issues").write_text(json.dumps(closed(1)))
    audit = CLOSURE.audit(str(tmp_path / "new"), str(tmp_path / "issues"))
    assert audit.finding is Finding.AUDIT_ERROR
    assert "no main branch" in audit.notes[0]


def test_a_store_that_lacks_a_part_is_an_error(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Fixes #1", CODE)], [closed(1)])
    for pack in (scratch.top / ".git" / "objects").rglob("*.pack"):
        pack.unlink()
    for each in (scratch.top / ".git" / "objects").glob("??/*"):
        each.unlink()
    audit = audited(scratch)
    assert audit.finding is Finding.AUDIT_ERROR


def test_nothing_of_the_repository_or_the_user_is_run_and_nothing_is_changed(
    scratch: Scratch, tmp_path: Path, monkeypatch
) -> None:
    laid_out(scratch, [Commit("one", "Fixes #1", {**CODE, ".gitattributes": "*.py filter=a=b diff=c\n"})], [closed(1)])
    ran = tmp_path / "ran"
    program = f"sh -c 'echo >> {ran}; cat'"
    config = scratch.top / ".git" / "config"
    rows = [f'[filter "a=b"]\n\tclean = "{program}"\n\tprocess = "{program}"\n\trequired = true\n']
    rows += [f'[diff "c"]\n\ttextconv = "{program}"\n[diff]\n\texternal = "{program}"\n']
    rows += [f'[core]\n\tfsmonitor = "{program}"\n\thooksPath = {tmp_path}\n\tpager = "{program}"\n']
    config.write_text(config.read_text() + "".join(rows))
    hook = tmp_path / "post-index-change"
    hook.write_text(f"#!/bin/sh\necho >> {ran}\n")
    hook.chmod(0o755)
    os.utime(scratch.top / "src" / "a.py", (1, 1))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", program)
    before = {path: path.stat().st_mtime_ns for path in scratch.top.rglob("*")}
    audit = audited(scratch)
    assert audit.finding is Finding.OK
    assert CLOSURE.close(str(scratch.top), [Candidate(1, scratch.ids["one"])])[0].outcome is Outcome.WOULD_CLOSE
    assert not ran.exists()
    assert {path: path.stat().st_mtime_ns for path in scratch.top.rglob("*")} == before


def test_a_replaced_commit_is_read_as_it_is(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Begin", CODE), Commit("two", "fix: it, fixes #1", {"b.py": "x"})], [closed(2)])
    scratch.add([Commit("other", "fix: it, fixes #2", {"b.py": "y"}, ("one",))])
    scratch.git("replace", scratch.ids["two"], scratch.ids["other"])
    assert buckets(audited(scratch)) == {2: Bucket.CLAIMED_CLOSED}


def test_a_grafted_history_closes_nothing(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Begin", CODE), Commit("two", "Go on", {"b.py": "x"})], [opened(1)])
    scratch.add([Commit("aside", "fix: it, fixes #1", {"src/a.py": "y"}, ("one",))])
    grafts = scratch.top / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{scratch.ids['two']} {scratch.ids['one']} {scratch.ids['aside']}\n")
    assert buckets(audited(scratch)) == {1: Bucket.OPEN}
    (closing,) = CLOSURE.close(str(scratch.top), [Candidate(1, scratch.ids["aside"])])
    assert closing.outcome is Outcome.SKIP_UNPUSHED


def test_a_folder_with_a_colon_within_a_repository_is_none(scratch: Scratch) -> None:
    laid_out(scratch, [Commit("one", "Fixes #1", CODE)], [closed(1)])
    within = scratch.top / "a:b" / "c"
    within.mkdir(parents=True)
    audit = CLOSURE.audit(str(within), str(scratch.export))
    assert audit.finding is Finding.AUDIT_ERROR
    assert "is not the top folder" in audit.notes[0]


def witnessed(scratch: Scratch, numbers: range) -> Audit:
    commits = [Commit(str(number), f"fix: it, fixes #{number}", {f"{number}.py": "x"}) for number in numbers]
    laid_out(scratch, commits, [opened(number) for number in numbers])
    return audited(scratch)


def test_candidates_are_open_and_borne_out_the_highest_first(scratch: Scratch) -> None:
    audit = witnessed(scratch, range(1, 15))
    assert audit.finding is Finding.OPEN_WITNESSED
    candidates = CLOSURE.candidates(audit)
    assert candidates == [Candidate(number, scratch.ids[str(number)]) for number in range(14, 4, -1)]
    assert len(CLOSURE.candidates(audit, limit=2)) == 2
    assert CLOSURE.candidates(audit, limit=-1) == []


def test_nothing_is_closed_without_a_closer(scratch: Scratch) -> None:
    candidates = CLOSURE.candidates(witnessed(scratch, range(1, 3)))
    closings = CLOSURE.close(str(scratch.top), candidates)
    assert [each.outcome for each in closings] == [Outcome.WOULD_CLOSE] * 2


def test_a_closer_gets_what_holds_and_may_fail(scratch: Scratch) -> None:
    candidates = CLOSURE.candidates(witnessed(scratch, range(1, 4)))
    seen = []

    def closer(candidate: Candidate) -> None:
        seen.append(candidate.number)
        if candidate.number == 2:
            raise ConnectionError("the tracker is away")

    closings = CLOSURE.close(str(scratch.top), candidates, closer=closer)
    assert seen == [3, 2, 1]
    assert [each.outcome for each in closings] == [Outcome.CLOSED, Outcome.CLOSE_FAILED, Outcome.CLOSED]
    assert "away" in closings[1].said


def test_each_candidate_is_asked_again_when_it_is_closed(scratch: Scratch) -> None:
    audit = witnessed(scratch, range(1, 4))
    (third, second, first) = CLOSURE.candidates(audit)
    scratch.point(MAIN, "2")  # main was moved back behind the audit
    stale = [
        third,
        second,
        Candidate(1, second.commit),
        Candidate(1, "f" * 40),
        Candidate(1, "HEAD"),
        Candidate(1, f"{first.commit}\n{second.commit}"),
        Candidate(1, scratch.git("rev-parse", f"{first.commit}^{{tree}}")),
    ]
    called: list[int] = []
    closings = CLOSURE.close(str(scratch.top), stale, closer=lambda candidate: called.append(candidate.number))
    wanted = [Outcome.SKIP_UNPUSHED, Outcome.CLOSED, *[Outcome.SKIP_UNWITNESSED] * 5]
    assert [each.outcome for each in closings] == wanted
    assert called == [2]
    assert all(each.said for each in closings)


def test_a_repository_that_cannot_be_asked_closes_nothing(tmp_path: Path) -> None:
    called: list[Candidate] = []
    closings = CLOSURE.close(str(tmp_path), [Candidate(1, "a" * 40)], closer=called.append)
    assert [each.outcome for each in closings] == [Outcome.SKIP_UNWITNESSED]
    assert called == []
