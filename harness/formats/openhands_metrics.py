"""What OpenHands records of its own spending: usage by response id, and totals that grow with every event.

The totals are cumulative, so the largest counts and none is added to another; what two events differ by is the usage
of a request that no event names. This module refuses to spread a total over requests.
"""

from __future__ import annotations

from typing import Any

from harness.formats.openai_usage import UsageLog
from harness.formats.pseudonym import safe_name
from harness.formats.whole_json import as_amount, as_count, as_dict, as_list, as_str
from kpis.terms.trace import ModelUsage, ThreadKind

__all__ = ["Spending"]

_GROWING = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Spending:
    """The spending of one conversation.

    ``usages`` are usage objects by response id, ``nameless`` those without one; ``kinds`` says whose a response is
    where the agent records its models apart; ``latencies`` are seconds by response id.
    """

    def __init__(self) -> None:
        self.usages: dict[str, dict[str, Any]] = {}
        self.nameless: list[dict[str, Any]] = []
        self.kinds: dict[str, ThreadKind] = {}
        self.latencies: dict[str, float] = {}
        self._totals: dict[str, tuple[dict[str, Any], float | None]] = {}
        self._before: dict[str, int] = {}

    def take(self, metrics: Any, owner: str = "") -> None:
        """One metrics object. ``owner`` is the use that the model was put to, where several are recorded apart."""
        told = as_dict(metrics)
        for owned, each in as_dict(told.get("usage_to_metrics")).items():
            self.take(each, owned or "agent")
        for each in map(as_dict, as_list(told.get("response_latencies"))):
            identifier, seconds = as_str(each.get("response_id")), as_amount(each.get("latency"))
            if identifier is not None and seconds is not None:
                self.latencies[identifier] = seconds
        listed = [as_dict(each) for each in as_list(told.get("token_usages"))]
        if listed:
            self.nameless = [each for each in listed if as_str(each.get("response_id")) is None]
        for each in listed:
            if identifier := as_str(each.get("response_id")):
                self.usages[identifier] = each
                if "condens" in owner.lower():
                    self.kinds[identifier] = ThreadKind.SUMMARISER
        total = as_dict(told.get("accumulated_token_usage"))
        cost = as_amount(told.get("accumulated_cost"))
        if not total and cost is None:
            return
        known, spent = self._totals.get(owner, ({}, None))
        if (as_count(total.get("prompt_tokens")) or 0) >= (as_count(known.get("prompt_tokens")) or 0):
            known = {**total, "model": as_str(total.get("model")) or as_str(told.get("model_name"))} if total else known
        self._totals[owner] = known, max((each for each in (cost, spent) if each is not None), default=None)

    def since(self, metrics: Any) -> dict[str, int]:
        """By how much the totals grew since the last call; empty where they did not, or fell."""
        total = as_dict(as_dict(metrics).get("accumulated_token_usage"))
        now = {key: count for key in _GROWING if (count := as_count(total.get(key))) is not None}
        if not now:
            return {}
        grown = {key: count - self._before.get(key, 0) for key, count in now.items()}
        self._before = now
        return grown if min(grown.values()) >= 0 and any(grown.values()) else {}

    @property
    def cost_usd(self) -> float | None:
        """All that was spent, by the agent's own prices."""
        costs = [cost for _, cost in self._totals.values() if cost is not None]
        return sum(costs) if costs else None

    def by_model(self, file: str) -> tuple[ModelUsage, ...]:
        """The last totals, one row a use of a model."""
        return tuple(
            ModelUsage(
                safe_name(as_str(total.get("model")) or "unknown"), UsageLog(file).tokens(total, 1), cost_usd=cost
            )
            for total, cost in self._totals.values()
            if total
        )

    def grand(self, part: str) -> int | None:
        """The last total of one counter over all uses; None where there is none."""
        known = [count for total, _ in self._totals.values() if (count := as_count(total.get(part))) is not None]
        return sum(known) if known else None
