"""Probe of ``fleet/counterfactual``: recorded calls under other policies, and how many model calls that took.

Two traces are replayed under three policies: the reference, one that reads otherwise and means the same, and one that
lets nobody book. The control is the reference beside itself, of which every cell has to be exact. The engine is the
probe's, so that what passed and what was kept out is seen there as well; the client is a guard that counts and raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.fleet._guard import Guard, ModelCalledError
from harness.probes.syscall._trace import HINTS
from harness.probes.turn._door import Door
from harness.probes.turn._replay import verified
from harness.probes.turn._worlds import canonical, world_of
from kpis.formulas.fleet.counterfactual import FLOOR, Observed, Report, report
from seams.contract.fleet_counterfactual import Outcome, Settled
from seams.contract.syscall import ToolCall

__all__ = ["POLICIES", "TRACES", "Probe", "observed", "replayed"]

_TOOLS = ("get_user_details", "search_direct_flight", "calculate", "convert_currency", "fetch_policy")
_WRITES = {"readOnlyHint": "false", "idempotentHint": "false", "destructive": "true"}


def _policy(*allow: str) -> str:
    names = ", ".join(f'"{name}"' for name in allow)
    return f'allow = [{names}]\n[deny]\ndelete_account = "POLICY_BLOCK"\n'


POLICIES: Mapping[str, str | None] = {
    "reference": None,
    "equivalent": _policy("book_flight", *reversed(_TOOLS)),
    "strict-no-book": _policy(*_TOOLS),
}
"""The world's own, the same in other words, and one under which nobody books."""


def _call(tool: str, args: Mapping[str, Any], meta: Mapping[str, str] = HINTS) -> ToolCall:
    return ToolCall(tool, canonical(args), meta)


_FLOOR = (
    _call("get_user_details", {"user_id": "traveller_1"}),
    _call("delete_account", {"user_id": "traveller_1"}, _WRITES),
    _call("search_direct_flight", {"origin": "SFO", "destination": "ORD", "date": "2031-05-04"}),
    _call("book_flight", {"user_id": "traveller_1", "flight_id": "UA123"}, _WRITES),
    _call("get_user_details", {"user_id": "traveller_13"}),
)
"""Five calls, of which the airline refuses one and keeps the answer of another out."""

TRACES: Mapping[str, Sequence[ToolCall]] = {"floor-1": _FLOOR, "floor-2": _FLOOR}

_RUN = {"reference": 4, "equivalent": 4, "strict-no-book": 3}
"""Calls of a trace that reach the engine under each policy: none that is refused may."""


def observed(settled_: Settled) -> Observed:
    """A replay in plain values, as the formulas have it."""
    floor = {name: getattr(settled_.counters, name) for name in FLOOR}
    return Observed(tuple(each.value for each in settled_.outcomes), tuple(settled_.rewrites), floor)


async def replayed(seam: Any, guard: Guard) -> Report:
    """Every trace under every policy, each in a fresh world, ``guard`` in the model's place.

    Raises:
        WorkNotDoneError: outcomes, counters and what arrived at the engine contradict each other; or a policy made no
            difference where it has to make one, or one where it must not.
    """
    found = {trace: {name: await _settled(seam, guard, trace, name) for name in POLICIES} for trace in TRACES}
    again = {trace: {**arms, "again": await _settled(seam, guard, trace, "reference")} for trace, arms in found.items()}
    exact = report(again, "reference").coverage["again"]
    if exact != (len(TRACES), len(TRACES)):
        raise WorkNotDoneError(f"the reference beside itself is exact in {exact[0]} of {exact[1]} cells")
    told = report(found, "reference")
    wanted = {"equivalent": (2, 2), "strict-no-book": (0, 2)}
    if dict(told.coverage) != wanted:
        raise WorkNotDoneError(f"exact cells by policy are {dict(told.coverage)}, and have to be {wanted}")
    return told


async def _settled(seam: Any, guard: Guard, trace: str, policy: str) -> Observed:
    calls, door = TRACES[trace], Door(world_of("airline"))
    with guard.watch():
        told = await settled(seam.replay(calls, "airline", POLICIES[policy], door, guard))
    verified(_verify, (calls, policy, door), told)
    return observed(told)


def _verify(given: tuple[Sequence[ToolCall], str, Door], came: Settled) -> None:
    calls, policy, door = given
    outcomes, counters = came.outcomes, came.counters
    if not len(calls) == len(outcomes) == len(came.rewrites) == counters.submits:
        raise WorkNotDoneError(f"of {len(calls)} calls {len(outcomes)} were told of and {counters.submits} submitted")
    if len(door.arrivals) != counters.engine_calls or len(door.arrivals) != _RUN[policy]:
        raise WorkNotDoneError(
            f"under {policy} {len(door.arrivals)} calls reached the engine, {counters.engine_calls} by the kernel's "
            f"count, and {_RUN[policy]} have to"
        )
    denied, kept_out = outcomes.count(Outcome.DENIED), outcomes.count(Outcome.QUARANTINED)
    if (denied, kept_out) != (counters.denies + counters.result_denies, counters.quarantines):
        raise WorkNotDoneError(f"under {policy} the outcomes are not what the kernel counted")


class Probe:
    """Opens the count of model calls."""

    kpis: ClassVar[frozenset[str]] = frozenset({"model_calls_spent"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous runtime, the coroutine that returns it.

        Raises:
            WorkNotDoneError: from :func:`replayed`.
        """
        seam = runtime.offer("fleet/counterfactual", "mock")
        if seam is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no replay under other policies.")
        return finish(_counted(seam), waits=awaits(seam, "replay"))


async def _counted(seam: Any) -> Tally:
    """The guard's counter; a replay that let the guard's error pass has a number too, and no report."""
    guard = Guard()
    try:
        evidence = _told(await replayed(seam, guard))
    except ModelCalledError as error:
        evidence = (f"the replay ended there: {error}",)
    spent = guard.calls + guard.dials + guard.starts
    counted = f"calls at the guard {guard.calls}, begun beside it: connections {guard.dials}, processes {guard.starts}"
    return Tally(spent, source="synthetic", evidence=(counted, *evidence))


def _told(found: Report) -> tuple[str, ...]:
    cells = "; ".join(f"{cell.trace} under {cell.policy} {cell.label}" for cell in found.cells)
    floors = "; ".join(
        f"{policy}: " + ", ".join(f"{name} {count}" for name, count in found.floor_of(policy).items())
        for policy in found.coverage
    )
    refusals = {cell.refusal for cell in found.cells if cell.refusal is not None}
    return (
        f"{found.traces} traces, {len(found.coverage)} policies, {len(found.cells)} cells, {found.exact} of them "
        f"exact: {found.exact_fraction:.4g}",
        f"cells: {cells}",
        f"floors: {floors}",
        f"of all policies: {', '.join(f'{name} {count}' for name, count in found.population.items())}",
        f"reportable as a whole: {', '.join(found.reportable)}",
        *sorted(refusals),
    )
