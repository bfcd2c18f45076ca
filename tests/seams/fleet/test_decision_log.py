"""The log of a gate: appended to, bounded, and readable whatever a crash left in it."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from seams.contract.fleet_preflight import Limiter, SpawnVerdict
from seams.fleet.decision_log import DecisionLog
from seams.fleet.preflight import DispatchGate
from tests.seams.fleet.test_preflight import checks


def test_one_line_a_decision_with_what_it_hangs_on(tmp_path: Path) -> None:
    gate, path = DispatchGate(), tmp_path / "log.jsonl"
    gate.log_to(str(path))
    gate.evaluate(checks())
    gate.evaluate(checks(loop=OSError("gone")))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [list(row) for row in rows] == [["ts", "verdict", "cap", "live", "limiter", "ns"]] * 2
    assert rows[0]["verdict"] == SpawnVerdict.SPAWN_OK.value
    assert (rows[0]["cap"], rows[0]["live"], rows[0]["limiter"]) == (6, 2, Limiter.TARGET.value)
    assert (rows[1]["verdict"], rows[1]["cap"], rows[1]["limiter"]) == ("REFUSE_INSPECT", None, None)
    assert all(row["ns"] > 0 for row in rows)


def test_a_torn_line_stays_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"verdict": "SPAWN_OK"}\n[1]\n{"verdict": "SPA')
    log = DecisionLog(path)
    log.append({"verdict": "REFUSE_HOST"})
    rows, torn = log.read()
    assert [row["verdict"] for row in rows] == ["SPAWN_OK", "REFUSE_HOST"]
    assert torn == 2


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.jsonl", longest=1_000)
    for number in range(200):
        log.append({"number": number})
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert sorted(sizes) == ["log.jsonl", "log.jsonl.1"]
    assert max(sizes.values()) <= 1_000
    rows, torn = log.read()
    assert torn == 0
    numbers = [row["number"] for row in rows]
    assert numbers == list(range(numbers[0], 200))
    assert len(numbers) > 10


def _write(path: Path, writer: int) -> None:
    log = DecisionLog(path, longest=4_000)
    for number in range(60):
        log.append({"writer": writer, "number": number})


def test_writers_at_the_same_time_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, each)) for each in range(2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    rows, torn = DecisionLog(path).read()
    assert torn == 0
    for writer in range(2):
        numbers = [row["number"] for row in rows if row["writer"] == writer]
        assert numbers == list(range(60 - len(numbers), 60))  # what made room is gone, and nothing in between


def test_a_log_that_cannot_be_written_is_said_and_the_decision_stands(tmp_path: Path) -> None:
    gate = DispatchGate()
    gate.log_to(str(tmp_path))
    came = gate.evaluate(checks())
    assert came.ok
    assert "not in the log" in came.notes[0]


def test_there_is_no_log_before_the_first_decision(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.jsonl")
    assert log.read() == ([], 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "log")
    with pytest.raises(OSError, match="it is no regular file"):
        DecisionLog(tmp_path / "log").read()
    with pytest.raises(OSError):
        DecisionLog(tmp_path / "log").append({"verdict": "admit"})
