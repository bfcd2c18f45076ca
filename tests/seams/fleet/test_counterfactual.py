"""The replay under other policies: outcomes, redactions, and no model."""

from __future__ import annotations

import pytest

from harness.probes.fleet.counterfactual import POLICIES, TRACES
from seams.contract.fleet_counterfactual import Outcome
from seams.contract.syscall import ToolCall
from seams.engines.airline import AirlineEngine
from seams.engines.mock import MockEngine
from seams.fleet.counterfactual import PolicyReplay, offer
from seams.syscall.policy import PolicyError


class Raising:
    def complete(self, prompt: str) -> str:
        raise AssertionError(prompt)


def settled(calls, policy, world="airline", engine=None):
    return PolicyReplay().replay(calls, world, policy, engine or AirlineEngine(), Raising())


S, D, Q = Outcome.SERVED, Outcome.DENIED, Outcome.QUARANTINED


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [("reference", (S, D, S, S, Q)), ("equivalent", (S, D, S, S, Q)), ("strict-no-book", (S, D, S, D, Q))],
)
def test_the_floor_trace(policy: str, outcomes: tuple[Outcome, ...]) -> None:
    found = settled(TRACES["floor-1"], POLICIES[policy])
    assert found.outcomes == outcomes
    assert found.rewrites == (None,) * 5
    assert (found.counters.denies, found.counters.quarantines) == (outcomes.count(D), 1)


def test_a_redaction_is_told_and_a_repair_is_not() -> None:
    call = ToolCall("get_user_details", b'{"password":"hunter2","user_id":"u"}')
    redacting = 'allow = ["get_user_details"]\nredact = ["password"]\n'
    found = settled([call], redacting, "default", MockEngine())
    assert found.outcomes == (S,)
    assert found.rewrites[0] is not None
    assert b"hunter2" not in found.rewrites[0]
    repaired = ToolCall("convert_currency", b'{"from":"USD","to":"EUR","amount":3}')
    told = settled([repaired], None)
    assert (told.rewrites, told.counters.transforms) == ((None,), 1)


@pytest.mark.parametrize("text", ["allow = 7", "forbid = []", "= nothing", "{"])
def test_what_is_no_policy_is_named(text: str) -> None:
    with pytest.raises(PolicyError, match="the policy of the replay"):
        settled([], text)


def test_it_needs_an_engine_that_is_handed_in() -> None:
    assert offer("mock") is not None
    assert offer("remote") is None
