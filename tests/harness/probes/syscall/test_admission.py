"""The probe of the gates: authored bodies, the rate of a replay, and runtimes whose gates only seem to be there."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall._results import CALL, PLANTED, authored
from harness.probes.syscall.admission import Probe
from seams.contract.admission import GateTally
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Status, VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.admission import BareGate, CanonicalGate, Gates
from seams.syscall.screen import screen
from tests.harness.probes.syscall.traces import CANARY, Makes, Offers, airline, canary, library, workload

SIZES = (64, 1024, 65536)


def costing(runtime: Any, payload: str, size: int = 64) -> Any:
    return Probe().open("admit_chain_ns", runtime, None, {"payload": payload, "bytes": str(size)})


def rate(runtime: Any, work: Any) -> Any:
    return Probe().open("screen_quarantine_rate", runtime, work, {})


def test_every_kpi_of_the_seam_is_wired(repo: Path) -> None:
    import tomllib

    rows: dict[str, Any] = {}
    for floor in ("syscall", "turn"):
        rows |= tomllib.loads((repo / "kpis" / "catalog" / f"{floor}.toml").read_text())["kpi"]
    assert {name for name, row in rows.items() if row["seam"] == "syscall/admission"} == Probe.kpis
    params = rows["admit_chain_ns"]["params"]
    assert (set(params["payload"]), [int(each) for each in params["bytes"]]) == (set(PLANTED), list(SIZES))


@pytest.mark.parametrize("payload", PLANTED)
@pytest.mark.parametrize("size", SIZES)
def test_a_body_has_its_size_and_nothing_but_what_it_carries(payload: str, size: int) -> None:
    body = authored(payload, size)
    assert len(body) == size
    assert body.endswith(PLANTED[payload])
    assert authored(payload, size, 1) != body
    stripped = body[: size - len(PLANTED[payload])]
    assert screen(stripped) == ReasonCode.NONE
    assert CanonicalGate().admit(CALL, Result(Status.OK, stripped)).kind == VerdictKind.DEFER


@pytest.mark.parametrize("payload", PLANTED)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("loops", [1, 3, 70])
def test_the_reference_does_the_work(payload: str, size: int, loops: int) -> None:
    opened = costing(Reference(), payload, size)
    assert (opened.engine, opened.source) == ("none", "synthetic")
    time_batch(opened, loops, Loop())


def test_a_batch_is_as_many_admissions_and_its_check_needs_them() -> None:
    opened = costing(Reference(), "injection")
    run = opened.batch(5)
    with pytest.raises(WorkNotDoneError, match="not every gate"):
        opened.check(None)
    opened.check(run())
    run()
    with pytest.raises(WorkNotDoneError, match="5 results"):
        opened.check(Verdict(VerdictKind.QUARANTINE, ReasonCode.TRUST_VIOLATION))


class Says(Gates):
    """Books that are kept, and one verdict for everything."""

    def __init__(self, verdict: Verdict, payload: bytes | None = None) -> None:
        super().__init__()
        self.verdict, self.payload, self.unseen = verdict, payload, 0

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        return self.say(result)

    def tallies(self) -> tuple[GateTally, ...]:
        return tuple(replace(tally, total=tally.total + self.unseen) for tally in super().tallies())

    def say(self, result: Result) -> Verdict:
        self.unseen += 1
        if self.payload is not None:
            result.payload = self.payload
        return self.verdict


SECRET_OUT = Verdict(VerdictKind.QUARANTINE, ReasonCode.SECRET_EXFIL, "one-gate")
CONSTANTS = {
    "allows": Says(Verdict(VerdictKind.ALLOW)),
    "keeps all out": Says(SECRET_OUT, b"{}"),
    "says and does not": Says(SECRET_OUT),
    "shortens": Says(Verdict(VerdictKind.TRANSFORM), b""),
    "denies": Says(Verdict(VerdictKind.DENY, ReasonCode.SECRET_EXFIL), b"{}"),
}


@pytest.mark.parametrize("payload", PLANTED)
@pytest.mark.parametrize("name", CONSTANTS)
def test_one_verdict_for_everything_is_found_out(name: str, payload: str) -> None:
    with pytest.raises(WorkNotDoneError, match="a gate says"):
        costing(Offers(CONSTANTS[name]), payload)


class Tires(Says):
    """Gates that look at the first results only."""

    def __init__(self, looks: int, otherwise: Verdict) -> None:
        super().__init__(otherwise)
        self.looks = looks

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        self.looks -= 1
        return Gates.admit(self, call, result) if self.looks >= 0 else self.say(result)


@pytest.mark.parametrize(("payload", "kind"), [("secret", "QUARANTINE"), ("injection", "QUARANTINE")])
def test_gates_that_tire_are_found_out(payload: str, kind: str) -> None:
    reason = ReasonCode.SECRET_EXFIL if payload == "secret" else ReasonCode.TRUST_VIOLATION
    for otherwise in (Verdict(VerdictKind.ALLOW), Verdict(VerdictKind[kind], reason)):
        opened = costing(Makes(lambda verdict=otherwise: Tires(3, verdict)), payload)
        assert opened.check(opened.batch(3)()) is None
        with pytest.raises(WorkNotDoneError):
            opened.check(opened.batch(9)())


def test_a_middle_result_that_slipped_through_is_found_out() -> None:
    class Slips(Says):
        seen = 0

        def admit(self, call: ToolCall, result: Result) -> Verdict:
            self.seen += 1
            return self.say(result) if self.seen == 4 else Gates.admit(self, call, result)

    opened = costing(Makes(lambda: Slips(SECRET_OUT)), "secret")
    with pytest.raises(WorkNotDoneError, match="admission 4 of 9"):
        opened.check(opened.batch(9)())


def test_a_runtime_of_one_gate_will_do() -> None:
    for payload in PLANTED:
        opened = costing(Makes(lambda: Gates([BareGate()])), payload, 65536)
        opened.check(opened.batch(2)())
    assert rate(Makes(lambda: Gates([BareGate()])), airline()).reasons == {"bare-gate/TRUST_VIOLATION": 1}


@pytest.mark.parametrize("kpi", sorted(Probe.kpis))
def test_nothing_offered_is_undefined(kpi: str) -> None:
    found = Probe().open(kpi, Offers(None), library(), {"payload": "benign", "bytes": "64"})
    assert isinstance(found, Undefined)
    assert found.reason == "not-offered"


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (None, "workload-kind"),
        (replace(library(), kind="session"), "workload-kind"),
        (replace(library(), data={"world": "default", "calls": []}), "no-denominator"),
    ],
)
def test_a_rate_needs_calls(work: Any, reason: str) -> None:
    assert rate(Reference(), work).reason == reason


def test_a_trace_that_returns_nothing_has_no_rate() -> None:
    work = airline()
    denied = [call for call in work.data["calls"] if call["class"] == "deny"]
    found = rate(Reference(), replace(work, data={**work.data, "calls": denied}))
    assert (len(denied) > 0, found.reason) == (True, "no-denominator")


def test_the_rate_of_authored_traces() -> None:
    assert rate(Reference(), library()) == Tally(0, 4, source="replay")
    assert rate(Reference(), airline()) == Tally(1, 3, reasons={"canonical-gate/TRUST_VIOLATION": 1}, source="replay")


def test_the_rate_of_the_recorded_traces(cases: Path) -> None:
    found = rate(Reference(), workload(cases / "replay" / "turntax-airline.json"))
    assert (found.numerator, found.denominator) == (1, 6)
    assert found.reasons == {"canonical-gate/TRUST_VIOLATION": 1}
    found = rate(Reference(), workload(cases / "replay" / "tau2-smoke.json"))
    assert (found.numerator, found.denominator, found.reasons) == (0, 6, {})


class Books(Gates):
    """A chain whose books are told otherwise once a kernel is mounted on it."""

    def __init__(self, **told: Any) -> None:
        super().__init__()
        self.told = told
        self.mounted = False

    def mount(self, world: str) -> Any:
        self.mounted = True
        return super().mount(world)

    def tallies(self) -> tuple[GateTally, ...]:
        first, *rest = super().tallies()
        return (replace(first, **self.told) if self.mounted and first.total else first, *rest)


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"total": 1}, "3 results entered the chain and canonical-gate counts 1"),
        ({"quarantined": 2}, "gives reasons for 1"),
        ({"quarantined": 0, "reasons": {}}, "all gates together 0"),
        ({"gate": CANARY + "\n"}, "a name of its own"),
        ({"gate": "bare-gate"}, "a name of its own"),
    ],
)
def test_books_that_do_not_balance_are_found_out(told: dict[str, Any], match: str) -> None:
    with pytest.raises(WorkNotDoneError, match=match) as found:
        rate(Makes(lambda: Books(**told)), airline())
    assert CANARY not in str(found.value)


def test_free_text_is_no_reason() -> None:
    found = rate(Makes(lambda: Books(reasons={CANARY: 1})), airline())
    assert found.reasons == {"canonical-gate/UNNAMED": 1}


def test_gates_that_are_switched_off_have_no_rate() -> None:
    with pytest.raises(WorkNotDoneError, match="a gate says"):
        rate(Makes(lambda: Gates([])), airline())


def test_gates_that_the_kernel_does_not_ask_have_no_rate() -> None:
    class Elsewhere(Gates):
        def mount(self, world: str) -> Any:
            return Gates().mount(world)

    with pytest.raises(WorkNotDoneError, match="3 results entered the chain and canonical-gate counts 0"):
        rate(Makes(Elsewhere), airline())


def test_a_chain_without_a_kernel_has_a_cost_and_no_rate() -> None:
    class Alone:
        def __init__(self) -> None:
            gates = Gates()
            self.admit, self.tallies = gates.admit, gates.tallies

    opened = costing(Makes(Alone), "secret")
    opened.check(opened.batch(2)())
    assert rate(Makes(Alone), airline()).reason == "not-offered"


def test_no_recorded_word_is_told() -> None:
    found = rate(Reference(), canary())
    assert CANARY not in repr(found)


class Waits:
    """A chain, or a kernel, whose methods are coroutine functions; those named in ``now`` are not."""

    def __init__(self, inner: Any, now: tuple[str, ...] = ()) -> None:
        self._inner, self._now = inner, now
        self.engine = getattr(inner, "engine", None)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name in self._now or not callable(method):
            return method

        async def waiting(*args: Any) -> Any:
            await asyncio.sleep(0)
            found = method(*args)
            return Waits(found) if name == "mount" else found

        return waiting


def test_an_asynchronous_runtime() -> None:
    loop = Loop()
    opening = costing(Makes(lambda: Waits(Gates(), ("tallies",))), "secret", 1024)
    assert inspect.iscoroutine(opening)
    time_batch(loop.run(opening), 9, loop)
    found = loop.run(rate(Makes(lambda: Waits(Gates())), airline()))
    assert (found.numerator, found.denominator) == (1, 3)
    loop.close()
