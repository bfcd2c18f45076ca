"""Probe of ``fleet/share``: turns that a drawn fleet saves in one world, less those that it saves each agent alone.

The number is the median of many trials of one cell. Beside it stands the exact expectation, which knows nothing of any
kernel; a fleet that writes; a fan-out behind a plan; and the controls, in which no two agents read the same, so that
whatever they gained would be an artefact of the replay, or of a session that is served worse when it is alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish
from harness.probes.fleet._epochs import uplift, verify_epochs
from harness.probes.fleet._fleets import FANS, FLEETS, Profile, drawn, plan_of, seeds_of
from kpis.formulas.fleet.share import Spread, expected_uplift, spread_of, tolerance

__all__ = ["CONTROLS", "FAN", "FLEET", "WRITERS", "Cell", "Probe", "Trials", "trials"]


class Cell(NamedTuple):
    """So many agents of so many turns each, in so many trials from one seed; a profile of a fan-out brings a plan."""

    name: str
    profile: Profile
    turns: int
    agents: int
    trials: int
    seed: int = 1


FLEET = Cell("read-fleet", FLEETS["read-fleet"], 10, 10, 32)
WRITERS = Cell("write-heavy", FLEETS["write-heavy"], 10, 10, 8)
FAN = Cell("research", FANS["research"], 4, 16, 8)
CONTROLS = (Cell("no-share", FLEETS["no-share"], 10, 4, 8), Cell("apart", FLEETS["apart"], 10, 4, 8))


class Trials(NamedTuple):
    """What the trials of a cell came to: saved in one world, saved alone, and the difference."""

    shared: Spread
    alone: Spread
    cross: Spread


async def trials(seam: Any, cell: Cell) -> Trials:
    """Replay every trial of ``cell`` both ways.

    Raises:
        WorkNotDoneError: a replay was found out.
    """
    # Cells of other sizes are other draws: sizes are part of the seed.
    seed = cell.seed ^ (cell.turns << 32) ^ (cell.agents << 16)
    pairs = [
        await uplift(seam, drawn(cell.profile, cell.turns, cell.agents, each), plan_of(cell.profile, each))
        for each in seeds_of(seed, cell.trials)
    ]
    return Trials(
        spread_of([shared for shared, _ in pairs]),
        spread_of([alone for _, alone in pairs]),
        spread_of([shared - alone for shared, alone in pairs]),
    )


class Probe:
    """Opens the uplift."""

    kpis: ClassVar[frozenset[str]] = frozenset({"cross_uplift"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous runtime, the coroutine that returns it.

        Raises:
            WorkNotDoneError: a replay was found out, or the control gained something.
        """
        seam = runtime.offer("fleet/share", "mock")
        if seam is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no world that sessions share.")
        return finish(_opened(seam), waits=awaits(seam, "replay"))


async def _opened(seam: Any) -> Tally:
    await verify_epochs(seam)
    controls = [(cell, await trials(seam, cell)) for cell in CONTROLS]
    for cell, found in controls:
        if (found.cross.least, found.cross.greatest) != (0, 0):
            raise WorkNotDoneError(
                f"{cell.name}: agents that read nothing in common gained {found.cross.least} to {found.cross.greatest} "
                "turns by sharing a world"
            )
    fleet, writers, fan = [await trials(seam, cell) for cell in (FLEET, WRITERS, FAN)]
    evidence = (
        _told(FLEET, fleet),
        _expected(FLEET, fleet.cross),
        _told(WRITERS, writers),
        f"a plan of {FAN.profile.plan} reads before them: {_told(FAN, fan)}",
        _expected(FAN, fan.cross),
        *(f"{_told(cell, found)}: exactly zero in every trial, or nothing is reported" for cell, found in controls),
    )
    return Tally(fleet.cross.p50, basis="formula", source="synthetic", evidence=evidence)


def _told(cell: Cell, found: Trials) -> str:
    cross = found.cross
    return (
        f"{cell.name}, {cell.agents} agents of {cell.turns} turns, {cell.trials} trials of seed {cell.seed}: saved in "
        f"one world {found.shared.p50}, alone {found.alone.p50} (medians); difference {cross.least} to "
        f"{cross.greatest}, p10 {cross.p10}, median {cross.p50}, p90 {cross.p90}, mean {cross.mean:.2f}"
    )


def _expected(cell: Cell, cross: Spread) -> str:
    profile = cell.profile
    wanted = expected_uplift(profile.shared, profile.pool, cell.turns, cell.agents, profile.plan)
    within = tolerance(cross.deviation, cell.trials)
    lies = "lies within it" if abs(cross.p50 - wanted) <= within else "lies outside it"
    return f"the exact expectation is {wanted:.2f}, give or take {within:.2f} for a median of {cell.trials}: it {lies}"
