"""The replay file: as its schema says, the same bytes for the same input, nothing of what people and models wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.cli.main import main
from harness.jobs.replay import Asked, replay
from harness.jobs.replay_accept import accepted
from harness.jobs.replay_gate import gate
from harness.record.replay import SCHEMA, encode
from kpis.formulas.recorded.carried import BY
from kpis.prices import shipped_prices
from tests.harness.jobs.session_files import Session, authored, put, rollout, verdicts
from tests.schema_check import faults

TABLE = shipped_prices()


@pytest.fixture
def schema(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The schema as the command prints it."""
    assert main(["schema", "replay"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def written(folder: Path, by: str | None = None) -> dict[str, Any]:
    asked = Asked(TABLE, ledger=True, by=by)
    document: dict[str, Any] = json.loads(encode(replay([str(folder)], asked, processes=1), TABLE.name, by))
    return document


@pytest.mark.parametrize("by", [None, *BY])
def test_each_file_is_as_published(by: str | None, tmp_path: Path, schema: dict[str, Any]) -> None:
    authored(tmp_path)
    put(tmp_path / "judged.jsonl", verdicts("c", passed=True))
    document = written(tmp_path, by)
    assert document["schema"] == SCHEMA
    assert len(document["runs"]) == 11
    assert faults(document, schema) == []


def test_a_file_with_a_verdict_is_as_published(tmp_path: Path, schema: dict[str, Any]) -> None:
    recorded_for_its_context = authored(tmp_path)["context"]
    for kept in (True, False):
        if not kept:
            recorded_for_its_context.unlink()  # with it gates of correctness, which nobody checked, then or now
        result = replay([str(tmp_path)], Asked(TABLE), processes=1)
        for baseline in (None, accepted(result, None).baseline):
            gated = gate(result, baseline)
            document = json.loads(encode(result, TABLE.name, None, (gated.verdict, gated.claims)))
            assert faults(document, schema) == []
            assert document["verdict"]["passed"] is (baseline is not None)


def test_of_nothing_there_is_a_file_too(tmp_path: Path, schema: dict[str, Any]) -> None:
    document = written(tmp_path)
    assert faults(document, schema) == []
    assert (document["runs"], document["passed_over"]) == ([], 0)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "harness.replay/2"}, {"more": 1}, {"runs": [{}]}, {"prices": None}, {"all": {}}, {"verdict": True},
        {"passed_over": "1"}, {"issues": [{"code": "E_NEW"}]},
    ],
)  # fmt: skip
def test_what_the_schema_refuses(change: dict[str, Any], tmp_path: Path, schema: dict[str, Any]) -> None:
    assert faults({**written(tmp_path), **change}, schema) != []


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    authored(tmp_path)
    one, two = (replay([str(tmp_path)], Asked(TABLE, ledger=True, by="file"), processes=1) for _ in range(2))
    assert encode(one, TABLE.name, "file") == encode(two, TABLE.name, "file")


SECRET = "Xyzzy42"


def secretive() -> Session:
    """A session that holds a secret wherever people, tools and models write."""
    session = Session("s-4").ask(f"My word is {SECRET}.")
    session.answer("msg_1", ("t1", "Bash", {"command": f"echo {SECRET}"}), text=f"It is {SECRET}.")
    session.result("t1", f"{SECRET}\n", toolUseResult={"stdout": SECRET, "stderr": SECRET})
    session.answer("msg_2", ("t2", "Read", {"file_path": f"/desk/{SECRET}.py"}), text=SECRET)
    session.result("t2", f"no {SECRET} here", error=True).fold(900)
    session.line("summary", summary=SECRET, leafUuid="x").ask(SECRET, isCompactSummary=True)
    return session.line("system", subtype="api_error", error={"message": SECRET, "status": 500})


@pytest.mark.parametrize("by", [None, "tool", "agent", "model", "branch", "day"])
def test_no_text_of_a_recording_is_in_it(by: str | None, tmp_path: Path) -> None:
    secretive().save(tmp_path)
    put(tmp_path / "rollout.jsonl", rollout().replace(b"Mend it.", SECRET.encode()).replace(b"a.py", SECRET.encode()))
    body = json.dumps(written(tmp_path, by))
    assert SECRET not in body
    assert "/home/someone" not in body


def test_names_of_files_stand_in_it_only_where_they_are_asked_for(tmp_path: Path) -> None:
    secretive().save(tmp_path)
    rows = written(tmp_path, "file")["all"]["attribution"]["rows"]
    assert f"/desk/{SECRET}.py" in rows
    assert "/home/someone/desk" in written(tmp_path, "project")["all"]["attribution"]["rows"]


def test_names_that_are_no_text_are_written_as_text(tmp_path: Path, schema: dict[str, Any]) -> None:
    session = Session("s-4").ask().answer("msg_1", ("t1", "Read", {"file_path": "/desk/\ud800.py"})).result("t1")
    session.answer("msg_2", read=10)
    handle = os.open(os.fsencode(tmp_path) + b"/\xff.jsonl", os.O_CREAT | os.O_WRONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(session.data)
    document = written(tmp_path, "file")
    assert faults(document, schema) == []
    json.dumps(document, ensure_ascii=False).encode("utf-8")
    (recording,) = document["runs"][0]["recordings"]
    assert recording["file"] == f"{tmp_path}/\\udcff.jsonl"
