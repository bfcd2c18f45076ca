"""The gate before a launch: what it says, what it does where it cannot see, and what it sees of this machine."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kpis.formulas.fleet.preflight as rule
from seams.contract.fleet_preflight import Asks, Checks, Flagged, Host, Limiter, Loop, Seats, SpawnVerdict
from seams.fleet.machine import ACCOUNT, WORKERS
from seams.fleet.preflight import DispatchGate, offer

ROOMY = Host(64, 128_000, 1_000)


def checks(**given) -> Checks:
    """Room everywhere, but for ``given``; an exception is raised."""
    answers = {
        "flagged": (),
        "account": "a",
        "loop": Loop(2, 6),
        "seats": Seats(20, 10, 10, False),
        "host": ROOMY,
        "workers": 2,
        "max_workers": 8,
    } | given

    def answering(answer):
        def ask():
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return ask

    return Checks(**{name: answering(answer) for name, answer in answers.items()})


def decide(**given):
    return DispatchGate().evaluate(checks(**given))


def test_room_everywhere() -> None:
    came = decide()
    assert (came.verdict, came.ok, came.cap, came.live, came.headroom) == (SpawnVerdict.SPAWN_OK, True, 6, 2, 4)
    assert came.limiter is Limiter.TARGET
    assert came.notes == ()


def test_the_cap_of_what_is_configured_and_aimed_at() -> None:
    assert decide(max_workers=2, loop=Loop(0, 3)).cap == 2
    assert decide(max_workers=8, loop=Loop(99, 0)).cap == 8
    assert decide(max_workers=8, loop=Loop(99, 0)).live == 2
    assert decide(max_workers=-1).cap == 0
    below = decide(max_workers=8, loop=Loop(alive=9, target=-1), workers=0)
    assert (below.cap, below.live, below.verdict) == (8, 9, SpawnVerdict.REFUSE_AT_CAP)


@pytest.mark.parametrize("name", ["flagged", "loop", "host", "workers", "max_workers"])
def test_a_check_that_fails_refuses_and_is_named(name: str) -> None:
    came = decide(**{name: TimeoutError("had not ended within 90 s")})
    assert came.verdict is SpawnVerdict.REFUSE_INSPECT
    assert not came.ok
    assert came.notes == (f"The check {name} has failed: had not ended within 90 s.",)


class WordlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said"),
    [(SystemExit(3), "SystemExit 3"), (SystemExit(), "SystemExit"), (WordlessError(), "WordlessError")],
)
def test_a_check_that_ends_the_program_or_says_nothing_has_failed_as_well(error: BaseException, said: str) -> None:
    came = decide(workers=error)
    assert came.verdict is SpawnVerdict.REFUSE_INSPECT
    assert came.notes == (f"The check workers has failed: {said}.",)


@pytest.mark.parametrize("name", ["\ud800", "a\0b"])
def test_a_log_whose_name_no_file_has_is_a_note_and_the_decision_stands(name: str) -> None:
    gate = DispatchGate()
    gate.log_to(name)
    came = gate.evaluate(checks())
    assert came.ok
    assert len(came.notes) == 1
    assert came.notes[0].startswith("The decision is not in the log: ")
    assert came.notes[0].endswith("Give log_to() another file.")


def test_an_account_that_cannot_be_asked_is_none() -> None:
    assert decide(account=OSError("no route")).verdict is SpawnVerdict.REFUSE_NO_ACCOUNT
    assert decide(account=None).verdict is SpawnVerdict.REFUSE_NO_ACCOUNT
    assert decide(account=" ").verdict is SpawnVerdict.REFUSE_NO_ACCOUNT


@pytest.mark.parametrize("seats", [None, OSError("no pool"), Seats("7", 0, 0, True), (1, 2), Seats(4, -1, 4, True)])
def test_a_missing_view_of_the_seats_is_left_out_and_said(seats) -> None:
    came = decide(seats=seats)
    assert came.verdict is SpawnVerdict.SPAWN_OK
    assert len(came.notes) == 1
    assert "seats" in came.notes[0]
    assert "left out" in came.notes[0]


def test_seats_that_are_all_taken_refuse_where_they_are_the_limit() -> None:
    assert decide(seats=Seats(6, 0, 6, True)).verdict is SpawnVerdict.REFUSE_NO_SEAT
    assert decide(seats=Seats(7, 0, 7, True)).verdict is SpawnVerdict.SPAWN_OK
    assert decide(seats=Seats(6, 0, 0, True)).verdict is SpawnVerdict.SPAWN_OK
    assert decide(seats=Seats(0, 0, 1, True)).verdict is SpawnVerdict.REFUSE_NO_SEAT
    assert decide(seats=Seats(None, 0, 1, True)).verdict is SpawnVerdict.SPAWN_OK


def test_a_flagged_process_is_let_be_only_where_it_is_protected_and_no_backend() -> None:
    assert decide(flagged=[Flagged(1, "init", protected=True)]).ok
    for unsafe in (
        Flagged(7, "build"),
        Flagged(8, "claude", protected=True, backend=True),
        Flagged(9, "x", backend=True),
    ):
        came = decide(flagged=[Flagged(1, "init", protected=True), unsafe])
        assert came.verdict is SpawnVerdict.REFUSE_HOST
        assert unsafe.name in came.notes[0]


@pytest.mark.parametrize(
    "given",
    [
        {"workers": -1},
        {"workers": True},
        {"workers": None},
        {"workers": 2.0},
        {"max_workers": "8"},
        {"loop": Loop(-1, 6)},
        {"loop": {"alive": 1, "target": 6}},
        {"loop": None},
        {"host": Host(-2, 1, 1)},
        {"host": None},
        {"flagged": None},
        {"flagged": [(1, "x")]},
        {"flagged": {}},
        {"flagged": ""},
        {"flagged": False},
        {"flagged": set()},
        {"flagged": iter(())},
        {"flagged": [Flagged(1, "x", protected="false")]},
        {"flagged": [Flagged(1, "x", protected=1)]},
        {"flagged": [Flagged(1, "x", protected=True, backend=None)]},
        {"flagged": [Flagged(1, None, protected=True)]},
        {"flagged": [Flagged(True, "x", protected=True)]},
    ],
)
def test_an_answer_that_cannot_be_is_a_failed_check(given) -> None:
    assert decide(**given).verdict is SpawnVerdict.REFUSE_INSPECT


def test_a_note_is_one_printable_line() -> None:
    (note,) = decide(workers=ValueError("a\nb\x1b[31m" + "c" * 5_000)).notes
    assert note.isprintable()
    assert len(note) < 400


def test_every_check_is_called_whatever_the_others_said() -> None:
    called = []
    broken = checks(loop=OSError("gone"), flagged=[Flagged(7, "build")])

    def noted(name, check):
        def ask():
            called.append(name)
            return check()

        return ask

    DispatchGate().evaluate(Checks(*(noted(name, check) for name, check in broken._asdict().items())))
    assert called == list(Checks._fields)


COUNT = st.integers(0, 12)
SEATS = st.none() | st.builds(Seats, st.none() | COUNT, COUNT, COUNT, st.booleans())
HOSTS = st.builds(Host, st.none() | st.integers(0, 64), st.none() | st.integers(0, 99_999), st.none() | COUNT)


@given(
    flagged=st.lists(st.builds(Flagged, COUNT, st.just("p"), st.booleans(), st.booleans()), max_size=2),
    account=st.none() | st.just("a"),
    loop=st.builds(Loop, COUNT, st.integers(-2, 12)),
    seats=SEATS,
    host=HOSTS,
    workers=COUNT,
    max_workers=COUNT,
    failing=st.sets(st.sampled_from(Checks._fields), max_size=1),
)
def test_the_gate_keeps_the_rule(flagged, account, loop, seats, host, workers, max_workers, failing) -> None:
    given = {
        "flagged": flagged,
        "account": account,
        "loop": loop,
        "seats": seats,
        "host": host,
        "workers": workers,
        "max_workers": max_workers,
    }
    came = decide(**(given | {name: OSError("gone") for name in failing}))
    seen = None if "seats" in failing else seats
    total = None if seen is None else seen.total
    carried = rule.host_capacity(*host)
    limit = rule.cap(max_workers, loop.target, carried, total)
    alive = rule.live(loop.alive, loop.target, workers)
    assert came.verdict.value == rule.verdict(
        failed=bool(failing - {"account", "seats"}),
        safe=all(each.protected and not each.backend for each in flagged),
        depleted=seen is not None and seen.depleted,
        seats=total,
        leased=0 if seen is None else seen.leased,
        cap_before_seats=rule.cap(max_workers, loop.target, carried, None),
        cap=limit,
        live=alive,
        account=account is not None and "account" not in failing,
    )
    if not failing - {"account", "seats", "flagged"}:
        assert (came.cap, came.live) == (limit, alive)
        assert came.limiter is not None
        assert came.limiter.value == rule.limiter(max_workers, loop.target, carried, total, alive)
    else:
        assert (came.cap, came.live, came.limiter, came.headroom) == (None, None, None, None)


ANSWERS = {
    "account": '"a"',
    "loop": '{"alive": 0, "target": 3}',
    "seats": '{"total": 9, "free": 9, "leased": 0, "depleted": false}',
}


def printing(text: str, code: int = 0) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", f"import sys; sys.stdout.write({text!r}); sys.exit({code})"]


def asking(**given) -> Asks:
    commands = {name: printing(text) for name, text in ANSWERS.items()}
    return Asks(**{**commands, "share": 2.0, "max_workers": 4, **given})


def here(**given):
    gate = offer("none")
    return gate.evaluate(gate.on_this_machine(asking(**given)))


def test_this_machine_lets_a_first_worker_in() -> None:
    came = here()
    assert came.verdict is SpawnVerdict.SPAWN_OK
    assert came.seen.account == "a"
    assert came.seen.loop == Loop(0, 3)
    assert came.seen.seats == Seats(9, 9, 0, False)
    assert came.seen.host is not None
    assert all(came.seen.host)
    assert came.notes == ()


def test_a_share_that_everything_is_beyond_makes_the_host_unsafe() -> None:
    came = here(share=0.0)
    assert came.verdict is SpawnVerdict.REFUSE_HOST
    assert os.getpid() in {each.pid for each in came.seen.flagged or ()}


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -0.1, "0.5", None, True])
def test_a_share_that_is_no_number_is_a_failed_check(share) -> None:
    came = here(share=share)
    assert came.verdict is SpawnVerdict.REFUSE_INSPECT
    assert came.notes[0].startswith("The check flagged has failed: ")


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0, -1.0, 1e300, "5", True])
def test_a_command_without_a_time_that_it_can_have_is_a_failed_check(seconds) -> None:
    came = here(seconds=seconds)
    assert came.verdict is SpawnVerdict.REFUSE_INSPECT
    assert any(note.startswith("The check loop has failed: ") for note in came.notes)


@pytest.mark.parametrize(
    "command",
    [
        printing("no JSON"),
        printing("{}"),
        printing('{"alive": true, "target": 3}'),
        printing('{"alive": 0, "target": 3}', code=3),
        printing("[" * 50_000),
        printing("9" * 200_000),
        [sys.executable, "-c", "while True: print('y' * 1000)"],
        ["no such program"],
        ["a\0b"],
    ],
)
def test_a_command_that_gives_no_answer_is_a_failed_check(command) -> None:
    came = here(loop=command)
    assert came.verdict is SpawnVerdict.REFUSE_INSPECT
    assert "loop" in came.notes[0]


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    came = here(account=["sh", "-c", f"sleep 300 & echo $! > {shlex.quote(str(file))}; wait"], seconds=2.0)
    assert came.verdict is SpawnVerdict.REFUSE_NO_ACCOUNT
    assert "within 2 s" in came.notes[0]
    state = Path(f"/proc/{file.read_text()}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_workers_are_found_by_file_and_by_mark_and_each_counts_once(tmp_path: Path) -> None:
    marked = subprocess.Popen([sys.executable, "-c", "input()", "loopladder-test-mark"], stdin=subprocess.PIPE)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        (tmp_path / "one.pid").write_text(f"{marked.pid}\n")
        (tmp_path / "two.pid").write_text(f"{other.pid}\n")
        (tmp_path / "dead.pid").write_text("999999999")
        (tmp_path / "notes.txt").write_text("no number")
        assert here(marker="loopladder-test-mark", pids=str(tmp_path)).seen.workers == 2
        assert here(marker="loopladder-test-mark").seen.workers == 1
        assert here().seen.workers == 0
        (tmp_path / "torn.pid").write_text("")
        came = here(pids=str(tmp_path))
        assert came.verdict is SpawnVerdict.REFUSE_INSPECT
        assert "torn.pid" in came.notes[0]
        (tmp_path / "torn.pid").unlink()
        marked.kill()
        os.waitid(os.P_PID, marked.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has asked how
        assert here(pids=str(tmp_path)).seen.workers == 1
        assert here(pids=str(tmp_path / "absent")).verdict is SpawnVerdict.REFUSE_INSPECT
    finally:
        for process in (marked, other):
            process.kill()
            process.communicate()


def test_what_is_not_asked_comes_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv(ACCOUNT, "mine")
    monkeypatch.setenv(WORKERS, "3")
    came = here(account=None, max_workers=None, loop=None, seats=None)
    assert (came.seen.account, came.seen.max_workers, came.seen.loop) == ("mine", 3, Loop(0, 0))
    monkeypatch.setenv(WORKERS, "many")
    came = here(max_workers=None)
    assert came.verdict is SpawnVerdict.REFUSE_INSPECT
    assert "many" in came.notes[0]
    monkeypatch.delenv(WORKERS)
    assert here(max_workers=None).seen.max_workers == 8


def test_psutil_is_imported_by_those_only_who_look_at_the_machine(repo: Path) -> None:
    script = "import seams.fleet.preflight, sys; print('psutil' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=repo, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
