from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from seams.contract.lifecycle import Given, Lifecycle, LiveSession, Register
from seams.contract.syscall import Result, ToolCall
from seams.contract.turn import DEFAULT_BUDGET, Message
from seams.contract.verdict import Status
from seams.runtimes.reference import make
from seams.session.checkpoint import SqliteCheckpointer
from seams.session.lifecycle import ANSWER_BYTES, ANSWERS, SessionClosedError, SessionDesk, offer
from tests.seams.test_contract import members

HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}


class Tools:
    def __init__(self) -> None:
        self.ran = 0

    def complete(self, call: ToolCall) -> Result:
        self.ran += 1
        if call.tool == "read_nothing":
            raise OSError("there is no such thing, whatever the password 1234 says")
        return Result(Status.OK, b"rows of " + call.args + b" and so on" * 200)


def given(turn: int, *tools: str) -> Given:
    calls = [ToolCall(tool, b'{"id": %d}' % turn, HINTS) for tool in tools or ("read_claim",)]
    return Given(f"question {turn}", f"answer {turn}", calls)


def opened(tmp_path: Path, desk: SessionDesk | None = None):
    desk = desk or SessionDesk()
    tools = Tools()
    return desk, desk.open("You file claims.", tools, tmp_path), tools


def test_it_has_what_the_protocols_name(tmp_path: Path) -> None:
    found = make().offer("session/lifecycle", "none")
    assert isinstance(found, Register)
    assert not {name for name in members(Lifecycle) if not hasattr(found, name)}
    _, session, _ = opened(tmp_path)
    assert not {name for name in members(LiveSession) if not hasattr(session, name)}
    session.close()
    assert offer("mock") is None


def test_a_turn_is_in_the_window_and_in_the_file(tmp_path: Path) -> None:
    _, session, tools = opened(tmp_path)
    session.run_turn(given(1))
    window = session.run_turn(given(2, "read_claim", "search_notes"))
    session.close()
    assert window[0] == Message("system", "You file claims.", "system")
    assert [each.role for each in window[-4:]] == ["user", "assistant", "tool", "tool"]
    assert [each.content for each in window[-4:-2]] == ["question 2", "answer 2"]
    assert tools.ran == 3
    store = SqliteCheckpointer(tmp_path / "session.db")
    try:
        assert store.restore("desk-1") == (2, window)
    finally:
        store.close()


def test_a_read_that_was_answered_is_not_made_again(tmp_path: Path) -> None:
    _, session, tools = opened(tmp_path)
    first = session.run_turn(given(1))[-1]
    assert session.run_turn(given(1))[-1] == first
    assert tools.ran == 1
    session.close()


def test_a_tool_that_raises_is_a_result_without_its_words(tmp_path: Path) -> None:
    _, session, _ = opened(tmp_path)
    window = session.run_turn(given(1, "read_nothing"))
    assert (window[-1].role, window[-1].content) == ("tool", '{"error":"OSError"}')
    assert session.run_turn(given(2))[-1].role == "tool"
    session.close()


def test_the_book_has_the_open_ones_and_closing_again_does_nothing(tmp_path: Path) -> None:
    desk = SessionDesk()
    sessions = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        sessions.append(opened(tmp_path / name, desk)[1])
    assert desk.registered() == 2
    sessions[0].close()
    sessions[0].close()
    assert desk.registered() == 1
    with pytest.raises(SessionClosedError, match=r"desk-1 is closed and takes no turn; open another one\.$"):
        sessions[0].run_turn(given(1))
    sessions[1].close()
    assert desk.registered() == 0


def test_a_session_that_cannot_write_is_in_no_book(tmp_path: Path) -> None:
    desk = SessionDesk()
    with pytest.raises(sqlite3.OperationalError):
        desk.open("You file claims.", Tools(), tmp_path / "missing")
    (tmp_path / "session.db").write_bytes(b"no database at all, though long enough to be looked at as one" * 4)
    with pytest.raises(sqlite3.DatabaseError):
        desk.open("You file claims.", Tools(), tmp_path)
    assert desk.registered() == 0


def test_a_turn_that_cannot_be_written_leaves_the_session_where_it_was(tmp_path: Path, monkeypatch) -> None:
    _, session, _ = opened(tmp_path)
    session.run_turn(given(1))

    def refuse(self, *given):
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteCheckpointer, "put", refuse)
        with pytest.raises(sqlite3.OperationalError):
            session.run_turn(given(2))
    window = session.run_turn(given(3))
    assert "question 2" not in [each.content for each in window]
    session.close()


def test_window_and_answers_are_bounded(tmp_path: Path) -> None:
    _, session, _ = opened(tmp_path)
    for turn in range(ANSWERS + 40):
        window = session.run_turn(given(turn))
    newest = sum(len(each.content) for each in window[-2:])
    assert sum(len(each.content) for each in window) <= 4 * DEFAULT_BUDGET + newest
    reads = session._kernel.fast_path._reads
    assert len(reads._entries) == ANSWERS
    assert reads._store.stats().size <= max(ANSWER_BYTES, ANSWERS * 2_100)
    session.close()
