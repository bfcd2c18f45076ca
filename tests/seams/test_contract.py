"""What the reference runtime offers for a seam has every member that the Protocol of the seam names."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from seams.contract.admission import Admission, Gate
from seams.contract.fleet_closure import Closure
from seams.contract.fleet_preflight import Preflight as Launch
from seams.contract.kernel import Decide, FastPath, Hook, Ladder, Preflight, Reap, Repair, Submit, Worlds
from seams.contract.kv import Kv
from seams.contract.paging import Paging
from seams.contract.reap import TurnReap
from seams.contract.store import ContentStore
from seams.contract.syscall import CountingEngine, Result, ToolCall, ToolEngine
from seams.contract.turn import Planner, View
from seams.contract.turntax import TurnTax
from seams.contract.verdict import Status
from seams.engines.airline import AirlineEngine
from seams.engines.mock import MockEngine
from seams.engines.noop import NoopEngine
from seams.runtimes.reference import make
from seams.syscall.admission import Gates

SEAMS = {
    "syscall/decide": (Decide, "none"),
    "syscall/hook": (Hook, "none"),
    "syscall/grammar": (Repair, "none"),
    "syscall/submit": (Submit, "noop"),
    "syscall/reap": (Reap, "mock"),
    "syscall/preflight": (Preflight, "mock"),
    "syscall/vdso": (FastPath, "mock"),
    "syscall/resolver": (ContentStore, "none"),
    "syscall/admission": (Admission, "none"),
    "turn/turntax": (TurnTax, "mock"),
    "turn/planner": (Planner, "none"),
    "turn/view": (View, "none"),
    "turn/paging": (Paging, "none"),
    "turn/reap": (TurnReap, "none"),
    "turn/kv": (Kv, "none"),
    "fleet/preflight": (Launch, "none"),
    "fleet/closure": (Closure, "none"),
}


def members(protocol: type) -> set[str]:
    """What a Protocol demands: its methods, its properties, and what it only annotates."""
    named: set[str] = set()
    for each in protocol.__mro__:
        if each not in (object, Protocol) and getattr(each, "_is_protocol", False):
            named |= {name for name in (*vars(each), *each.__annotations__) if not name.startswith("_")}
    return named


@pytest.mark.parametrize("seam", SEAMS)
def test_the_reference_has_what_the_protocol_names(seam: str) -> None:
    protocol, engine = SEAMS[seam]
    found: Any = make().offer(seam, engine)
    assert members(protocol)
    assert {name for name in members(protocol) if not hasattr(found, name)} == set()


def test_a_ladder_shows_its_rows_and_a_gate_its_books() -> None:
    kernel: Any = make().offer("syscall/preflight", "mock")
    kernel.submit(ToolCall("get_x", b"{oops"))
    assert {name for name in members(Ladder) if not hasattr(kernel.ladder, name)} == set()
    (row,) = kernel.ladder.catches
    assert (row.rung_passed, row.rung_failed, row.reason) == (-1, 0, "MALFORMED")
    for gate in Gates().admitters:
        assert {name for name in members(Gate) if not hasattr(gate, name)} == set()


class Silent:
    """An engine that keeps no count."""

    def complete(self, call: ToolCall) -> Result:
        return Result(Status.OK, b"{}")


def test_an_engine_may_keep_a_count_and_every_one_here_does() -> None:
    for engine in (AirlineEngine(), MockEngine(), NoopEngine()):
        assert isinstance(engine, CountingEngine)
        assert members(ToolEngine) == {"complete"}
        engine.complete(ToolCall("get_x"))
        assert engine.completed == 1
    assert not isinstance(Silent(), CountingEngine)


@pytest.mark.parametrize("seam", ["syscall/decide", "syscall/hook", "syscall/submit", "syscall/reap"])
def test_what_knows_worlds_goes_to_another(seam: str) -> None:
    found = make().offer(seam, SEAMS[seam][1])
    assert isinstance(found, Worlds)
    assert type(found.in_world("airline")) is type(found)
