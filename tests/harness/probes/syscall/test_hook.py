"""The probe of the spawned decision."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from harness.measure.clock import WorkNotDoneError
from harness.measure.timing import Loop, time_calls
from harness.probes.syscall.hook import Probe, scattered
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.hook import offer
from tests.harness.probes.syscall.traces import CANARY, Offers, Slow, airline, canary, library

MODULE = (sys.executable, "-P", "-s", "-B", "-m", "harness.cli.hook")


def opened(runtime, work=None):
    work = work or library()
    return Probe().open("spawned_hook_baseline_p50_ns", runtime, work, {})


class Own:
    """A runtime's own hook: the reference decision, and the command to start for it."""

    def __init__(self, command: Any = MODULE, world: str = "default") -> None:
        self.command = command
        self.inner = offer("none").in_world(world)  # type: ignore[union-attr]

    def decide(self, call: ToolCall) -> Verdict:
        return self.inner.decide(call)

    def in_world(self, world: str) -> Own:
        return Own(self.command, world)


def test_the_reference_starts_the_hook_of_the_command_line() -> None:
    assert opened(Reference())._command == (sys.executable, "-P", "-s", "-B", "-m", "harness", "hook")
    assert opened(Reference(), airline())._command[-2:] == ("--world", "airline")


@pytest.mark.parametrize("work", [library(), airline()])
def test_each_process_repeats_the_decision(work) -> None:
    measured = opened(Offers(Own()), work)
    assert measured.engine == "none"
    n = len(work.data["calls"])
    assert len(time_calls(measured, n, Loop()).stamps_ns) == n
    assert sorted(measured._due) == list(range(n))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 12, 247])
def test_the_first_calls_of_a_round_are_from_all_over_the_trace(n: int) -> None:
    order = scattered(n)
    assert sorted(order) == list(range(n))
    for taken in range(1, n + 1):
        places = sorted(order[:taken])
        gaps = [after - before for before, after in zip(places, [*places[1:], places[0] + n], strict=True)]
        assert max(gaps) <= 3 * n / taken + 1


def test_a_round_goes_on_where_the_last_one_ended() -> None:
    measured = opened(Offers(Own((sys.executable, "-c", ""))))
    seen: list[int] = []
    for n in (1, 3, 4, 2):
        list(measured.calls(n))
        seen += measured._due
    assert seen == [*scattered(8), *scattered(8)[:2]]


def test_every_process_of_a_round_is_held_to_its_decision() -> None:
    """A hook that says ALLOW to every call is wrong about two in the middle, and right about the last."""
    program = 'print(\'{"kind": "ALLOW", "reason": "NONE", "by": "monitor"}\')'
    measured = opened(Offers(Own((sys.executable, "-c", program))))
    with pytest.raises(WorkNotDoneError, match="call 5 otherwise than the same code in process, which said TRANSFORM"):
        time_calls(measured, 8, Loop())


def test_calls_are_stamped_one_process_each() -> None:
    assert len(time_calls(opened(Offers(Own())), 2, Loop()).stamps_ns) == 2


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit(2)", "did not answer"),
        ("print('yes')", "no line of JSON"),
        ('print(\'{"kind": "DENY", "reason": "POLICY_BLOCK", "by": "x"}\')', "in process"),
        ("", "no line of JSON"),
    ],
)
def test_another_answer_is_work_not_done(program: str, said: str) -> None:
    measured = opened(Offers(Own((sys.executable, "-c", program))))
    with pytest.raises(WorkNotDoneError, match=said):
        time_calls(measured, 1, Loop())
    with pytest.raises(WorkNotDoneError, match="did not answer"):
        measured.check(None)


def test_another_decision_in_process_is_work_not_done() -> None:
    class Lax(Own):
        def decide(self, call: ToolCall) -> Verdict:
            return Verdict(VerdictKind.ALLOW, by="lax")

        def in_world(self, world: str) -> Lax:
            return self

    with pytest.raises(WorkNotDoneError, match=r"ALLOW/NONE: by not the same"):
        time_calls(opened(Offers(Lax())), 1, Loop())


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit(sys.stdin.read())",
        "import sys; print(sys.stdin.read()[1:])",
        "import json, sys; print(json.dumps({'kind': 'DENY', 'reason': sys.stdin.read(), 'by': 'x'}))",
        "import sys; print(sys.stdin.read())",
    ],
)
def test_no_recorded_text_reaches_a_sentence(program: str) -> None:
    measured = opened(Offers(Own((sys.executable, "-c", program))), canary())
    with pytest.raises(WorkNotDoneError) as refused:
        time_calls(measured, 1, Loop())
    error: BaseException | None = refused.value
    while error is not None:
        assert CANARY not in str(error)
        error = error.__cause__


def test_the_decision_may_be_awaited() -> None:
    slow = Slow(offer("none"), waits=True)
    loop = Loop()
    measured = loop.settle(opened(Offers(slow)))
    assert measured._expected[0]["kind"] == "ALLOW"
    loop.close()


def test_nothing_offered_and_nothing_to_replay() -> None:
    assert opened(Offers(None)).reason == "not-offered"
    assert Probe().open("spawned_hook_baseline_p50_ns", Reference(), None, {}).reason == "workload-kind"
    empty = library()
    object.__setattr__(empty, "data", {**empty.data, "calls": []})
    assert opened(Reference(), empty).reason == "no-denominator"


def test_a_line_carries_the_bytes_of_the_trace() -> None:
    measured = opened(Offers(Own()), library())
    assert b'"args": {"member_id":"m-17"}' in measured._lines[1]
    assert isinstance(next(measured.calls(1))(), subprocess.CompletedProcess)
