"""Submits whose outcome is fixed by the call: four authored calls of the airline world, one for each outcome.

Every kernel takes a fixed number of handles, so that none piles up and a submit costs the same at any number of loops.
Before the clock runs each kernel has submitted and reaped the call once: it is warm, its trace has seen a result from
outside, and the cache holds the read that ``hit`` asks for again. Nothing is reaped while the clock runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness.measure.clock import Engine, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes._set_up import distinct, now
from harness.probes.syscall._trace import HINTS, each
from harness.probes.syscall._words import result_told, verdict_told
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status, VerdictKind

__all__ = ["HANDLES", "OUTCOMES", "WORLD", "Outcome", "Submits", "require_refusals"]

HANDLES = 64
"""Handles that one kernel holds at most while it is timed."""

WORLD = "airline"

_COUNTED = ("submits", "vdso_hits", "denies", "transforms")


class Outcome(NamedTuple):
    """The call, the kind of its verdict, the counter that it moves besides ``submits``, what its arguments become."""

    tool: str
    args: Mapping[str, Any]
    meta: Mapping[str, str]
    kind: VerdictKind
    counter: str | None
    becomes: Mapping[str, Any]


_READ = {"user_id": "user_1"}
_REPAIRED = {"amount": 25, "from_currency": "USD", "to_currency": "EUR"}

OUTCOMES: Mapping[str, Outcome] = {
    # Without hints, so that the fast path is asked and has to pass.
    "allow": Outcome("get_user_details", _READ, {}, VerdictKind.ALLOW, None, _READ),
    # No rule names it: every rung is asked, down to the monitor's last word.
    "deny": Outcome("audit_trail", _READ, {}, VerdictKind.DENY, "denies", _READ),
    "transform": Outcome(
        "convert_currency",
        {"from": "USD", "to": "EUR", "amount": 25},
        {},
        VerdictKind.TRANSFORM,
        "transforms",
        _REPAIRED,
    ),
    "hit": Outcome("get_user_details", _READ, HINTS, VerdictKind.ALLOW, "vdso_hits", _READ),
}


class Submits:
    """One submit a loop."""

    engine: Engine = "noop"
    source = "synthetic"

    def __init__(self, another: Callable[[], Any], outcome: Outcome) -> None:
        self._another = another
        self._outcome = outcome
        self._args = json.dumps(outcome.args).encode()
        self._kernels: list[Any] = []
        self._before = dict.fromkeys(_COUNTED, 0)
        self._calls: list[ToolCall] = []
        self._loops = 0

    def call(self) -> ToolCall:
        """A fresh one; the object that was submitted is stamped and may be rewritten."""
        return ToolCall(self._outcome.tool, self._args, self._outcome.meta)

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` submits, over as many warm kernels as that takes."""
        kernels = [self._warm() for _ in range(0, loops, HANDLES)]
        self._calls = [self.call() for _ in range(loops)]
        self._loops = loops
        self._kernels = distinct(kernels)
        self._before = self._counters()
        return each(
            [
                (kernel.submit, self._calls[at : at + HANDLES])
                for kernel, at in zip(kernels, range(0, loops, HANDLES), strict=True)
            ]
        )

    def _warm(self) -> Any:
        kernel = self._another()
        handle, _ = now(kernel.submit(self.call()))
        now(kernel.reap(handle))
        return kernel

    def _counters(self) -> dict[str, int]:
        counters = [now(kernel.counters()) for kernel in self._kernels]
        return {name: sum(getattr(each, name) for each in counters) for name in _COUNTED}

    def check(self, result: object) -> None:
        """Every submit must have had its outcome by the kernels' counts, and the last one must be reaped as it says."""
        due = {"submits": self._loops, self._outcome.counter: self._loops}
        after = self._counters()
        for name in _COUNTED:
            moved = after[name] - self._before[name]
            if moved != due.get(name, 0):
                raise WorkNotDoneError(f"{self._loops} submits moved {name} by {moved} and not by {due.get(name, 0)}")
        self._require(result)

    def _require(self, result: object) -> None:
        wanted = self._outcome
        if not isinstance(result, tuple) or len(result) != 2:
            raise WorkNotDoneError(f"the last submit returned a {type(result).__name__}, no handle with a verdict")
        handle, verdict = result
        if getattr(verdict, "kind", None) != wanted.kind:
            raise WorkNotDoneError(f"the last submit is {verdict_told(verdict)}; this call is {wanted.kind.name}")
        if _read(self._calls[-1].args) != wanted.becomes:
            raise WorkNotDoneError("the last call was left with other arguments than its verdict must give it")
        # The last kernel holds the last handle: a ticket that nobody redeems is no submit.
        reaped = now(self._kernels[-1].reap(handle))
        refused = reaped.meta.get("verdict") == "deny"
        served = reaped.meta.get("served_by") == "vdso"
        if refused != (wanted.kind == VerdictKind.DENY) or served != (wanted.counter == "vdso_hits"):
            raise WorkNotDoneError(
                f"the last handle was reaped as {result_told(reaped)}, which is no {wanted.kind.name}"
            )
        if not refused and reaped.status != Status.OK:
            raise WorkNotDoneError(f"the last handle was reaped as {result_told(reaped)}")


async def require_refusals(another: Callable[[], Any]) -> None:
    """One submit that has to be refused, on a kernel of its own: where nothing is judged, every submit is quick.

    Raises:
        WorkNotDoneError: it was not.
    """
    refusal = Submits(another, OUTCOMES["deny"])
    refusal.check(await settled(refusal.batch(1)()))


def _read(args: bytes) -> object:
    try:
        return json.loads(args)
    except ValueError:
        return None
