"""Drives the breaker: how often a run of changes that were not kept is long enough to call a person.

Several runs over the reference metric go through a fresh breaker each, and end at its first trip, as a loop does. Every
ruling is held against the rule of the formulas. The number counts trips at the default threshold; how long each run of
changes that were not kept was is in the histogram, those included that ended with a keep or with the candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from kpis.formulas.rsi.keep import gain, keep, rulings, run_lengths
from kpis.formulas.rsi.lru import hits, objective, reference_trace
from seams.contract.rsi_breaker import Breakers, Profile, Ruling, Signals

__all__ = ["DEFAULT", "RUNS", "THRESHOLDS", "Probe", "signals_of"]

DEFAULT = 3
THRESHOLDS = (1, 2, 3, 0)
"""Those at which each run is driven; 0 is to mean the default."""

RUNS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (4, (6, 8, 10, 12)),  # uphill: each is kept
    (4, (3, 2, 6, 5, 8)),  # two in vain, a keep, one in vain, a keep
    (12, (14, 16, 24, 10)),  # at the top: three in vain, and the breaker trips
    (8, (8, 8, 12, 12, 11, 13)),  # equal is no gain
    (24, (2, 26, 30, 12)),  # trips before the one that would have been kept
)
"""The size to begin with, and the sizes that are proposed in turn."""

_TRACE = reference_trace()


class Probe:
    """Opens the KPI of ``rsi/breaker``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"escalate_after_k"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous breaker, the coroutine that returns it."""
        breakers: Breakers | None = runtime.offer("rsi/breaker", "none")
        if breakers is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no breaker.")
        return finish(_counted(breakers), breakers.breaker().record)


def _value(size: int) -> float:
    return objective(hits(_TRACE, size), len(_TRACE), size)


def signals_of(start: int, sizes: Sequence[int]) -> list[Signals]:
    """What a loop would hand its breaker: the bar is that of what was kept last."""
    bar, found = _value(start), []
    for size in sizes:
        value = _value(size)
        found.append(Signals(bar, value, suite_green=True, truth_clean=True))
        if gain(bar, value, lower_better=False):
            bar = value
    return found


async def _counted(breakers: Breakers) -> Tally:
    await _require_rule(breakers)
    lengths: Counter[int] = Counter()
    trips = changes = 0
    for start, sizes in RUNS:
        given = signals_of(start, sizes)
        keeps = [gain(each.before, each.after, each.lower_better) for each in given]
        for k in THRESHOLDS:
            seen = await _driven(breakers, given, keeps, k)
            if k == DEFAULT:
                trips += seen[-1].decision.value == "ESCALATE"
                changes += len(seen)
                lengths.update(run_lengths(each.decision.value == "KEEP" for each in seen))
    return Tally(
        trips,
        reasons={f"length {length}": count for length, count in sorted(lengths.items())},
        source="synthetic",
        evidence=(
            f"{trips} trips in {len(RUNS)} runs of {changes} changes at k = {DEFAULT}; runs of changes not kept: "
            + ", ".join(f"{count} of length {length}" for length, count in sorted(lengths.items())),
            f"each run was driven at k = {', '.join(map(str, THRESHOLDS))} as well, where 0 has to mean {DEFAULT}",
        ),
    )


async def _driven(breakers: Breakers, given: Sequence[Signals], keeps: Sequence[bool], k: int) -> list[Ruling]:
    """What a fresh breaker says of a run, up to its first trip; then one more, for a trip does not set it back."""
    breaker, due = breakers.breaker(k), rulings(keeps, k)
    seen: list[Ruling] = []
    for signals, want in zip(given, due, strict=True):
        ruling: Ruling = await settled(breaker.record(signals))
        if (ruling.decision.value, ruling.nonkeeps) != want:
            raise WorkNotDoneError(f"at k = {k} the breaker says {ruling} of {signals}, where {want} is due")
        seen.append(ruling)
        if want[0] == "ESCALATE":
            again: Ruling = await settled(breaker.record(signals))
            if (again.decision.value, again.nonkeeps) != ("ESCALATE", want[1] + 1):
                raise WorkNotDoneError(f"the breaker was set back by its own trip: it says {again} of the next one")
            break
    return seen


async def _require_rule(breakers: Breakers) -> None:
    """Each profile with every combination of signals, through a breaker of its own."""
    for profile in Profile:
        for bits in range(16):
            gained, green, clean, lower = (bool(bits >> place & 1) for place in range(4))
            after = 2.0 if gained != lower else 0.5
            signals = Signals(1.0, after, green, clean, lower, profile)
            ruling: Ruling = await settled(breakers.breaker().record(signals))
            if (ruling.decision.value == "KEEP") != keep(profile.value, gained, green, clean):
                raise WorkNotDoneError(f"the breaker says {ruling} of {signals}")
