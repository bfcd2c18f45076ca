"""The probe of the gate before a launch: what it counts, and the gates that it finds out."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.fleet._errands import Errands, answers
from harness.probes.fleet._situations import SITUATIONS
from harness.probes.fleet.preflight import Probe
from kpis.formulas.fleet.preflight import VERDICTS
from seams.contract.fleet_preflight import Checks, Host, Loop, Seats, SpawnVerdict
from seams.fleet.preflight import DispatchGate
from seams.runtimes.reference import make


class Offering:
    name, version = "other", "1"

    def __init__(self, gate: object) -> None:
        self._gate = gate

    def offer(self, seam: str, engine: str) -> Any:
        return self._gate


def opened(kpi: str, runtime: Any, **params: str) -> Any:
    probe = Probe()
    try:
        return probe.open(kpi, runtime, None, params)
    finally:
        probe.close()


def measured(gate: object, verdict: str = "SPAWN_OK", loops: int = 2) -> list[Any]:
    probe = Probe()
    try:
        sliced = probe.open("dispatch_preflight_ns", Offering(gate), None, {"verdict": verdict})
        result = sliced.batch(loops)()
        sliced.check(result)
        return result
    finally:
        probe.close()


def test_the_rate_over_the_authored_situations() -> None:
    tally = opened("spawn_admission_rate", make())
    assert (tally.numerator, tally.denominator) == (12, len(SITUATIONS))
    assert tally.reasons == {
        "SPAWN_OK": 12,
        "REFUSE_INSPECT": 5,
        "REFUSE_HOST": 2,
        "REFUSE_NO_SEAT": 1,
        "REFUSE_AT_CAP": 11,
        "REFUSE_NO_ACCOUNT": 2,
    }
    for limiter in ("leases", "configured", "target", "cpu", "memory", "threads", "seats", "unknown"):
        assert f"{limiter}: " in tally.evidence[1]
    assert tally.clocked[0].startswith("this machine now: ")
    assert opened("spawn_admission_rate", make()).evidence == tally.evidence


def test_every_verdict_is_due_in_some_situation() -> None:
    assert {each.due for each in SITUATIONS} == set(VERDICTS)
    assert len({each.name for each in SITUATIONS}) == len(SITUATIONS)


def test_a_runtime_without_a_gate() -> None:
    assert opened("spawn_admission_rate", Offering(None)) == Undefined(
        "not-offered", "The runtime other offers no gate before a launch."
    )


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_verdict_is_reached_on_this_machine(verdict: str) -> None:
    assert [each.verdict.value for each in measured(DispatchGate(), verdict)] == [verdict] * 2


def test_what_is_asked_differs_from_question_to_question(tmp_path) -> None:
    assert answers("SPAWN_OK", 1) != answers("SPAWN_OK", 2)
    errands = Errands(tmp_path, "sh")
    assert errands.asks("SPAWN_OK", 1) != errands.asks("SPAWN_OK", 2)
    errands.close()


def test_processes_are_shown_until_their_lot_ends_and_scripts_go_with_it(tmp_path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    errands = Errands(folder, "sh")
    errands.lot()
    errands.show(2)
    pids = errands.pids
    assert all(errands.marker in Path(f"/proc/{pid}/cmdline").read_text() for pid in pids)
    asked = errands.asks("SPAWN_OK", 1)
    assert errands.traces() == []
    said = subprocess.run(asked.account, check=True, capture_output=True).stdout
    assert json.loads(said) == "account-1"
    assert errands.traces() == ["account-1"]
    errands.close()
    errands.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert list(folder.iterdir()) == []


class Asynchronous(DispatchGate):
    async def evaluate(self, checks: Checks) -> Any:
        await asyncio.sleep(0)
        return super().evaluate(checks)


def test_an_asynchronous_gate_is_measured_on_its_loop() -> None:
    async def run() -> None:
        probe = Probe()
        sliced = await probe.open("dispatch_preflight_ns", Offering(Asynchronous()), None, {"verdict": "SPAWN_OK"})
        sliced.check(await sliced.batch(2)())
        probe.close()
        tally = await probe.open("spawn_admission_rate", Offering(Asynchronous()), None, {})
        probe.close()
        assert tally.numerator == 12

    asyncio.run(run())


def test_nothing_is_left_behind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened("spawn_admission_rate", make())
    measured(DispatchGate())
    assert list(tmp_path.iterdir()) == []


class Altered(DispatchGate):
    """Decides through ``alter``, which gets the honest decision."""

    def __init__(self, alter) -> None:
        super().__init__()
        self._alter = alter

    def evaluate(self, checks: Checks) -> Any:
        return self._alter(super().evaluate(checks))


def admits_everybody(decision):
    return decision._replace(verdict=SpawnVerdict.SPAWN_OK)


def refuses_everybody(decision):
    return decision._replace(verdict=SpawnVerdict.REFUSE_AT_CAP)


def silent_about_seats(decision):
    return decision._replace(notes=())


class FailsOpen(DispatchGate):
    """Takes what it cannot see for room."""

    def evaluate(self, checks: Checks) -> Any:
        def calm(name, check, instead):
            def ask():
                try:
                    return check()
                except TimeoutError:
                    return instead

            return ask

        calmed = (None, "a", Loop(0, 0), None, Host(8, 9_000, 9), 0, 8)
        return super().evaluate(
            Checks(
                *(calm(name, check, each) for (name, check), each in zip(checks._asdict().items(), calmed, strict=True))
            )
        )


class Lazy(DispatchGate):
    """Does not ask for the seats."""

    def evaluate(self, checks: Checks) -> Any:
        return super().evaluate(checks._replace(seats=lambda: None))


class Unlogged(DispatchGate):
    def log_to(self, path: str) -> None:
        pass


class LogsTwice(DispatchGate):
    def evaluate(self, checks: Checks) -> Any:
        super().evaluate(checks)
        return super().evaluate(checks)


@pytest.mark.parametrize(
    "gate",
    [
        lambda: Altered(admits_everybody),
        lambda: Altered(refuses_everybody),
        lambda: Altered(silent_about_seats),
        FailsOpen,
        Lazy,
        Unlogged,
        LogsTwice,
    ],
)
def test_a_gate_that_does_not_do_its_work_has_no_rate(gate) -> None:
    with pytest.raises(WorkNotDoneError):
        opened("spawn_admission_rate", Offering(gate()))


class Remembers(DispatchGate):
    """Looks at the machine once."""

    def __init__(self) -> None:
        super().__init__()
        self._last: Any = None

    def evaluate(self, checks: Checks) -> Any:
        if self._last is None:
            self._last = super().evaluate(checks)
        return self._last


def forgets_the_host(decision):
    return decision._replace(seen=decision.seen._replace(host=None))


def makes_seats_up(decision):
    return decision._replace(seen=decision.seen._replace(seats=Seats(1, 1, 0, False)))


class Walks(DispatchGate):
    """Does not walk the processes, and calls one unsafe that it made up."""

    def evaluate(self, checks: Checks) -> Any:
        return super().evaluate(checks._replace(flagged=lambda: [(999_999_999, "made up", False, False)]))


class WalksOnce(DispatchGate):
    """Looks at the machine when it is first asked, and starts the commands each time."""

    def __init__(self) -> None:
        super().__init__()
        self._walked: dict[str, Any] = {}

    def evaluate(self, checks: Checks) -> Any:
        def once(name):
            def ask():
                if name not in self._walked:
                    self._walked[name] = getattr(checks, name)()
                return self._walked[name]

            return ask

        return super().evaluate(checks._replace(**{name: once(name) for name in ("flagged", "host", "workers")}))


class LooksBeforehand(DispatchGate):
    """Has looked at the machine before a check is called."""

    def on_this_machine(self, asks):
        checks = super().on_this_machine(asks)
        found = {name: getattr(checks, name)() for name in ("flagged", "host", "workers")}
        return checks._replace(**{name: lambda said=said: said for name, said in found.items()})


class StartsNoCommand(DispatchGate):
    """Reads what the commands would print."""

    def on_this_machine(self, asks):
        def read(command):
            return json.loads(Path(command[1]).read_text().split("echo '")[1].rstrip("'\n"))

        def fields(made, command):
            said = read(command)
            return made(*(said[name] for name in made._fields))

        return (
            super()
            .on_this_machine(asks)
            ._replace(
                account=lambda: read(asks.account),
                loop=lambda: fields(Loop, asks.loop),
                seats=lambda: fields(Seats, asks.seats),
            )
        )


class DecidesLater:
    def __init__(self, decide) -> None:
        self._decide = decide

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decide(), name)


class PutsOff(DispatchGate):
    """Asks and decides when the decision is looked at."""

    def evaluate(self, checks: Checks) -> Any:
        return DecidesLater(lambda: DispatchGate.evaluate(self, checks))


def test_a_gate_that_reads_its_answers_and_starts_nothing_would_pass_by_its_decisions(tmp_path) -> None:
    errands = Errands(tmp_path, "sh")
    gate = StartsNoCommand()
    assert gate.evaluate(gate.on_this_machine(errands.asks("SPAWN_OK", 1))).seen.account == "account-1"
    errands.close()


@pytest.mark.parametrize(
    ("gate", "verdict"),
    [
        (WalksOnce, "REFUSE_HOST"),
        (WalksOnce, "REFUSE_AT_CAP"),
        (LooksBeforehand, "REFUSE_NO_SEAT"),
        (StartsNoCommand, "SPAWN_OK"),
        (PutsOff, "SPAWN_OK"),
        (Remembers, "SPAWN_OK"),
        (Lazy, "SPAWN_OK"),
        (Unlogged, "SPAWN_OK"),
        (LogsTwice, "SPAWN_OK"),
        (lambda: Altered(refuses_everybody), "SPAWN_OK"),
        (lambda: Altered(admits_everybody), "REFUSE_NO_ACCOUNT"),
        (lambda: Altered(forgets_the_host), "SPAWN_OK"),
        (lambda: Altered(makes_seats_up), "SPAWN_OK"),
        (Walks, "REFUSE_HOST"),
    ],
)
def test_a_gate_that_does_not_do_its_work_is_not_timed(gate, verdict: str) -> None:
    with pytest.raises(WorkNotDoneError):
        measured(gate(), verdict)
