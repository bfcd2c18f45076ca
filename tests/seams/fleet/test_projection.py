"""Workers in processes of their own: their work, their trees, and nobody left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.probes.fleet._crews import led_to
from seams.contract.fleet_projection import INCREMENT, MODULUS, MULTIPLIER, Job
from seams.fleet import projection
from seams.fleet.projection import WorkerError, Workers, offer
from seams.fleet.work import stepped


@given(st.integers(0, MODULUS - 1), st.integers(0, 3000))
def test_the_jump_of_the_probe_is_the_walk_of_the_worker(seed: int, steps: int) -> None:
    assert led_to(Job(seed, steps, ())) == stepped(seed, steps)


def test_one_step_is_the_contracts() -> None:
    assert stepped(7, 1) == (MULTIPLIER * 7 + INCREMENT) % MODULUS


@pytest.mark.parametrize("width", [1, 2, 8])
def test_the_answers_come_in_the_order_of_the_jobs(width: int) -> None:
    jobs = [Job(seed, steps, (f"lane-{seed}",)) for seed, steps in ((1, 300_000), (2, 10), (3, 0))]
    assert offer("none").run(jobs, width) == [led_to(job) for job in jobs]
    assert offer("none").run([], width) == []


@pytest.fixture
def logging_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worker that notes when it begins and when it ends, in one file, and takes a while."""
    log = tmp_path / "log"
    program = tmp_path / "work.py"
    program.write_text(
        "import os, sys, time\n"
        f"def note(word):\n    fd = os.open({str(log)!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
        "    os.write(fd, (word + ' ' + sys.argv[1] + '\\n').encode())\n    os.close(fd)\n"
        "note('begin'); time.sleep(.3); note('end'); print(sys.argv[1])\n"
    )
    monkeypatch.setattr(projection, "_PROGRAM", program)
    return log


def nested(log: Path) -> bool:
    """Whether two were at work at the same time."""
    words = [line.split()[0] for line in log.read_text().splitlines()]
    return words != ["begin", "end"] * (len(words) // 2)


def test_two_on_one_tree_are_never_at_work_at_the_same_time(logging_worker: Path) -> None:
    jobs = [Job(1, 0, ("a",)), Job(2, 0, ("a/b",)), Job(3, 0, ("x", "a/b/c"))]
    assert Workers().run(jobs, 3) == [1, 2, 3]
    assert not nested(logging_worker)


def test_a_free_tree_does_not_wait_for_a_held_one(logging_worker: Path) -> None:
    assert Workers().run([Job(1, 0, ("a",)), Job(2, 0, ("a",)), Job(3, 0, ("b",))], 2) == [1, 2, 3]
    begun = [line for line in logging_worker.read_text().splitlines() if line.startswith("begin")]
    assert begun[-1] == "begin 2"


def test_no_more_than_the_width_are_at_work(logging_worker: Path) -> None:
    assert Workers().run([Job(seed, 0, (f"t{seed}",)) for seed in (1, 2, 3)], 1) == [1, 2, 3]
    assert not nested(logging_worker)


def test_a_worker_that_fails_takes_the_others_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "work.py"
    program.write_text("import sys, time\nif sys.argv[1] == '2': sys.exit(4)\ntime.sleep(60)\n")
    monkeypatch.setattr(projection, "_PROGRAM", program)
    mine = psutil.Process()
    before = set(mine.children())
    open_before = mine.num_fds()
    with pytest.raises(WorkerError, match="job 1 ended with 4"):
        Workers().run([Job(1, 0, ("a",)), Job(2, 0, ("b",))], 2)
    assert set(mine.children()) == before
    assert mine.num_fds() == open_before


@pytest.mark.parametrize("trees", [(), ("/etc",), ("..",)])
def test_trees_that_nobody_can_have(trees: tuple[str, ...]) -> None:
    before = set(psutil.Process().children())
    with pytest.raises(ValueError, match="cannot be leased"):
        Workers().run([Job(1, 50_000_000, ("a",)), Job(2, 0, trees)], 2)
    assert set(psutil.Process().children()) == before


def test_a_text_is_no_sequence_of_trees() -> None:
    with pytest.raises(ValueError, match=r"Job 0 names the trees 'ab', which cannot be leased \(outside\)"):
        Workers().run([Job(1, 0, "ab")], 1)  # type: ignore[arg-type]


def test_a_width_that_lets_nobody_in() -> None:
    with pytest.raises(ValueError, match="take 1 or more"):
        Workers().run([], 0)


def test_a_worker_is_an_interpreter_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "work.py"
    program.write_text("import os; print(os.getpid())\n")
    monkeypatch.setattr(projection, "_PROGRAM", program)
    found = Workers().run([Job(1, 0, ("a",)), Job(2, 0, ("b",))], 1)
    assert len({os.getpid(), *found}) == 3
    assert sys.executable
