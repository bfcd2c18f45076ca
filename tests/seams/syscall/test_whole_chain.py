"""A kernel as it is put together: the whole chain, every gate, one ledger, one store, and what its user gives it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.probes.turn._books import mismatches
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Arm
from seams.contract.verdict import ReasonCode, VerdictKind, Witness
from seams.syscall.decide import chain_of
from seams.syscall.epochs import Invalidation
from seams.syscall.kernel import Kernel, fresh_kernel
from seams.syscall.patterns import PatternError
from seams.syscall.policy import Policy, Predicate
from seams.syscall.worlds import AIRLINE, DEFAULT
from seams.turn.turntax import TurnTaxReplay

HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}


def replayed(file: Path, world: str, arm: Arm) -> tuple[int, ...]:
    calls = [
        ToolCall(each["tool"], json.dumps(each["args"], separators=(",", ":")).encode(), each.get("meta") or {})
        for each in json.loads(file.read_text(encoding="utf-8"))["calls"]
    ]
    told = TurnTaxReplay().replay(calls, world, arm)
    assert mismatches(told, told.counters.engine_calls) == ()
    counters = told.counters
    return (
        counters.submits,
        counters.vdso_hits,
        counters.engine_calls,
        counters.denies,
        counters.transforms,
        counters.quarantines,
    )


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        (Arm.ON, (12, 6, 6, 0, 0, 0)),
        (Arm.OFF, (12, 0, 12, 0, 0, 0)),
        (Arm.SHARED_CACHE, (12, 7, 5, 0, 0, 0)),
    ],
)
def test_the_smoke_trace_is_refused_nothing_by_the_fuller_chain(
    cases: Path, arm: Arm, expected: tuple[int, ...]
) -> None:
    assert replayed(cases / "replay" / "tau2-smoke.json", "default", arm) == expected


@pytest.mark.parametrize(("arm", "expected"), [(Arm.ON, (14, 7, 6, 1, 2, 1)), (Arm.OFF, (14, 0, 11, 3, 2, 1))])
def test_the_airline_trace_begins_with_its_only_fetch(cases: Path, arm: Arm, expected: tuple[int, ...]) -> None:
    assert replayed(cases / "replay" / "turntax-airline.json", "airline", arm) == expected


@pytest.mark.parametrize("world", ["default", "airline"])
def test_every_rung_and_every_gate_in_its_place(world: str) -> None:
    kernel = fresh_kernel(world)
    ranks = [rung.rank for rung in kernel.chain.rungs]
    assert ranks == ([5] if world == "airline" else []) + [10, 30, 100]
    assert [gate.rank for gate in kernel.admitters] == [5, 10, 20]  # type: ignore[attr-defined]
    sinks, stamp = next(rung for rung in kernel.chain.rungs if rung.rank == 30), kernel.admitters[-1]
    assert sinks.ledger is stamp.ledger is kernel.flow  # type: ignore[attr-defined]


def test_two_kernels_share_nothing() -> None:
    one, other = fresh_kernel("airline"), fresh_kernel("airline")
    one.syscall(ToolCall("fetch_policy", b'{"topic":"refund"}'))
    assert one.flow is not None
    assert other.flow is not None
    assert (len(one.flow), len(other.flow)) == (1, 0)
    assert other.submit(ToolCall("fetch_policy", b"{}"))[1].kind == VerdictKind.ALLOW


def test_a_decision_of_the_same_chain_is_taken_on_an_untouched_ledger() -> None:
    chain = chain_of(AIRLINE)
    for _ in range(3):
        assert chain.fold(ToolCall("fetch_policy", b"{}", seq=1)).kind == VerdictKind.ALLOW


def test_a_policy_stands_in_for_the_worlds_own_and_goes_along() -> None:
    policy = Policy(allow=frozenset({"launch"}), predicates=(Predicate("launch", "to", allow_globs=("moon*",)),))
    for kernel in (fresh_kernel("default", policy=policy), fresh_kernel("airline", policy=policy).in_world("default")):
        verdicts = [
            kernel.submit(call)[1]
            for call in (ToolCall("launch", b'{"to":"moon"}'), ToolCall("launch", b'{"to":"sun"}'), ToolCall("get_x"))
        ]
        assert [ReasonCode(each.reason).name for each in verdicts] == ["NONE", "POLICY_BLOCK", "DEFAULT_DENY"]
    assert chain_of(DEFAULT, Policy()).fold(ToolCall("get_x")).kind == VerdictKind.DENY, "an empty policy is a policy"


def test_a_policy_that_cannot_be_matched_makes_no_kernel() -> None:
    with pytest.raises(PatternError):
        fresh_kernel("default", policy=Policy(predicates=(Predicate("x", "y", deny_regex="("),)))


def served(kernel: Kernel) -> bool:
    """Whether a cached read outlives a write to something else."""
    read = ("get_user_details", b'{"user_id":"u"}', HINTS)
    kernel.syscall(ToolCall(*read))
    kernel.syscall(ToolCall("book_flight", b'{"user_id":"u","flight_id":"f"}'))
    return kernel.syscall(ToolCall(*read))[1].by == "vdso"


def test_the_invalidation_is_the_fast_paths_and_goes_along() -> None:
    assert not served(fresh_kernel("airline"))
    scoped = fresh_kernel("default", invalidation=Invalidation.NAMESPACE)
    assert served(scoped.in_world("airline"))


class Knows:
    def resolve(self, call: ToolCall, claim: str) -> Witness:
        return Witness.CONFIRMED


def test_resolvers_go_along() -> None:
    knows = Knows()
    kernel = fresh_kernel("default", resolvers=[knows])
    assert kernel.resolvers == kernel.in_world("airline").resolvers == (knows,)


def test_a_kernel_without_a_ladder_says_so() -> None:
    from seams.engines.noop import NoopEngine
    from seams.syscall.fold import Chain

    with pytest.raises(LookupError, match="no preflight rung"):
        assert Kernel(Chain([]), NoopEngine()).ladder
