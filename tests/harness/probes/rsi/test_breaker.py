"""The probe of the breaker: its number, and the breakers that it finds out."""

from __future__ import annotations

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.rsi.breaker import DEFAULT, RUNS, Probe, signals_of
from seams.contract.rsi_breaker import Decision, Ruling
from seams.rsi.breaker import CountingBreaker, evaluate
from seams.runtimes.reference import make
from tests.harness.probes.rsi.runtimes import Asynchronous, Cheating, opened

KPI = "escalate_after_k"


def test_the_trips_and_how_long_each_run_was() -> None:
    tally = opened(Probe(), KPI, make())
    assert (tally.numerator, tally.denominator) == (3, None)
    # Up to the first trip of each run: 4 + 5 + 3 + 6 + 3 changes.
    assert dict(tally.reasons) == {"length 2": 2, "length 3": 3}
    assert "3 trips in 5 runs of 21 changes" in tally.evidence[0]
    assert tally == opened(Probe(), KPI, Asynchronous())


def test_the_runs_reach_every_length_up_to_the_threshold() -> None:
    assert DEFAULT == 3
    assert signals_of(4, (6, 8))[1].before == signals_of(4, (6, 8))[0].after
    assert signals_of(12, (14, 16))[1].before == signals_of(12, (14, 16))[0].before
    assert len(RUNS) == 5


def test_without_a_breaker_it_is_undefined() -> None:
    assert isinstance(opened(Probe(), KPI, Cheating(breaker=None)), Undefined)


class Never(CountingBreaker):
    def record(self, signals):
        found = super().record(signals)
        return found if found.decision is Decision.KEEP else Ruling(Decision.REVERT, found.nonkeeps)


class Resets(CountingBreaker):
    def record(self, signals):
        found = super().record(signals)
        if found.decision is Decision.ESCALATE:
            self.nonkeeps = 0
        return found


class Generous(CountingBreaker):
    """Takes what stayed as it was for a gain."""

    def record(self, signals):
        equal = signals.after == signals.before
        return Ruling(Decision.KEEP, 0) if equal else super().record(signals)


class Forgets(CountingBreaker):
    """Does not need the suite."""

    def record(self, signals):
        clean = signals.truth_clean and not signals.suite_green and signals.after != signals.before
        return Ruling(Decision.KEEP, 0) if clean else super().record(signals)


class Early(CountingBreaker):
    def __init__(self, k):
        super().__init__(k)
        self.k -= self.k > 1


class Literal(CountingBreaker):
    """Takes 0 for a threshold."""

    def __init__(self, k):
        super().__init__(k)
        self.k = k


class Constant(CountingBreaker):
    def record(self, signals):
        return Ruling(Decision.KEEP, 0)


class Shared(CountingBreaker):
    """Counts across runs."""

    total = 0

    def record(self, signals):
        kept = evaluate(signals) is Decision.KEEP
        Shared.total = 0 if kept else Shared.total + 1
        tripped = Shared.total >= self.k
        return Ruling(Decision.KEEP if kept else Decision.ESCALATE if tripped else Decision.REVERT, Shared.total)


@pytest.mark.parametrize("kind", [Never, Resets, Generous, Forgets, Early, Literal, Constant, Shared])
def test_another_rule_is_found_out(kind) -> None:
    class Breakers:
        def breaker(self, k=3):
            return kind(k)

    with pytest.raises(WorkNotDoneError, match="the breaker"):
        opened(Probe(), KPI, Cheating(breaker=Breakers()))
