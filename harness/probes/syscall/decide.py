"""Probe of ``syscall/decide``: the decisions over a trace, stamped one by one, or as a batch.

The slice decides and nothing else: it submits nothing and counts nothing, and it reads no clock. Each call is decided
as if it came first: no result comes back, so no trace is tainted, and what a replay would refuse for what came before
is not refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from harness.measure.clock import CallSlice, Engine, Slice, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish
from harness.probes._spread import spread
from harness.probes.syscall._decided import decided
from harness.probes.syscall._trace import calls_of, each, fresh, offered, unusable
from harness.probes.syscall._words import verdict_told
from seams.contract.syscall import ToolCall, Verdict

__all__ = ["Decisions", "Probe"]


class Decisions:
    """Decisions spread over the calls of a trace, each on a fresh object made outside the clock."""

    engine: Engine = "none"

    def __init__(self, decide: Callable[[ToolCall], Any], calls: list[ToolCall], expected: list[Verdict]) -> None:
        self._decide = decide
        self._calls = calls
        self._expected = expected
        self._wanted: Verdict | None = None

    def _round(self, n: int) -> list[ToolCall]:
        order = spread(len(self._calls), n)
        self._wanted = self._expected[order[-1]]
        return [fresh(self._calls[at]) for at in order]

    def calls(self, n: int) -> Iterator[Callable[[], object]]:
        """``n`` single decisions, in the order of the trace."""
        return (partial(self._decide, call) for call in self._round(n))

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` decisions in one go."""
        return each([(self._decide, self._round(loops))])

    def check(self, result: object) -> None:
        """The last decision must be the verdict that its call got before the clock ran."""
        wanted = self._wanted
        told = (getattr(result, "kind", None), getattr(result, "reason", None))
        if wanted is None or told != (wanted.kind, wanted.reason):
            raise WorkNotDoneError(
                f"the last decision was {verdict_told(result)} where {verdict_told(wanted)} was expected"
            )


class Probe:
    """Opens the decisions of the workload's world."""

    kpis: ClassVar[frozenset[str]] = frozenset({"tool_call_p50_ns", "local_serve_ns"})

    def open(
        self,
        kpi: str,  # noqa: ARG002 - both are the same slice; the harness stamps the one and batches the other
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],  # noqa: ARG002
    ) -> Slice | CallSlice | Undefined:
        """The slice, or why there is none.

        Raises:
            WorkNotDoneError: a decision is no verdict, or contradicts what is known of its call.
        """
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        found = offered(runtime, "syscall/decide", "none", workload.data["world"])
        if isinstance(found, Undefined):
            return found
        opened: Decisions = finish(_open(found, workload), waits=awaits(found, "decide"))
        return opened


async def _open(found: Any, workload: Workload) -> Decisions:
    expected = await decided(found.decide, workload)
    return Decisions(found.decide, calls_of(workload), expected)
