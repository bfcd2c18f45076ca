"""Probe of ``syscall/grammar``: one adjudication of the repair rung, on a call whose arguments came misrouted.

The rung alone, on calls of the probe's own: nothing is submitted, and no store is behind it. Each call is a fresh
object, so that the arguments are decoded in every adjudication, as the first rung of a chain has to; and no two of a
batch carry the same amount, so that no repair can be handed out twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError
from harness.probes.syscall._trace import each, offered
from harness.probes.syscall._words import verdict_told
from seams.contract.syscall import ToolCall
from seams.contract.verdict import VerdictKind

__all__ = ["Probe", "Repairs"]

_TOOL = "convert_currency"
_FORMS: Mapping[str, str] = {
    "alias": '{"from": "USD", "to": "EUR", "amount": %d}',
    "positional": '{"_positional": ["USD", "EUR", %d]}',
}


class Repairs:
    """Adjudications of misrouted calls in one form."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, adjudicate: Callable[[ToolCall], Any], form: str) -> None:
        self._adjudicate = adjudicate
        self._form = _FORMS[form]
        self._loops = 0

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` repairs, the amounts counting up from 1."""
        self._loops = loops
        calls = [ToolCall(_TOOL, (self._form % amount).encode()) for amount in range(1, loops + 1)]
        return each([(self._adjudicate, calls)])

    def check(self, result: object) -> None:
        """The last verdict must be a TRANSFORM into the proper names, with the amount of the last call."""
        wanted = {"amount": self._loops, "from_currency": "USD", "to_currency": "EUR"}
        if getattr(result, "kind", None) != VerdictKind.TRANSFORM:
            raise WorkNotDoneError(f"the last adjudication is {verdict_told(result)}, which repairs nothing")
        new = getattr(result, "new_args", None)
        try:
            repaired = json.loads(new) if isinstance(new, bytes) else None
        except ValueError:
            repaired = None
        if repaired != wanted:
            size = f"{len(new)} bytes" if isinstance(new, bytes) else f"a {type(new).__name__}"
            raise WorkNotDoneError(f"the last repair put {size} in place that are not the arguments by their names")


class Probe:
    """Opens the repairs of one form."""

    kpis: ClassVar[frozenset[str]] = frozenset({"transform_repair_ns"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,  # noqa: ARG002
        params: Mapping[str, str],
    ) -> Slice | Undefined:
        """The slice, or why there is none."""
        rung = offered(runtime, "syscall/grammar", "none", "airline")
        return rung if isinstance(rung, Undefined) else Repairs(rung.adjudicate, params["form"])
