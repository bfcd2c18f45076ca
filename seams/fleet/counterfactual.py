"""The seam ``fleet/counterfactual``: a recorded trace through a fresh kernel under a policy that is not its own.

It replays and tells how each call was settled. What that says of the policy, and up to which call, is a formula over
two replays and is not decided here. The calls are frozen, so no model is asked, and none is within reach but the client
that is handed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.fleet_counterfactual import ModelClient, Outcome, Settled
from seams.contract.syscall import Result, ToolCall, ToolEngine, Verdict
from seams.contract.turntax import TurnClass
from seams.contract.verdict import VerdictKind
from seams.syscall.kernel import fresh_kernel
from seams.syscall.policy import parse_policy
from seams.turn.turntax import classify

__all__ = ["PolicyReplay", "offer"]

_OUTCOMES = {TurnClass.QUARANTINE: Outcome.QUARANTINED, TurnClass.DENY: Outcome.DENIED}


class PolicyReplay:
    """What ``fleet/counterfactual`` offers."""

    __slots__ = ()

    def replay(
        self,
        calls: Sequence[ToolCall],
        world: str,
        policy: str | None,
        engine: ToolEngine,
        model: ModelClient,  # noqa: ARG002 - calls are frozen, so there is nothing to ask it
    ) -> Settled:
        """See the contract.

        Raises:
            WorldError: there is no such world.
            PolicyError: ``policy`` is none; the sentence says what is wrong with it.
        """
        parsed = None if policy is None else parse_policy(policy, "the policy of the replay")
        kernel = fresh_kernel(world, engine, policy=parsed)
        settled = [
            kernel.syscall(ToolCall(call.tool, call.args or b"{}", call.meta, trace_id=call.trace_id)) for call in calls
        ]
        return Settled(
            tuple(_outcome(*each) for each in settled),
            tuple(_rewrite(verdict) for _, verdict in settled),
            kernel.counters(),
        )


def _outcome(result: Result, verdict: Verdict) -> Outcome:
    """A refusal of the result after the engine ran is one too: the caller got nothing of it."""
    if result.meta.get("admit") == "denied":
        return Outcome.DENIED
    return _OUTCOMES.get(classify(result, verdict), Outcome.SERVED)


def _rewrite(verdict: Verdict) -> bytes | None:
    return verdict.new_args if verdict.kind == VerdictKind.TRANSFORM and verdict.by != "grammar" else None


def offer(engine: Engine) -> PolicyReplay | None:
    """The replay; the engine is handed in with the calls, as a mock."""
    return PolicyReplay() if engine == "mock" else None
