"""The journal: what was appended survives a kill, a torn line costs only itself, and a failure leaves it whole."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.record.journal import Journal
from harness.record.store import StoreError, write_all

PLAN = "ab" * 32


def header(identity: str = "20261130T052031Z-3f9a1c", plan: str = PLAN) -> dict[str, Any]:
    return {"id": identity, "plan": plan, "created": "2026-11-30T05:20:31Z", "argv": ["run", "--all"], "selection": {}}


def test_entries_come_back_in_order_without_the_header(tmp_path: Path) -> None:
    with Journal.create(tmp_path, header()) as journal:
        journal.append({"b": 1, "a": "é\n"})
        journal.append({"c": [1.5, None]})
        assert journal.entries() == [{"a": "é\n", "b": 1}, {"c": [1.5, None]}]
    lines = journal.path.read_bytes().splitlines()
    assert json.loads(lines[0]) == {**header(), "schema": "harness.journal/1"}
    assert len(lines) == 3


def test_a_header_needs_an_id_and_a_plan(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        Journal.create(tmp_path, {"id": "20261130T052031Z-3f9a1c"})
    with pytest.raises(StoreError, match="is not the id of a run"):
        Journal.create(tmp_path, header(identity="../x"))
    assert list(tmp_path.rglob("*.journal")) == []


def test_two_journals_of_one_id_cannot_be(tmp_path: Path) -> None:
    Journal.create(tmp_path, header()).close()
    with pytest.raises(StoreError):
        Journal.create(tmp_path, header())


def test_the_newest_unfinished_one_of_the_plan_is_resumed(tmp_path: Path) -> None:
    for second in (31, 33, 32):
        with Journal.create(tmp_path, header(f"20261130T0520{second}Z-3f9a1c")) as journal:
            journal.append({"second": second})
    Journal.create(tmp_path, header("20261130T052040Z-3f9a1c", plan="other")).close()
    found = Journal.resumable(tmp_path, PLAN)
    assert found is not None
    with found:
        assert found.header["id"] == "20261130T052033Z-3f9a1c"
        found.append({"more": True})
        assert found.entries() == [{"second": 33}, {"more": True}]
    found.finish()
    following = Journal.resumable(tmp_path, PLAN)
    assert following is not None
    assert following.header["id"] == "20261130T052032Z-3f9a1c"
    following.close()
    assert Journal.resumable(tmp_path, "a plan nobody made") is None
    assert Journal.resumable(tmp_path / "empty", PLAN) is None


@pytest.mark.parametrize("tail", [b'{"point": 2, "val', b'{"point": 2}', b"\x00\x00\x00", b"\xff"])
def test_a_torn_tail_is_ignored_and_the_next_entry_is_whole(tmp_path: Path, tail: bytes) -> None:
    with Journal.create(tmp_path, header()) as journal:
        journal.append({"point": 1})
    with journal.path.open("ab") as file:
        file.write(tail)
    found = Journal.resumable(tmp_path, PLAN)
    assert found is not None
    with found:
        assert found.entries() == [{"point": 1}]
        found.append({"point": 3})
        assert found.entries() == [{"point": 1}, {"point": 3}]


def test_a_spoilt_line_costs_only_itself(tmp_path: Path) -> None:
    with Journal.create(tmp_path, header()) as journal:
        for point in range(3):
            journal.append({"point": point})
    lines = journal.path.read_bytes().split(b"\n")
    lines[2] = b"\x00" * len(lines[2])
    journal.path.write_bytes(b"\n".join(lines))
    assert journal.entries() == [{"point": 0}, {"point": 2}]


@pytest.mark.parametrize("content", [b"", b"{}\n", b"not json\n", b'{"schema": "harness.journal/1", "plan": "ab'])
def test_a_journal_without_its_header_is_not_resumed(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / ".harness" / "runs"
    folder.mkdir(parents=True)
    (folder / "20261130T052031Z-3f9a1c.journal").write_bytes(content)
    assert Journal.resumable(tmp_path, PLAN) is None


def test_an_entry_that_cannot_be_written_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.create(tmp_path, header())
    journal.append({"point": 1})
    before = journal.path.read_bytes()

    def torn(handle: int, blob: bytes) -> None:
        write_all(handle, blob[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("harness.record.journal.write_all", torn)
    with pytest.raises(StoreError, match="is full"):
        journal.append({"point": 2})
    monkeypatch.undo()
    assert journal.path.read_bytes() == before
    with pytest.raises(ValueError, match="JSON"):
        journal.append({"point": float("nan")})
    with pytest.raises(TypeError):
        journal.append({"point": object()})
    assert journal.path.read_bytes() == before
    journal.append({"point": 3})
    assert journal.entries() == [{"point": 1}, {"point": 3}]
    journal.close()


@pytest.mark.parametrize("written", [True, False])
def test_a_signal_during_an_append_never_leaves_half_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    journal = Journal.create(tmp_path, header())

    def interrupted(handle: int, blob: bytes) -> None:
        write_all(handle, blob if written else blob[:5])
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.record.journal.write_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.append({"point": 1})
    assert journal.entries() == ([{"point": 1}] if written else [])
    journal.close()


def test_every_append_is_flushed_to_disk_before_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.create(tmp_path, header())
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: sizes.append(os.fstat(handle).st_size))
    journal.append({"point": 1})
    assert sizes == [journal.path.stat().st_size]
    journal.close()


def test_a_closed_journal_takes_nothing_and_a_finished_one_is_gone(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, header())
    journal.finish()
    assert not journal.path.exists()
    with pytest.raises(StoreError, match="--resume"):
        journal.append({"point": 1})
    with pytest.raises(StoreError, match="cannot be read"):
        journal.entries()
    journal.finish()


WRITER = """
import sys
from pathlib import Path
from harness.record.journal import Journal
journal = Journal.create(Path(sys.argv[1]), {
    "id": "20261130T052031Z-3f9a1c", "plan": sys.argv[2], "created": "2026-11-30T05:20:31Z"
})
point = 0
while True:
    journal.append({"point": point, "values": [point / 7] * 200})
    print(point, flush=True)
    point += 1
"""


def test_a_writer_that_is_killed_loses_nothing_that_it_had_appended(tmp_path: Path, repo: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), PLAN],
        cwd=repo, env={**os.environ, "PYTHONPATH": str(repo)}, stdout=subprocess.PIPE, text=True,
    ) as writer:  # fmt: skip
        assert writer.stdout is not None
        for _ in range(20):
            assert writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        said = 20 + len(writer.stdout.read().splitlines())
    found = Journal.resumable(tmp_path, PLAN)
    assert found is not None
    with found:
        kept = found.entries()
        assert [entry["point"] for entry in kept] == list(range(len(kept)))
        assert len(kept) >= said
        assert all(len(entry["values"]) == 200 for entry in kept)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "../../../evil"},
        {"id": "20261130T052031Z-ffffff"},
        {"id": 5},
        {"id": None},
        {"created": 5},
        {"created": "yesterday"},
        {"created": None},
        {"schema": ["harness.journal/1"]},
        {"plan": [PLAN]},
        {"created": "2026-13-30T05:20:31Z"},
        {"argv": 5},
        {"argv": [5]},
        {"seed": "7"},
        {"seed": True},
        {"seed": -1},
    ],
)
def test_a_header_that_was_tampered_with_is_not_resumed(tmp_path: Path, changes: dict[str, Any]) -> None:
    with Journal.create(tmp_path, header()) as journal:
        journal.append({"point": 1})
    lines = journal.path.read_bytes().split(b"\n")
    lines[0] = json.dumps({**json.loads(lines[0]), **changes}).encode()
    journal.path.write_bytes(b"\n".join(lines))
    assert Journal.resumable(tmp_path, PLAN) is None
    assert Journal.resumable(tmp_path, "5") is None


def test_a_header_that_lacks_something_is_not_resumed(tmp_path: Path) -> None:
    for number, name in enumerate(("id", "created", "plan")):
        identity = f"20261130T05203{number}Z-3f9a1c"
        Journal.create(tmp_path, header(identity)).close()
        path = tmp_path / ".harness" / "runs" / f"{identity}.journal"
        held = json.loads(path.read_bytes())
        del held[name]
        path.write_text(json.dumps(held) + "\n")
    assert Journal.resumable(tmp_path, PLAN) is None


def test_a_header_without_what_its_owner_needs_is_not_resumed(tmp_path: Path) -> None:
    Journal.create(tmp_path, header()).close()
    assert Journal.resumable(tmp_path, PLAN, needs=("argv", "seed")) is None
    found = Journal.resumable(tmp_path, PLAN, needs=("argv",))
    assert found is not None
    found.close()


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    folder = tmp_path / ".harness" / "runs"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "20261130T052032Z-3f9a1c.journal")
    (folder / "20261130T052033Z-3f9a1c.journal").mkdir()
    (folder / "20261130T052034Z-3f9a1c.journal").symlink_to("/dev/zero")
    with Journal.create(tmp_path, header()) as journal:
        journal.append({"point": 1})
    found = Journal.resumable(tmp_path, PLAN)
    assert found is not None
    with found:
        assert found.entries() == [{"point": 1}]
