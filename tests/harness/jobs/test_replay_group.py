"""Files into runs: what belongs together, what is the same twice, what no format knows, what an archive holds."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest

from harness.formats.archive import Archive
from harness.formats.limits import Limits
from harness.jobs import replay_open
from harness.jobs.replay import Asked, replay
from harness.jobs.replay_find import find
from harness.jobs.replay_group import Group, Sorted, sort_files
from harness.jobs.replay_open import archives_closed, open_piece
from kpis.prices import shipped_prices
from kpis.terms.trace import Issue, IssueCode
from tests.harness.jobs.session_files import Session, busy, chat_log, lines, put, rollout, subagent, trajectory


def runs(*paths: Path, limits: Limits | None = None, forced: str | None = None) -> Sorted:
    return sort_files(find([str(path) for path in paths]), limits or Limits(), forced)


def keys(found: Sorted) -> list[str]:
    return [group.key for group in found.groups]


def files(group: Group) -> list[str]:
    return [piece.name.rpartition("/")[2] for piece in group.pieces]


def told(found: Sorted, code: IssueCode) -> list[Issue]:
    return [issue for issue in found.issues if issue.code is code]


@pytest.mark.parametrize(
    "place", ["s-1/subagents/agent-a1.jsonl", "agent-a1.jsonl", "s-1/subagents/workflows/wf_1/agent-a1.jsonl"]
)
def test_a_sub_agent_is_with_its_session(place: str, tmp_path: Path) -> None:
    busy().save(tmp_path)
    subagent("s-1").save(tmp_path, place)
    (group,) = runs(tmp_path).groups
    assert (group.key, group.format) == ("s-1", "claude-code")
    assert files(group) == ["agent-a1.jsonl", "s-1.jsonl"] if "/" not in place else len(group.pieces) == 2


def test_runs_come_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    busy("late", minute=500).save(tmp_path, "a.jsonl")
    busy("early").save(tmp_path, "z.jsonl")
    put(tmp_path / "none.traj", trajectory())
    found = runs(tmp_path)
    assert keys(found)[:2] == ["early", "late"]
    assert found.groups[-1].started is None


def test_a_lineage_is_one_run_under_its_root(tmp_path: Path) -> None:
    for name, parent in (("c", "b"), ("b", "a"), ("a", None), ("d", "b"), ("other", None)):
        head = {"schema": "loopladder.trace/1", "run_id": name} | ({} if parent is None else {"parent": parent})
        put(tmp_path / f"{name}.jsonl", lines(head))
    found = runs(tmp_path)
    assert sorted(keys(found)) == ["a", "other"]
    assert [len(group.pieces) for group in found.groups if group.key == "a"] == [4]


def test_a_forged_lineage_may_run_in_a_circle(tmp_path: Path) -> None:
    for name, parent in (("c", "b"), ("b", "a"), ("a", "c"), ("outside", "a"), ("self", "self")):
        put(tmp_path / f"{name}.jsonl", lines({"schema": "loopladder.trace/1", "run_id": name, "parent": parent}))
    assert sorted(keys(runs(tmp_path))) == ["a", "self"]


def test_the_same_bytes_twice_count_once(tmp_path: Path) -> None:
    data = busy().data
    put(tmp_path / "a.jsonl", data)
    put(tmp_path / "b.jsonl", data)
    put(tmp_path / "c.jsonl", data + Session().ask().data)
    found = runs(tmp_path)
    assert [files(group) for group in found.groups] == [["a.jsonl", "c.jsonl"]]
    (issue,) = told(found, IssueCode.W_COPIED_HISTORY)
    assert "b.jsonl holds the same bytes as" in issue.message


def test_what_no_format_knows_is_missed_where_it_was_named(tmp_path: Path) -> None:
    for name, data in (("a.txt", b"hello"), ("b.json", b'{"x": 1}'), ("c", b""), ("d", b"\n"), ("e", b"\0" * 99)):
        put(tmp_path / name, data)
    below = runs(tmp_path)
    assert (below.groups, below.issues, below.passed_over) == ([], [], 5)
    beside = runs(*sorted(tmp_path.iterdir()))
    assert (beside.groups, beside.passed_over) == ([], 0)
    assert [issue.code for issue in beside.issues] == [IssueCode.E_UNKNOWN_FORMAT] * 5


def test_a_format_can_be_told(tmp_path: Path) -> None:
    named = put(tmp_path / "a", b'{"x": 1}\n')
    assert [group.format for group in runs(named, forced="claude-code").groups] == ["claude-code"]
    with pytest.raises(KeyError):
        runs(named, forced="no-such")


def test_a_first_line_that_is_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    picture = "A" * (1 << 20)
    Session("s-3").ask(picture).answer("msg_1").save(tmp_path)
    assert keys(runs(tmp_path)) == ["s-3"]


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_members_of_an_archive_are_files(tmp_path: Path) -> None:
    held = {"a/s-1.jsonl": busy().data, "a/s-1/subagents/agent-a1.jsonl": subagent("s-1").data, "read.me": b"hello"}
    found = runs(archive(tmp_path / "all.zip", held))
    (group,) = found.groups
    assert [piece.member for piece in group.pieces] == ["a/s-1.jsonl", "a/s-1/subagents/agent-a1.jsonl"]
    assert group.pieces[0].name == f"{tmp_path}/all.zip/a/s-1.jsonl"
    assert found.passed_over == 1
    with open_piece(group.pieces[0], Limits()) as blob:
        assert blob.read() == busy().data


def test_an_archive_beside_what_it_holds_counts_once(tmp_path: Path) -> None:
    archive(tmp_path / "all.zip", {"s-1.jsonl": busy().save(tmp_path).read_bytes()})
    assert [len(group.pieces) for group in runs(tmp_path).groups] == [1]


def test_bad_members_are_left_out_and_told(tmp_path: Path) -> None:
    path = archive(tmp_path / "all.zip", {"../out": b"x", "/etc/passwd": b"x", "good.jsonl": chat_log(), "c:\\x": b"x"})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("bomb", b"\0" * (4 << 20))
    found = runs(path)
    assert [files(group) for group in found.groups] == [["good.jsonl"]]
    said = sorted(issue.message for issue in told(found, IssueCode.E_ARCHIVE))
    assert [message.rpartition(": ")[2] for message in said] == [
        "it is a link.", "it unpacks to more than 250 times its size.", *["its name leaves the archive."] * 3,
    ]  # fmt: skip


def test_a_damaged_archive_is_one_issue(tmp_path: Path) -> None:
    whole = archive(tmp_path / "a.zip", {"x.jsonl": chat_log()}).read_bytes()
    put(tmp_path / "a.zip", whole[:-30])
    put(tmp_path / "b.zip", b"PK\x03\x04" + b"\xff" * 400)
    found = runs(tmp_path)
    assert found.groups == []
    assert [issue.code for issue in found.issues] == [IssueCode.E_ARCHIVE] * 2


def test_a_member_whose_bytes_are_damaged(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"x.jsonl": chat_log(), "y.jsonl": rollout()})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    found = runs(path)
    assert [group.format for group in found.groups] == ["codex"]
    assert [issue.file for issue in told(found, IssueCode.E_ARCHIVE)] == [f"{path}/x.jsonl"]


def test_a_pipe_that_took_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", chat_log())
    finding = find([str(path)])
    path.unlink()
    os.mkfifo(path)
    found = sort_files(finding, Limits())
    assert found.groups == []
    assert "it is no regular file any more" in found.issues[0].message


def test_a_file_that_vanished_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    gone = put(tmp_path / "a.jsonl", chat_log("chatcmpl-7"))
    put(tmp_path / "b.jsonl", chat_log())
    finding = find([str(tmp_path)])
    gone.unlink()
    found = sort_files(finding, Limits())
    assert len(found.groups) == 1
    assert [issue.code for issue in found.issues] == [IssueCode.E_UNREADABLE]


def test_the_directory_of_an_archive_is_read_once_for_all_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = {f"{at}.jsonl": Session(f"s-{at}").ask().answer(f"msg_{at}").data for at in range(50)}
    path = archive(tmp_path / "all.zip", held)
    read: list[object] = []
    monkeypatch.setattr(replay_open, "Archive", lambda *given: read.append(given) or Archive(*given))
    assert len(replay([str(path)], Asked(shipped_prices()), processes=1).runs) == 50
    assert len(read) == 1
    assert read[0][0].closed


def test_an_archive_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = archive(tmp_path / "all.zip", {"a.jsonl": chat_log()})
    (group,) = runs(path).groups
    archive(path, {"a.jsonl": rollout()})
    with open_piece(group.pieces[0], Limits()) as blob, archives_closed():
        assert blob.read() == rollout()


def test_a_spoilt_first_line_hides_no_session(tmp_path: Path) -> None:
    saved = busy().save(tmp_path)
    saved.write_bytes(b"no line of ours\n" + saved.read_bytes())
    (group,) = runs(tmp_path).groups
    assert group.format == "claude-code"
    (run,) = replay([str(tmp_path)], Asked(shipped_prices())).runs
    assert [issue.code for issue in run.issues if issue.line == 1] == [IssueCode.E_BAD_LINE]
    assert run.parts.tokens.sums.rows
