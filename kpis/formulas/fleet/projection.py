"""The cost model of a fan-out: what a shared prefix takes back of the tokens, and how far the work can shorten.

A model from end to end: sizes, cache prices, the length of a turn and the number of agents are knobs, and no clock and
no run is behind any of it. An orchestrator plans in one turn, ``agents`` sub-agents take ``sub_turns`` each at the same
time, and the orchestrator reads their results, ``fold_budget`` tokens a turn. Units: tokens, turns, ns, US dollars.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["KNOBS", "Projection", "break_even", "fold_join_ns", "fold_turns", "limits", "project"]

KNOBS: Mapping[str, float] = MappingProxyType(
    {
        "agents": 16,
        "sub_turns": 4,
        "prefix_tokens": 2048,
        "suffix_tokens": 256,
        "decode_tokens_per_turn": 120,
        "fold_tokens_per_result": 200,
        "fold_budget": 4000,
        "cache_read": 0.1,
        "cache_write": 1.25,
        "ms_per_turn": 1500,
        "usd_per_mtok_in": 3,
    }
)
"""Assumed, every one of them. ``cache_read`` and ``cache_write`` are multiples of the price of a token that is read."""


class Projection(NamedTuple):
    """What the knobs imply.

    ``naive`` and ``reuse`` are tokens, in multiples of a single agent's, without and with the shared prefix;
    ``clawed_back`` is the share of the naive surplus that reuse takes back. ``critical`` and ``total`` are turns on the
    longest path and altogether, ``speedup`` their ratio, ``overhead`` what the longest path has more than that of one
    agent. ``net_tokens`` adds up ``dedup_tokens``, which come of a count, and the model's own saving.
    """

    naive: float
    reuse: float
    clawed_back: float
    fold_turns: int
    critical: int
    total: int
    speedup: float
    turns_per_s: float
    overhead: int
    dedup_tokens: int
    net_tokens: int
    net_usd: float


def fold_turns(agents: int, knobs: Mapping[str, float] = KNOBS) -> int:
    """Turns in which the orchestrator reads the results: their tokens over the budget of a turn, rounded up."""
    tokens, budget = max(agents, 1) * int(knobs["fold_tokens_per_result"]), max(1, int(knobs["fold_budget"]))
    return -(-tokens // budget)


def fold_join_ns(agents: int, knobs: Mapping[str, float] = KNOBS) -> int:
    """Those turns at the assumed length of one, in ns. No timer anywhere."""
    return round(fold_turns(agents, knobs) * knobs["ms_per_turn"] * 1_000_000)


def _critical(agents: int, knobs: Mapping[str, float]) -> int:
    return 1 + int(knobs["sub_turns"]) + fold_turns(agents, knobs)


def project(agents: int, cross_uplift: int = 0, knobs: Mapping[str, float] = KNOBS) -> Projection:
    """The fan-out to ``agents``, of whom fewer than one are one; ``cross_uplift`` is turns saved, as they were counted.

    Raises:
        KeyError: a knob is missing.
    """
    agents = max(agents, 1)
    prefix, suffix, turn = (knobs[name] for name in ("prefix_tokens", "suffix_tokens", "decode_tokens_per_turn"))
    sub_turns, folded = int(knobs["sub_turns"]), agents * knobs["fold_tokens_per_result"]
    own = suffix + sub_turns * turn
    single = prefix + own
    naive = agents * single + folded
    reuse = prefix * (knobs["cache_write"] + (agents - 1) * knobs["cache_read"]) + agents * own + folded
    times_naive, times_reuse = naive / single, reuse / single
    surplus = times_naive - 1
    clawed = min(max((times_naive - times_reuse) / surplus, 0.0), 1.0) if surplus > 0 else 0.0
    critical, total = _critical(agents, knobs), 1 + agents * sub_turns + fold_turns(agents, knobs)
    dedup = int(cross_uplift * (suffix + turn))
    net = int(naive - reuse) + dedup  # toward zero: a part of a token is none
    return Projection(
        naive=times_naive,
        reuse=times_reuse,
        clawed_back=clawed,
        fold_turns=fold_turns(agents, knobs),
        critical=critical,
        total=total,
        speedup=total / critical,
        turns_per_s=total / (critical * knobs["ms_per_turn"] / 1000),
        overhead=critical - _critical(1, knobs),
        dedup_tokens=dedup,
        net_tokens=net,
        net_usd=net / 1e6 * knobs["usd_per_mtok_in"],
    )


def limits(knobs: Mapping[str, float] = KNOBS) -> tuple[float, float]:
    """Where the clawed-back share and the speed-up go as agents are added without end.

    The second is approached in steps, since results are read in whole turns, and the way there is not monotone.
    """
    prefix, folded = knobs["prefix_tokens"], knobs["fold_tokens_per_result"]
    each = prefix + knobs["suffix_tokens"] + knobs["sub_turns"] * knobs["decode_tokens_per_turn"] + folded
    fold = folded / max(1, int(knobs["fold_budget"]))
    # Without a fold nothing but the plan and one agent's turns is on the longest path, however many there are.
    speedup = (knobs["sub_turns"] + fold) / fold if fold else float("inf")
    return (1 - knobs["cache_read"]) * prefix / each, speedup


def break_even(knobs: Mapping[str, float] = KNOBS) -> int | None:
    """The fewest agents at which the shared prefix alone saves a token: ``P ((1 - r) N + r - w) > 0``, w to write it.

    None where no number of them does, since reading from the cache is no cheaper or there is no prefix.
    """
    read, write = knobs["cache_read"], knobs["cache_write"]
    if read >= 1 or knobs["prefix_tokens"] <= 0:
        return None
    agents = max(1, int((write - read) / (1 - read)))  # at the most: there the saving is still 0 or below
    while project(agents, knobs=knobs).net_tokens <= 0:
        agents += 1  # a part of a token is none, so it may take some more
    return agents
