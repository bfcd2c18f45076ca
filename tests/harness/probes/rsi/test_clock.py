"""The probe of the clock: cycles and catches that are driven, and the loops that do no work."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.rsi._scratch import value_of
from harness.probes.rsi.clock import Probe
from kpis.formulas.rsi.lru import ENTRIES
from kpis.registry import load
from seams.contract.rsi_loop import Row
from seams.rsi.clock import ReferenceClock
from seams.rsi.loop import ReferenceLoop
from seams.runtimes.reference import make
from tests.harness.probes.rsi.runtimes import Cheating, drive, opened

KPIS = ("rsi_cycle_ns", "regression_catch_latency")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == [], "something was left behind"


@pytest.mark.parametrize("kpi", KPIS)
def test_batches_of_any_size_are_checked(kpi: str) -> None:
    probe = Probe()
    piece = opened(probe, kpi, make())
    assert piece.engine == "none"
    for loops in (1, 2, 1):
        drive(piece, loops)
    piece.batch(1)  # one that is never run leaves nothing either
    probe.close()


@pytest.mark.parametrize("kpi", KPIS)
def test_a_coroutine_function_is_awaited(kpi: str) -> None:
    class Session:
        def __init__(self, session) -> None:
            self._session = session
            self.close = session.close

        async def cycle(self, candidate):
            return self._session.cycle(candidate)

    class Loop:
        def open(self, charge, observer=None):
            return Session(ReferenceLoop().open(charge, observer))

        async def track(self, charge):
            return ReferenceLoop().track(charge)

    probe = Probe()
    drive(opened(probe, kpi, Cheating(loop=Loop())), 2)
    probe.close()


@pytest.mark.parametrize("kpi", KPIS)
@pytest.mark.parametrize("missing", ["loop", "clock"])
def test_without_a_loop_or_a_clock_it_is_undefined(kpi: str, missing: str) -> None:
    assert isinstance(opened(Probe(), kpi, Cheating(**{missing: None})), Undefined)


def test_what_times_never_gates() -> None:
    assert {load().get(kpi).gate.value for kpi in KPIS} == {"report"}


class Replaying(ReferenceLoop):
    """Tries the first candidate and says the same of all others."""

    def open(self, charge, observer=None):
        session = super().open(charge, observer)
        first: list = []
        cycle = session.cycle

        def again(candidate):
            if not first:
                first.append(cycle(candidate))
            return first[0]

        session.cycle = again
        return session


class Remembering(ReferenceLoop):
    """Tracks once."""

    def __init__(self) -> None:
        super().__init__()
        self._found = None

    def track(self, charge):
        self._found = self._found or super().track(charge)
        return self._found


class Unstamped(ReferenceLoop):
    def open(self, charge, observer=None):
        return super().open(charge, None)


class Blind(ReferenceClock):
    def laps(self, journal):
        return ()


class Idle(ReferenceLoop):
    def open(self, charge, observer=None):
        session = super().open(charge, observer)
        session.cycle = lambda candidate: None
        return session


class CopiesItsRow(ReferenceLoop):
    """Tries the first candidate; of the others it stamps and writes a copy of that row under their names."""

    def open(self, charge, observer=None):
        session = super().open(charge, observer)
        first: list[Row] = []
        cycle = session.cycle

        def again(candidate):
            if not first:
                first.append(cycle(candidate))
                return first[0]
            number = first[-1].cycle + 1
            observer.proposed(number)
            first.append(replace(first[0], cycle=number, candidate=candidate.name, breaker_nonkeeps=number))
            with charge.journal.open("a") as file:
                file.write(json.dumps(asdict(first[-1])) + "\n")
            observer.decided(number)
            return first[-1]

        session.cycle = again
        return session


class CountsOn(ReferenceLoop):
    """Tracks three times, and goes on from there as if each commit had one slot more than the one before."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list = []

    def track(self, charge):
        if len(self._found) < 3:
            self._found.append(super().track(charge))
            return self._found[-1]
        value = value_of(ENTRIES + len(self._found))
        tip = (charge.repository / ".git" / "refs" / "heads" / "main").read_text().strip()
        row = replace(self._found[-1].row, baseline_ref=tip, tip=tip, candidate_metric=value)
        self._found.append(self._found[-1]._replace(row=row))
        return self._found[-1]


class LaterTracked:
    def __init__(self, find) -> None:
        self._find = find

    def __getattr__(self, name):
        return getattr(self._find(), name)


class PutsOff(ReferenceLoop):
    """Tracks when what it found is looked at."""

    begun = False

    def track(self, charge):
        if not self.begun:
            self.begun = True
            return super().track(charge)
        return LaterTracked(lambda: ReferenceLoop.track(self, charge))


@pytest.mark.parametrize(
    ("kpi", "runtime"),
    [
        ("rsi_cycle_ns", {"loop": CopiesItsRow()}),
        ("regression_catch_latency", {"loop": CountsOn()}),
        ("regression_catch_latency", {"loop": PutsOff()}),
        ("rsi_cycle_ns", {"loop": Replaying()}),
        ("rsi_cycle_ns", {"loop": Unstamped()}),
        ("rsi_cycle_ns", {"loop": Idle()}),
        ("rsi_cycle_ns", {"clock": Blind()}),
        ("regression_catch_latency", {"loop": Remembering()}),
    ],
)
def test_work_that_was_not_done_is_found_out(kpi: str, runtime) -> None:
    probe = Probe()
    piece = opened(probe, kpi, Cheating(**runtime))
    with pytest.raises(WorkNotDoneError):
        for _ in range(3):
            drive(piece, 2)
    probe.close()


@pytest.mark.parametrize("kpi", KPIS)
def test_without_git_it_is_not_installed(kpi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = opened(Probe(), kpi, make())
    assert isinstance(found, Undefined)
    assert found.reason == "not-installed"
