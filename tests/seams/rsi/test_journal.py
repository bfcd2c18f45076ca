"""The journal: what is torn costs itself alone, and a keep is believed only where its signals say it."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.rsi_loop import Row
from seams.rsi.errors import LoopError
from seams.rsi.journal import Journal, line_of, read, sound
from seams.rsi.track import last_track

ROW = Row(
    cycle=1,
    mode="improve",
    candidate="six",
    metric_name="metric",
    baseline=0.5,
    candidate_metric=0.75,
    measured=True,
    lower_better=False,
    improved=True,
    suite_green=True,
    truth_clean=True,
    profile="full",
    decision="KEEP",
    kept=True,
    breaker_nonkeeps=0,
    baseline_ref="a" * 40,
    ref_name="main",
    tip="a" * 40,
    commit="b" * 40,
)
TRACK = dataclasses.replace(ROW, mode="track", decision=None, kept=None, improved=False, commit=None)


def test_a_row_comes_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new" / "journal")
    for row in (ROW, TRACK):
        journal.append(row)
    journal.close()
    assert read(journal.path) == ((ROW, TRACK), 0, ())


def test_a_torn_line_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(line_of(TRACK) + b"\x00\xff garbage\n\n[1, 2]\n" + line_of(ROW)[:40])
    assert read(path)[:2] == ((TRACK,), 3)
    journal = Journal(path)
    journal.append(ROW)
    journal.close()
    assert read(path)[:2] == ((TRACK, ROW), 3)


def test_the_last_track_row_is_found_behind_what_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    later = dataclasses.replace(TRACK, cycle=2, candidate_metric=0.5)
    path.write_bytes(line_of(TRACK) + line_of(later) + line_of(ROW) + b"garbage\n" + line_of(TRACK)[:-5])
    assert last_track(read(path).rows) == later
    assert last_track([ROW]) is None


@given(st.integers(0, 2 * len(line_of(ROW))))
def test_wherever_it_is_torn_the_whole_rows_are_read(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "journal"
    line = line_of(ROW)
    path.write_bytes((line + line)[:at])
    rows, torn, _ = read(path)
    whole, rest = divmod(at, len(line))
    # The end of a line is no part of its row.
    complete = rest == len(line) - 1
    assert (len(rows), torn) == (whole + complete, int(rest > 0 and not complete))


@pytest.mark.parametrize(
    "lie",
    [
        {"candidate_metric": 0.5},
        {"suite_green": False},
        {"truth_clean": False},
        {"lower_better": True},
        {"kept": False},
        {"decision": "REVERT"},
        {"decision": "PERHAPS"},
        {"improved": False},
        {"measured": False},
        {"breaker_nonkeeps": 1},
        {"profile": "unheard of"},
        {"baseline": None},
        {"mode": "track"},
        {"mode": "dream"},
    ],
)
def test_a_row_that_contradicts_itself_is_named(tmp_path: Path, lie: dict[str, object]) -> None:
    forged = dataclasses.replace(ROW, **lie)
    path = tmp_path / "journal"
    path.write_bytes(line_of(ROW) + line_of(forged))
    assert read(path).forged == (forged,)


@pytest.mark.parametrize(
    "change",
    [{"cycle": True}, {"kept": 1}, {"baseline": "1"}, {"extra": 1}, {"note": 5}, {"profile": None}],
)
def test_what_has_another_type_is_no_row(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "journal"
    path.write_text(json.dumps({**dataclasses.asdict(ROW), **change}) + "\n")
    assert read(path) == ((), 1, ())


def test_a_number_that_is_none_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(line_of(ROW).replace(b"0.75", b"NaN"))
    assert read(path).torn == 1
    with pytest.raises(ValueError, match="JSON compliant"):
        line_of(dataclasses.replace(ROW, baseline=float("nan")))


HUGE = ["1e999", "-1e999", "1" + 400 * "0", "1" + 5_000 * "0"]


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize("key", ["baseline", "candidate_metric", "cycle", "breaker_nonkeeps"])
@pytest.mark.parametrize("row", [ROW, TRACK])
def test_a_number_that_is_none_to_a_decision_costs_its_line_alone(
    tmp_path: Path, row: Row, key: str, number: str
) -> None:
    held = json.dumps({**dataclasses.asdict(row), key: "HERE"}).replace('"HERE"', number)
    path = tmp_path / "journal"
    path.write_bytes(line_of(TRACK) + held.encode() + b"\n" + line_of(ROW))
    assert read(path) == ((TRACK, ROW), 1, ())
    assert last_track(read(path).rows) == TRACK


def test_no_time_is_in_a_row() -> None:
    names = {field.name for field in dataclasses.fields(Row)}
    assert not {name for name in names if any(word in name for word in ("time", "_ns", "_ms", "stamp", "elapsed"))}
    assert sound(ROW)


def test_a_second_loop_is_refused(tmp_path: Path) -> None:
    first = Journal(tmp_path / "journal")
    with pytest.raises(LoopError, match="Another loop writes"):
        Journal(tmp_path / "journal")
    first.close()
    first.close()
    Journal(tmp_path / "journal").close()
    with pytest.raises(LoopError, match="was closed"):
        first.append(ROW)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to a device"])
def test_what_is_no_regular_file_is_no_journal(tmp_path: Path, kind: str) -> None:
    path = {"folder": tmp_path, "device": Path("/dev/null")}.get(kind, tmp_path / "journal")
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "link to a device":
        path.symlink_to("/dev/full")
    for use in (Journal, read):
        with pytest.raises(LoopError, match=r"is no regular file.*Name another, that is not among: ls -l /"):
            use(path)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have_is_no_journals(tmp_path: Path, name: str) -> None:
    for use in (Journal, read):
        with pytest.raises(LoopError, match=r"that no file can have\. Name another: mktemp -d"):
            use(tmp_path / name)


def test_a_journal_behind_a_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert read(tmp_path / "nothing") == ((), 0, ())
    for use, words in ((Journal, "cannot be opened"), (read, "cannot be read")):
        with pytest.raises(LoopError, match=rf"{words}: .*Look: ls -l"):
            use(tmp_path / "file" / "journal")


def test_a_link_to_a_file_is_a_journal(tmp_path: Path) -> None:
    (tmp_path / "journal").symlink_to(tmp_path / "other")
    journal = Journal(tmp_path / "journal")
    journal.append(ROW)
    journal.close()
    assert read(tmp_path / "other").rows == (ROW,)
