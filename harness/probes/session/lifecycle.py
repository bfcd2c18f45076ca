"""Drives live sessions from open to close: what one holds, whether it keeps more each turn, and what it leaves behind.

Bytes are those of Python's allocator after a collection (:mod:`harness.probes.session._weighing`); the resident set of
the process stands beside them as a trend, which no number is made of. What is left over is counted by asking the system
and the interpreter (:mod:`harness.probes.session._endings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Undefined, Workload, is_async
from harness.probes._awaiting import finish
from harness.probes.session._endings import left
from harness.probes.session._left import readable
from harness.probes.session._weighing import sloped, weighed
from seams.contract.lifecycle import Lifecycle

__all__ = ["Probe"]


class Probe:
    """Opens the KPIs of ``session/lifecycle``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"session_resident_bytes", "turn_retained_bytes", "session_leftovers"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        lifecycle: Lifecycle | None = runtime.offer("session/lifecycle", "none")
        if lifecycle is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no live session.")
        if kpi == "session_leftovers" and not readable():
            return Undefined("not-installed", "This system has no /proc, which shows descriptors, threads, children.")
        work = {"session_resident_bytes": weighed, "turn_retained_bytes": sloped, "session_leftovers": left}[kpi]
        return finish(work(lifecycle, is_async(lifecycle.open)), lifecycle.open)
