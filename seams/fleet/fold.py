"""The seam ``fleet/fold``: N results pass the gates and become one window.

A sub-agent is no more to be believed than a tool: whatever it read may speak through it. So its result passes the gates
that a tool's result passes, and only what they let through, or left in its place, is read by the orchestrator. Results
arrive when they are done and are folded by their agents' numbers, so that the same results make the same window.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.fleet_fold import Brought
from seams.contract.reap import Returned
from seams.contract.syscall import Result, ToolCall
from seams.contract.turn import Message
from seams.contract.verdict import Status
from seams.turn.reap import TurnReaper
from seams.turn.reap import offer as offer_reap

__all__ = ["FanIn", "FoldError", "offer"]


class FoldError(ValueError):
    """The results are not one of each agent."""


class FanIn:
    """Folds through the gates of ``reaper``, which also counts them."""

    def __init__(self, reaper: TurnReaper) -> None:
        self.reaper = reaper

    def fold(self, window: Sequence[Message], brought: Sequence[Brought]) -> list[Message]:
        """See the contract.

        Raises:
            FoldError: an agent brought two results, or has a number below zero. No gate has seen any of them then.
        """
        numbers = [each.agent for each in brought]
        if len(set(numbers)) < len(numbers) or min(numbers, default=0) < 0:
            raise FoldError(
                f"Of {len(numbers)} results {len(set(numbers))} are of different agents: fold one result of each, "
                "numbered from 0. Run: python -m harness explain fold_results_ns"
            )
        ordered = sorted(brought, key=lambda each: each.agent)
        returned = [Returned(ToolCall(f"agent-{each.agent}"), Result(Status.OK, bytes(each.body))) for each in ordered]
        return self.reaper.reap_turn(window, returned)


def offer(engine: Engine) -> FanIn:
    """A fold with the gates of a fresh kernel of the default world. It calls no engine, so any cut is the same."""
    return FanIn(offer_reap(engine))
