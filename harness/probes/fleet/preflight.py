"""Probe of ``fleet/preflight``: what a question at the gate costs by its verdict, and how many it lets in.

The time is that of the gate over this machine. The rate is over a list of authored situations, so that it is a count
and comes out alike wherever it is taken; what the gate says of this machine now stands beside it and is in no count. A
gate that does not call a check, lets in where one failed, or keeps another log than its decisions, is found out.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes.fleet._dispatches import ROOM, Dispatches, logged, verify, verify_run
from harness.probes.fleet._errands import Errands
from harness.probes.fleet._situations import ANSWERS, SITUATIONS, Situation
from kpis.formulas.fleet.preflight import admission
from seams.contract.fleet_preflight import Asks, Checks, Decision, Preflight

__all__ = ["Probe"]


class Probe:
    """Opens the KPIs of ``fleet/preflight``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"dispatch_preflight_ns", "spawn_admission_rate"})

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._errands: Errands | None = None

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice, a Tally or Undefined; of an asynchronous gate, the coroutine that returns it."""
        gate: Preflight | None = runtime.offer("fleet/preflight", "none")
        if gate is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no gate before a launch.")
        self._folder = Path(tempfile.mkdtemp(prefix="loopladder-gate-"))
        log = self._folder / "decisions.jsonl"
        gate.log_to(str(log))
        methods = (gate.evaluate, gate.on_this_machine)
        if kpi == "spawn_admission_rate":
            return finish(_counted(gate, log), *methods)
        sh = shutil.which("sh")
        if sh is None:
            return Undefined("not-installed", "There is no program sh to run the commands that are asked.")
        self._errands = Errands(self._folder, sh)
        return finish(_timed(gate, params["verdict"], self._errands, log), *methods)

    def close(self) -> None:
        """End what was started, and remove the log."""
        if self._errands is not None:
            self._errands.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


async def _timed(gate: Preflight, verdict: str, errands: Errands, log: Path) -> Slice:
    errands.lot()
    checks = await settled(gate.on_this_machine(errands.asks(verdict, 0)))
    first: Decision = await settled(gate.evaluate(checks))
    verify_run([0], errands.traces())
    verify(verdict, 0, first)
    return Dispatches(gate, verdict, errands, log, roomy=first.cap is not None and first.cap >= ROOM)


async def _counted(gate: Preflight, log: Path) -> Tally:
    said = [await _decided(gate, each) for each in SITUATIONS]
    rows = logged(log)
    found = admission(rows)
    fallen = Counter(each.verdict.value for each in said)
    if found.unreadable or {name: times for name, times in found.by_verdict.items() if times} != dict(fallen):
        raise WorkNotDoneError(f"{len(SITUATIONS)} decisions were made, and the log has others")
    skipped = sum(1 for each in said if each.seen.seats is None)
    split = "; ".join(
        f"{name}: {', '.join(f'{times} {verdict}' for verdict, times in counts.items())}"
        for name, counts in found.by_limiter.items()
    )
    evidence = (
        f"{found.admitted} of {found.decisions} authored situations were admitted; {len(_OPEN)} hang on capacity",
        f"by what stood in the way, {split}",
        f"in {skipped} there was no view of the seats, which is left out and said; any other check that fails refuses",
    )
    now = await settled(gate.evaluate(await settled(gate.on_this_machine(Asks()))))
    return Tally(
        found.admitted,
        found.decisions,
        reasons=found.by_verdict,
        source="synthetic",
        evidence=evidence,
        clocked=(_told(now),),
    )


_OPEN = [each for each in SITUATIONS if each.open]


async def _decided(gate: Preflight, situation: Situation) -> Decision:
    called: list[str] = []
    came: Decision = await settled(gate.evaluate(situation.checks(called)))
    if sorted(called) != sorted(Checks._fields):
        raise WorkNotDoneError(f"{situation.name}: the gate called the checks {', '.join(called) or 'not at all'}")
    wanted = ANSWERS["open"] if situation.open else (situation.due,)
    if came.verdict.value not in wanted or came.ok != (came.verdict.value == "SPAWN_OK"):
        raise WorkNotDoneError(
            f"{situation.name}: the gate said {came.verdict.value} in place of {' or '.join(wanted)}"
        )
    left_out = situation.seats is None or "seats" in situation.failing
    if left_out and not any("seats" in note for note in came.notes):
        raise WorkNotDoneError(f"{situation.name}: there was no view of the seats, and the gate does not say so")
    return came


def _told(now: Decision) -> str:
    cap, live = ("unknown" if each is None else each for each in (now.cap, now.live))
    by = "nothing known" if now.limiter is None else now.limiter.value
    said = " ".join(now.notes)
    return f"this machine now: {now.verdict.value}, cap {cap}, live {live}, limited by {by}. {said}".rstrip()
