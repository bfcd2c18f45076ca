"""Drives the planner: the time of one selection, and the number of spans that a session makes it score.

Scoring is set-up where selection is timed (:mod:`harness.probes.turn._selection`), and is counted where it is asked
about (:mod:`harness.probes.turn._scorings`), so that neither hides in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Undefined, Workload
from harness.probes._awaiting import finish
from harness.probes.turn._replay import session_of
from harness.probes.turn._scorings import counted
from harness.probes.turn._selection import timed
from seams.contract.turn import Planner

__all__ = ["Probe"]


class Probe:
    """Opens the KPIs of ``turn/planner``."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"planner_optimize_ns", "candidate_scorings", "candidate_scorings_per_turn"}
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:
        """A Slice, a Tally or Undefined; of an asynchronous planner, the coroutine that returns it."""
        planner: Planner | None = runtime.offer("turn/planner", "none")
        if planner is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no planner.")
        if kpi == "planner_optimize_ns":
            return finish(timed(planner, workload, params), planner.candidates, planner.optimize)
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        whole = kpi == "candidate_scorings"
        return finish(counted(planner, session, bounded=params["arm"] == "bounded", whole=whole), planner.candidates)
