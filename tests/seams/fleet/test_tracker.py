"""The export of a tracker, read without trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seams.fleet import tracker
from seams.fleet.tracker import Issue, read


def written(tmp_path: Path, *lines: str | bytes) -> str:
    path = tmp_path / "issues.jsonl"
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))
    return str(path)


def test_the_shapes_of_two_exports(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"number": 1, "state": "CLOSED", "stateReason": "COMPLETED"}',
        '{"number": 2, "state": "closed", "state_reason": "not_planned"}',
        "",
        '{"number": 3, "state": "open", "state_reason": null}',
        '{"number": 4, "state": "closed", "pull_request": {"url": "x"}}',
        '{"number": 3, "state": "OPEN", "stateReason": ""}',
    )
    found = read(path, 1_000)
    assert found.issues == {1: Issue(1, True, True), 2: Issue(2, True, False), 3: Issue(3, False, True)}
    assert (found.lines, found.faults, found.pulls) == (5, (), 1)


def test_what_is_said_to_be_no_pull_request_is_an_issue(tmp_path: Path) -> None:
    rows = [
        {"number": number, "state": "closed", "pull_request": said}
        for number, said in enumerate((False, None, True, {}), 1)
    ]
    found = read(written(tmp_path, *map(json.dumps, rows)), 1_000)
    assert (sorted(found.issues), found.pulls, found.faults) == ([1, 2], 2, ())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"number": ' + "9" * 5_000 + "}", "is not JSON"),
        ("[1]", "is no object"),
        ("{}", "number"),
        ('{"number": 0, "state": "open"}', "number"),
        ('{"number": true, "state": "open"}', "number"),
        ('{"number": 1.5, "state": "open"}', "number"),
        ('{"number": 1e400, "state": "open"}', "number"),
        ('{"number": 1}', "state"),
        ('{"number": 1, "state": "merged"}', "state"),
        ('{"number": 1, "state": "closed", "stateReason": ["x"]}', "reason"),
        ('{"number": 7, "state": "open"}', "something else"),
        ('{"number": 1, "state": "open", "pull_request": "no"}', "pull_request"),
        ('{"number": 1, "state": "open", "pull_request": 0}', "pull_request"),
        ('{"number": 1, "state": "open", "pull_request": []}', "pull_request"),
    ],
)
def test_a_broken_line_is_named_and_no_issue(tmp_path: Path, line: str | bytes, why: str) -> None:
    found = read(written(tmp_path, '{"number": 7, "state": "closed"}', line), 1_000)
    assert found.issues == {7: Issue(7, True, True)}
    (fault,) = found.faults
    assert fault.startswith("Line 2 of the export")
    assert why in fault


def test_a_line_without_end_is_passed_over(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tracker, "LONGEST", 100)
    path = written(tmp_path, "x" * 1_000, '{"number": 7, "state": "closed"}')
    found = read(path, 1_000)
    assert list(found.issues) == [7]
    assert "longer than 100 bytes" in found.faults[0]


def test_many_broken_lines_are_counted(tmp_path: Path) -> None:
    found = read(written(tmp_path, *["{"] * 9), 1_000)
    assert len(found.faults) == 6
    assert "4 more" in found.faults[-1]


def test_no_more_lines_than_the_limit_are_read(tmp_path: Path) -> None:
    rows = [json.dumps({"number": number, "state": "open"}) for number in range(1, 10)]
    found = read(written(tmp_path, *rows), 4)
    assert (sorted(found.issues), found.lines) == ([1, 2, 3, 4], 4)
