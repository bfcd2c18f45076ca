"""The probe of the clock: cycles and catches that are driven, and the loops that do no work."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.rsi.clock import Probe
from kpis.registry import load
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


@pytest.mark.parametrize(
    ("kpi", "runtime"),
    [
        ("rsi_cycle_ns", {"loop": Replaying()}),
        ("rsi_cycle_ns", {"loop": Unstamped()}),
        ("rsi_cycle_ns", {"loop": Idle()}),
        ("rsi_cycle_ns", {"clock": Blind()}),
        ("regression_catch_latency", {"loop": Remembering()}),
    ],
)
def test_work_that_was_not_done_is_found_out(kpi: str, runtime) -> None:
    probe = Probe()
    with pytest.raises(WorkNotDoneError):
        drive(opened(probe, kpi, Cheating(**runtime)), 2)
    probe.close()
