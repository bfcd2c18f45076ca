"""The probe of the spawned decision."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from harness.measure.clock import WorkNotDoneError
from harness.measure.timing import Loop, time_calls
from harness.probes.syscall.hook import Probe
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.hook import offer
from tests.harness.probes.syscall.traces import Offers, Slow, airline, library

MODULE = (sys.executable, "-P", "-s", "-B", "-m", "harness.cli.hook")


def opened(runtime, work=None):
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


@pytest.mark.parametrize("work", [None, library(), airline()])
def test_each_process_repeats_the_decision(work) -> None:
    measured = opened(Offers(Own()), work)
    assert measured.engine == "none"
    calls = 3 if work is None else len(work.data["calls"])
    for call, wanted in zip(list(measured.calls(calls)), measured._expected * calls, strict=False):
        result = call()
        measured._wanted = wanted
        measured.check(result)


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

    with pytest.raises(WorkNotDoneError, match="in process"):
        time_calls(opened(Offers(Lax())), 1, Loop())


def test_the_decision_may_be_awaited() -> None:
    slow = Slow(offer("none"), waits=True)
    loop = Loop()
    measured = loop.settle(opened(Offers(slow)))
    assert measured._expected[0]["kind"] == "ALLOW"
    loop.close()


def test_nothing_offered_and_nothing_to_replay() -> None:
    assert opened(Offers(None)).reason == "not-offered"
    empty = library()
    object.__setattr__(empty, "data", {**empty.data, "calls": []})
    assert opened(Reference(), empty).reason == "no-denominator"


def test_a_line_carries_the_bytes_of_the_trace() -> None:
    measured = opened(Offers(Own()), library())
    assert b'"args": {"member_id":"m-17"}' in measured._lines[1]
    assert isinstance(next(measured.calls(1))(), subprocess.CompletedProcess)
