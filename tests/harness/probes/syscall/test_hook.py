"""The probe of the spawned decision."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_calls
from harness.probes.syscall import _spawn
from harness.probes.syscall._spawn import Answer, ask
from harness.probes.syscall._trace import calls_of, fresh
from harness.probes.syscall._words import same_word
from harness.probes.syscall.hook import Probe, SpawnedDecisions, scattered
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.hook import offer
from tests.harness.probes.syscall.traces import CANARY, Offers, Slow, airline, canary, library

ROOT = str(Path(__file__).parents[4])
MODULE = (sys.executable, "-P", "-s", "-B", "-m", "harness.cli.hook")


def opened(runtime, work=None):
    work = work or library()
    return Probe().open("spawned_hook_baseline_p50_ns", runtime, work, {})


def unproved(*command: str, work=None) -> SpawnedDecisions:
    """The slice over a command that was not asked anything yet."""
    work = work or library()
    decider = offer("none").in_world(work.data["world"])  # type: ignore[union-attr]
    calls = calls_of(work)
    return SpawnedDecisions(command, calls, [decider.decide(fresh(call)) for call in calls], os.environ)


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
    measured = unproved(sys.executable, "-c", "")
    seen: list[int] = []
    for n in (1, 3, 4, 2):
        list(measured.calls(n))
        seen += measured._due
    assert seen == [*scattered(8), *scattered(8)[:2]]


def test_every_process_of_a_round_is_held_to_its_decision() -> None:
    """A hook that says ALLOW to every call is wrong about two in the middle, and right about the last."""
    program = 'print(\'{"kind": "ALLOW", "reason": "NONE", "by": "monitor"}\')'
    measured = unproved(sys.executable, "-c", program)
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
    with pytest.raises(WorkNotDoneError, match=said):
        opened(Offers(Own((sys.executable, "-c", program))))
    measured = unproved(sys.executable, "-c", program)
    with pytest.raises(WorkNotDoneError, match=said):
        time_calls(measured, 1, Loop())
    with pytest.raises(WorkNotDoneError, match="did not answer"):
        measured.check(None)


def test_another_decision_in_process_is_work_not_done() -> None:
    class Lax(Own):
        def decide(self, call: ToolCall) -> Verdict:
            return replace(self.inner.decide(call), by="lax")

        def in_world(self, world: str) -> Lax:
            return self

    with pytest.raises(WorkNotDoneError, match=r"ALLOW/NONE: by not the same"):
        opened(Offers(Lax()))


def test_a_decision_that_allows_everything_is_no_yardstick() -> None:
    """Its process would agree with it on every call."""

    class Open(Own):
        def decide(self, call: ToolCall) -> Verdict:
            return Verdict(VerdictKind.ALLOW, by="monitor")

        def in_world(self, world: str) -> Open:
            return self

    program = 'print(\'{"kind": "ALLOW", "reason": "NONE", "by": "monitor"}\')'
    with pytest.raises(WorkNotDoneError, match="a tool that no rule names must be refused"):
        opened(Offers(Open((sys.executable, "-c", program))))


def test_a_runtime_that_renames_its_verdicts_is_held_to_the_names_of_the_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from seams.syscall import fold, hook, reasons

    for module in (fold, reasons):
        monkeypatch.setattr(module, "_CORE_NAME", dict.fromkeys(module._CORE_NAME, "FINE"))
    assert "ALLOW" not in hook.verdict_line(Verdict(VerdictKind.ALLOW))
    program = 'print(\'{"kind": "FINE", "reason": "FINE", "by": "monitor"}\')'
    with pytest.raises(WorkNotDoneError, match="which said ALLOW/NONE: kind, reason not the same"):
        opened(Offers(Own((sys.executable, "-c", program))))


def test_a_kind_that_the_contract_does_not_name_may_be_named_by_its_hook() -> None:
    for said, alike in (("KIND_1025", True), ("ASK_A_HUMAN", True), ("ALLOW", False), (1025, False), (None, False)):
        assert same_word(said, "KIND_1025") is alike
    assert not same_word("ASK_A_HUMAN", "DENY")


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
    with pytest.raises(WorkNotDoneError) as refused:
        opened(Offers(Own((sys.executable, "-c", program))), canary())
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
    assert isinstance(next(measured.calls(1))(), Answer)


def with_args(*texts: str):
    work = library()
    calls = [{**work.data["calls"][0], "args": text, "class": None} for text in texts]
    return replace(work, data={**work.data, "calls": calls})


def test_arguments_that_are_no_json_are_handed_over_as_a_text_and_refused_alike() -> None:
    work = with_args('{"q": ', "[1]", "NaN", '{"q": 1}', '"x"', "1}, {")
    measured = opened(Offers(Own()), work)
    assert len(time_calls(measured, 6, Loop()).stamps_ns) == 6
    assert [each["reason"] for each in measured._expected].count("MALFORMED") == 5


def hooked(command: str, work=None):
    return Probe().open("spawned_hook_baseline_p50_ns", Reference(), work or library(), {"hook": command})


def test_the_users_own_hook_stands_in_the_place_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ROOT)
    words = shlex.join(MODULE)
    measured = hooked(words)
    assert measured._command == MODULE
    assert hooked(words, airline())._command == (*MODULE, "--world", "airline")
    assert len(time_calls(measured, 2, Loop()).stamps_ns) == 2
    assert measured._environment == dict(os.environ), "it finds its own modules, not ours"


def test_it_may_sign_as_it_likes_and_say_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "hook.py"
    program.write_text(
        "import json, sys\n"
        "from seams.syscall.hook import chain_for, decide_line\n"
        "told = json.loads(decide_line(chain_for('default'), sys.stdin.buffer.read()))\n"
        "print(json.dumps({**told, 'by': 'mine', 'ms': 3}))\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", ROOT)
    measured = hooked(shlex.join([sys.executable, str(program)]))
    assert len(time_calls(measured, 1, Loop()).stamps_ns) == 1


SLEEPS = "import time; time.sleep(600)"
DRIPS = "import time\nwhile True: print(end=' ', flush=True); time.sleep(.01)"
LINGERS = "import os, time; print('{}', flush=True); os.close(1); time.sleep(600)"
LONG = (SLEEPS, DRIPS, LINGERS)
ENDLESS = "while True: print('{' * 1000)"
ALWAYS = 'print(\'{"kind": "ALLOW", "reason": "NONE"}\')'


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (SLEEPS, "call 0: it had not answered within"),
        (DRIPS, "call 0: it had not answered within"),
        (LINGERS, "call 0: it closed its output and had not ended within"),
        (ENDLESS, "call 0: it said more than 65,536 bytes"),
        ("print('yes')", "call 0 with 4 bytes that are no line of JSON"),
        ("print('[' * 60000)", "call 0 with 60001 bytes that are no line of JSON"),
        ("print([])", "call 0 otherwise"),
        ("raise SystemExit(3)", "call 0: it ended with code 3"),
        ("import os; os.kill(os.getpid(), 9)", "call 0: it ended with code -9"),
        (ALWAYS, "call 4 otherwise than the same code in process, which said DENY/DEFAULT_DENY: kind, reason"),
    ],
)
def test_a_hook_that_misbehaves_gives_no_slice(program: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_spawn, "DEADLINE_S", 1 if program in LONG else _spawn.DEADLINE_S)
    with pytest.raises(WorkNotDoneError, match=said):
        hooked(shlex.join([sys.executable, "-c", program]))


@pytest.mark.parametrize("command", ["no-such-program-anywhere", "/no/such/program", "/etc/passwd", "''"])
def test_a_hook_that_is_missing_is_not_installed(command: str) -> None:
    answer = hooked(command)
    assert isinstance(answer, Undefined)
    assert answer.reason == "not-installed"


def test_a_program_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    program = tmp_path / "hook"
    program.write_bytes(b"\x7fELF and no more")
    program.chmod(0o755)
    with pytest.raises(WorkNotDoneError, match="cannot be started: Exec format error"):
        hooked(str(program))


def test_a_process_may_answer_without_reading_and_read_without_answering() -> None:
    long = b"x" * 1_000_000
    assert ask([sys.executable, "-c", "print(1)"], long, os.environ) == Answer(b"1\n")
    read = "import sys; print(len(sys.stdin.buffer.read()))"
    assert ask([sys.executable, "-c", read], long, os.environ) == Answer(b"1000000\n")
    both = "import sys; print(1, flush=True); sys.stdin.buffer.read(); print(2)"
    assert ask([sys.executable, "-c", both], long, os.environ) == Answer(b"1\n2\n")
    assert ask([sys.executable, "-c", ""], b"", os.environ) == Answer(b"")


def test_a_process_that_outlives_its_output_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_spawn, "DEADLINE_S", 1)
    told = tmp_path / "pid"
    program = f"import os; open({str(told)!r}, 'w').write(str(os.getpid())); {LINGERS}"
    assert "had not ended" in str(ask([sys.executable, "-c", program], b"", os.environ).fault)
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_what_it_says_on_standard_error_is_neither_kept_nor_waited_for() -> None:
    loud = "import sys; sys.stderr.write('x' * 10_000_000); print(1)"
    assert ask([sys.executable, "-c", loud], b"{}", os.environ) == Answer(b"1\n")
