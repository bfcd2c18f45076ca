"""Reading the files of one run while the disk changes below it: a file that grows, one that goes, and very many."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.formats import run_formats
from harness.formats.limits import FormatError, Limits
from harness.jobs import replay_read
from harness.jobs.replay_find import find
from harness.jobs.replay_group import Group, sort_files
from harness.jobs.replay_read import read_group
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import IssueCode, Severity
from tests.harness.jobs.session_files import Session, busy, chat_log, put, subagent


def group_of(*paths: Path) -> Group:
    (group,) = sort_files(find([str(path) for path in paths]), Limits()).groups
    return group


def codes(run: RecordedRun) -> list[IssueCode]:
    return [issue.code for issue in run.issues]


def test_a_file_that_grew_since_it_was_found(tmp_path: Path) -> None:
    session = busy()
    path = session.save(tmp_path)
    group = group_of(path)
    before = read_group(group)
    with path.open("ab") as file:
        file.write(Session("s-1x", minute=60, sessionId="s-1").answer("msg_new").data)
    after = read_group(group)
    assert len(after.requests) == len(before.requests) + 1
    assert after.issues == before.issues


def test_a_line_that_is_still_being_written(tmp_path: Path) -> None:
    path = busy().save(tmp_path)
    whole = read_group(group_of(path))
    with path.open("ab") as file:
        file.write(Session("s-1x", minute=60, sessionId="s-1").answer("msg_new").data[:200])
    torn = read_group(group_of(path))
    assert [request.request_id for request in torn.requests] == [request.request_id for request in whole.requests]
    assert IssueCode.E_TORN_LINE in codes(torn)


def test_a_file_that_went_is_an_issue_of_the_run(tmp_path: Path) -> None:
    busy().save(tmp_path)
    gone = subagent("s-1").save(tmp_path, "agent-a1.jsonl")
    group = group_of(tmp_path)
    gone.unlink()
    run = read_group(group)
    assert len(run.recordings) == 1
    (issue,) = [issue for issue in run.issues if issue.code is IssueCode.E_UNREADABLE]
    assert issue.file == str(gone)
    assert issue.message == f"{gone} cannot be read: No such file or directory."


def test_a_file_that_became_a_folder_or_a_pipe(tmp_path: Path) -> None:
    path = busy().save(tmp_path)
    group = group_of(path)
    path.unlink()
    path.mkdir()
    assert "no regular file" in read_group(group).issues[0].message
    path.rmdir()
    os.mkfifo(path)
    run = read_group(group)
    assert "no regular file" in run.issues[0].message
    assert run.recordings == ()


def test_very_many_files_in_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy().save(tmp_path)
    for at in range(300):
        subagent("s-1", f"a{at:03}", minute=at).save(tmp_path / "s-1" / "subagents", f"agent-a{at:03}.jsonl")
    opened = []
    real = replay_read.open_piece
    monkeypatch.setattr(replay_read, "open_piece", lambda *given: opened.append(real(*given)) or opened[-1])
    run = read_group(group_of(tmp_path))
    assert (len(run.recordings), len(run.threads), len(run.requests)) == (301, 301, 12 + 2 * 300)
    assert all(each.closed for each in opened)


@pytest.mark.parametrize("error", [FormatError("It is a riddle."), OSError(5, "Input/output error")])
def test_where_a_reader_gives_up_its_files_are_recordings_all_the_same(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "a.jsonl", chat_log())
    group = group_of(path)

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(type(run_formats.reader("openai-log")), "read", refuse)
    run = read_group(group)
    (issue,) = run.issues
    assert (issue.severity, issue.code, issue.file) == (Severity.ERROR, IssueCode.E_UNREADABLE, str(path))
    assert "riddle" in issue.message or "Input/output error" in issue.message
    (recording,) = run.recordings
    assert (recording.file, recording.bytes, run.requests) == (str(path), path.stat().st_size, ())


def test_nothing_of_a_run_can_be_opened(tmp_path: Path) -> None:
    path = busy().save(tmp_path)
    group = group_of(path)
    path.unlink()
    run = read_group(group)
    assert (run.recordings, run.requests, codes(run)) == ((), (), [IssueCode.E_UNREADABLE])
