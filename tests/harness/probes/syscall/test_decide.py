"""The probe of the decision, its checks, and runtimes that await."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from dataclasses import replace

import pytest

from harness.measure.clock import Undefined, Workload, WorkNotDoneError
from harness.measure.timing import Loop, time_batch, time_calls
from harness.probes._spread import spread
from harness.probes.syscall._sinks import could_be_late
from harness.probes.syscall.decide import Probe
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.decide import offer
from tests.harness.probes.syscall.traces import CANARY, Offers, Slow, airline, canary, library

KPIS = ("tool_call_p50_ns", "local_serve_ns")


def opened(runtime, work):
    return Probe().open("tool_call_p50_ns", runtime, work, {})


def test_it_answers_for_the_decision() -> None:
    assert Probe.kpis == set(KPIS)


@pytest.mark.parametrize("work", [library(), airline()])
def test_calls_and_batches_do_as_many_decisions_as_they_are_told(work: Workload) -> None:
    measured = opened(Reference(), work)
    assert measured.engine == "none"
    loop = Loop()
    for n in (1, len(work.data["calls"]), 23):
        assert len(time_calls(measured, n, loop).stamps_ns) == n
        assert time_batch(measured, n, loop).loops == n


class Simple:
    """Refuses what must be refused everywhere, and allows the rest."""

    def decide(self, call: ToolCall) -> Verdict:
        known = call.args.endswith(b"}") and call.tool != "audit_trail"
        return Verdict(VerdictKind.ALLOW if known else VerdictKind.DENY)


def test_every_decision_is_on_a_fresh_call() -> None:
    seen: list[int] = []

    class Notes(Simple):
        def decide(self, call: ToolCall) -> Verdict:
            seen.append(id(call))
            kept.append(call)
            return Verdict(super().decide(call).kind)

    kept: list[ToolCall] = []
    measured = opened(Offers(Notes()), library())
    seen.clear()
    kept.clear()
    time_batch(measured, 20, Loop())
    assert len(seen) == len(set(seen)) == 20
    assert all(call.seq == 0 and call._read is None for call in kept)


def test_any_number_of_loops_stands_for_the_whole_trace() -> None:
    asked: list[str] = []

    class Notes(Simple):
        def decide(self, call: ToolCall) -> Verdict:
            asked.append(call.tool)
            return super().decide(call)

    measured = opened(Offers(Notes()), library())
    tools = [call["tool"] for call in library().data["calls"]]
    for n in (8, 12, 4, 1):
        for run in (lambda: time_batch(measured, n, Loop()), lambda: time_calls(measured, n, Loop())):  # noqa: B023
            asked.clear()
            run()
            assert asked == [tools[at] for at in spread(8, n)]
    assert [tools[at] for at in spread(8, 12)[8:]] == [tools[1], tools[3], tools[5], tools[7]]


def test_no_recorded_text_reaches_a_sentence() -> None:
    class Repeats:
        """Everything it is given, in the verdict; two controls refused, eight calls alike, then another kind."""

        def __init__(self, first: int) -> None:
            self.kinds = itertools.chain([VerdictKind.DENY] * 2, [first] * 8, itertools.repeat(VerdictKind.DENY))

        def decide(self, call: ToolCall) -> Verdict:
            text = call.args.decode()
            return Verdict(next(self.kinds), 31_337, text, call.args, {"claim": text})

    with pytest.raises(WorkNotDoneError) as of_a_round:
        time_calls(opened(Offers(Repeats(VerdictKind.ALLOW)), canary()), 3, Loop())
    assert "DENY/REASON_31337 by a rung without a name where ALLOW" in str(of_a_round.value)
    for kind, expected in ((VerdictKind.DEFER, None), (VerdictKind.ALLOW, "deny"), (VerdictKind.ALLOW, "grammar")):
        with pytest.raises(WorkNotDoneError) as of_the_opening:
            opened(Offers(Repeats(kind)), canary(expected))
        assert CANARY not in str(of_the_opening.value)
    assert CANARY not in str(of_a_round.value)


def test_another_verdict_than_before_is_work_not_done() -> None:
    class Tires(Simple):
        asked = 0

        def decide(self, call: ToolCall) -> Verdict:
            self.asked += 1
            return super().decide(call) if self.asked <= 10 else Verdict(VerdictKind.DENY)

    measured = opened(Offers(Tires()), library())
    with pytest.raises(WorkNotDoneError, match="was expected"):
        time_calls(measured, 3, Loop())
    with pytest.raises(WorkNotDoneError):
        measured.check(None)


@pytest.mark.parametrize(
    ("verdict", "work"),
    [
        (None, library()),
        (Verdict(VerdictKind.DEFER), library()),
        (Verdict(VerdictKind.ALLOW), airline()),
        (Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY), airline()),
    ],
)
def test_a_decision_that_settles_nothing_or_contradicts_the_trace(verdict: object, work: Workload) -> None:
    class Constant:
        def decide(self, call: ToolCall) -> object:
            return verdict

    with pytest.raises(WorkNotDoneError):
        opened(Offers(Constant()), work)


@pytest.mark.parametrize("waits", [False, True])
def test_a_decision_may_be_awaited(waits: bool) -> None:
    slow = Slow(offer("none"), waits=waits)
    loop = Loop()
    measured = loop.settle(opened(Offers(slow), airline()))
    assert inspect.iscoroutinefunction(next(measured.calls(1)))
    assert len(time_calls(measured, 9, loop).stamps_ns) == 9
    assert time_batch(measured, 9, loop).loops == 9
    loop.close()


def test_the_whole_chain_decides_on_an_untouched_ledger() -> None:
    """A trace of calls that would be refused late in a replay: here each of them is decided as if it came first."""
    decider = offer("none").in_world("airline")  # type: ignore[union-attr]
    assert [rung.rank for rung in decider.chain.rungs] == [5, 10, 30, 100]
    measured = opened(Offers(decider), airline())
    time_batch(measured, 50, Loop())
    sinks = decider.chain.rungs[2]
    assert len(sinks.ledger) == 0  # type: ignore[attr-defined]


def test_a_deny_that_only_the_replay_can_know_is_not_asked_of_the_decision() -> None:
    work = airline()
    calls = [dict(call) for call in work.data["calls"]]
    calls.append({"tool": "fetch_policy", "args": '{"topic": "bags"}', "meta": {}, "class": "deny"})
    late = replace(work, data={**work.data, "calls": calls})
    assert not isinstance(opened(Reference(), late), Undefined)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (VerdictKind.ALLOW, "a tool that no rule names must be refused"),
        (VerdictKind.DENY, "every call is refused; one that is allowed everywhere is DENY/NONE"),
    ],
)
def test_one_verdict_for_everything_over_a_trace_without_classes(kind: VerdictKind, said: str) -> None:
    class Constant:
        def decide(self, call: ToolCall) -> Verdict:
            return Verdict(kind)

    with pytest.raises(WorkNotDoneError, match=said):
        opened(Offers(Constant()), library())


def test_arguments_that_nobody_reads_are_found_out() -> None:
    class Names:
        """Judges by the tool's name alone."""

        def decide(self, call: ToolCall) -> Verdict:
            return Verdict(VerdictKind.DENY if call.tool == "audit_trail" else VerdictKind.ALLOW)

    with pytest.raises(WorkNotDoneError, match="arguments that break off must be refused"):
        opened(Offers(Names()), library())

    class Ends(Simple):
        """Takes whatever ends like an object."""

    work = library()
    calls = [*work.data["calls"], {"tool": "get_note", "args": '{"a": }', "meta": {}, "class": None}]
    with pytest.raises(WorkNotDoneError, match="arguments of call 8 are no JSON object, and the decision is ALLOW"):
        opened(Offers(Ends()), replace(work, data={**work.data, "calls": calls}))


def with_calls(*calls: tuple[str, str, str | None]) -> Workload:
    """The airline's trace with these calls behind it: tool, arguments, class."""
    work = airline()
    more = [{"tool": tool, "args": args, "meta": {}, "class": named} for tool, args, named in calls]
    return replace(work, data={**work.data, "calls": [*work.data["calls"], *more]})


def test_a_deny_that_is_missing_is_excused_of_sinks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime's own list of sinks has no say: one that names everything would excuse itself."""
    from seams.syscall import sinks

    class Lax:
        """The reference decision, with what it must not allow allowed."""

        def __init__(self) -> None:
            self.inner = offer("none").in_world("airline")  # type: ignore[union-attr]

        def decide(self, call: ToolCall) -> Verdict:
            wrong = call.tool == "get_user_details" and call.args == b'{"user_id": 8}'
            return Verdict(VerdictKind.ALLOW) if wrong else self.inner.decide(call)

    monkeypatch.setattr(sinks, "addressed", lambda args: True)
    monkeypatch.setattr(sinks, "named_sinks", lambda tool: frozenset({"egress"}))
    work = with_calls(
        ("get_user_details", '{"user_id": "u"}', "pass"),
        ("get_user_details", '{"user_id": 8}', "deny"),
    )
    with pytest.raises(WorkNotDoneError, match="call 8 must be denied in this trace"):
        opened(Offers(Lax()), work)


@pytest.mark.parametrize(
    ("tool", "args", "late"),
    [
        ("fetch_policy", "{}", True),
        ("Purge_Cache", "{}", True),
        ("transfer_to_human", '{"to": "a@b.example"}', False),
        ("get_page", '{"at": ["https://a.example/x"]}', True),
        ("get_page", '{"where": {"host": "files.example"}}', True),
        ("get_page", '{"where": "10.0.0.1:8080"}', True),
        ("get_page", '{"note": "tell (me@there.example), please"}', True),
        ("get_page", '{"note": "files\uff0eexample"}', True),
        ("get_page", '{"note": "nothing, and 3 words", "n": 1}', False),
        ("get_page", '{"note": ', False),
    ],
)
def test_what_a_trace_may_refuse_for_what_came_before(tool: str, args: str, late: bool) -> None:
    assert could_be_late(ToolCall(tool, args.encode())) is late


def test_nothing_to_replay() -> None:
    session = Workload("s", "session", "0" * 64, "replay", {})
    empty = Workload("e", "calls", "0" * 64, "replay", {"calls": [], "world": "default"})
    assert opened(Reference(), None).reason == "workload-kind"
    assert opened(Reference(), session).reason == "workload-kind"
    assert opened(Reference(), empty).reason == "no-denominator"


def test_nothing_offered() -> None:
    answer = opened(Offers(None), library())
    assert isinstance(answer, Undefined)
    assert (answer.reason, "own offers no syscall/decide" in answer.detail) == ("not-offered", True)


def test_a_runtime_without_worlds_is_taken_as_it_is() -> None:
    assert not isinstance(opened(Offers(Simple()), library()), Undefined)


def test_a_coroutine_is_not_left_behind() -> None:
    coroutine = opened(Offers(Slow(offer("none"))), library())
    assert inspect.iscoroutine(coroutine)
    assert asyncio.run(coroutine).engine == "none"
