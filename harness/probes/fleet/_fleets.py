"""Authored fleets: sessions drawn from a profile and a seed, call by call. Nothing is replayed and nothing measured.

Only :meth:`random.Random.random` is drawn from, whose sequence no release of Python changes, so that a seed makes the
same fleet in every process. In each turn one number decides of which kind the call is, and further ones which.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.probes.syscall._trace import HINTS
from seams.contract.syscall import ToolCall

__all__ = ["FANS", "FLEETS", "Profile", "Session", "drawn", "plan_of", "routes_read", "seeds_of"]

Session = list[ToolCall]

_AIRPORTS = ("SFO", "JFK", "LAX", "ORD", "SEA", "BOS", "ATL", "DFW")
_USERS = 3
"""Accounts of its own that an agent looks at."""
_REPEATS = 0.7
"""How often an agent that may repeat an earlier read does."""
_WRITES = MappingProxyType({"readOnlyHint": "false", "idempotentHint": "false", "destructive": "true"})
_SEED = 2**53
_DAYS = 28


class Profile(NamedTuple):
    """The chances of what a turn is; what they leave is a fresh read of an account of the agent's own.

    ``shared`` is a read of one of ``pool`` routes, ``repeat`` one of an own account that may be an earlier read again,
    ``alias`` a call that has to be repaired, ``pure`` a sum, ``static`` an answer that never changes, ``write`` a
    booking. ``plan`` reads come before the agents, of a fan-out alone. ``apart``: the routes that an agent reads are of
    a day that no other agent reads of, so that they have nothing in common and look alike.
    """

    pool: int = 8
    shared: float = 0
    repeat: float = 0
    alias: float = 0
    pure: float = 0
    static: float = 0
    write: float = 0
    plan: int = 0
    apart: bool = False


FLEETS: Mapping[str, Profile] = MappingProxyType(
    {
        "read-fleet": Profile(8, 0.45, 0.15, 0.08, 0.08, 0.05, 0),
        "write-heavy": Profile(8, 0.35, 0.10, 0.05, 0.05, 0.05, 0.30),
        "no-share": Profile(8, 0, 0.20, 0.08, 0.08, 0.05, 0),
        "apart": Profile(8, 0.45, 0.15, 0.08, 0.08, 0.05, 0, apart=True),
    }
)
"""Fleets of peers: mostly reads, many writes, and twice nothing that two agents would read: no route at all, and the
reads of the first fleet with a day for each agent."""

FANS: Mapping[str, Profile] = MappingProxyType(
    {
        "research": Profile(8, 0.55, 0.15, 0.06, 0.06, 0.04, 0, plan=4),
        "write-goal": Profile(8, 0.40, 0.10, 0.05, 0.05, 0.05, 0.25, plan=4),
        "no-share": Profile(8, 0, 0.20, 0.06, 0.06, 0.04, 0, plan=0),
    }
)
"""Fan-outs: a plan that reads some of the routes, and sub-agents."""


def seeds_of(seed: int, trials: int) -> list[int]:
    """A seed for each trial of a cell."""
    draw = Random(seed)
    return [int(draw.random() * _SEED) for _ in range(trials)]


def drawn(profile: Profile, turns: int, agents: int, seed: int) -> list[Session]:
    """``agents`` sessions of ``turns`` calls each; their day hangs on the seed, so that no day tells a profile."""
    draw = Random(seed)
    return [_session(profile, turns, agent, draw, seed + agent * profile.apart) for agent in range(agents)]


def plan_of(profile: Profile, seed: int = 0) -> Session:
    """The reads of the plan of agents of that seed: one route after the other."""
    return [_read(each % profile.pool, "plan", seed) for each in range(profile.plan)]


def routes_read(session: Session) -> set[bytes]:
    """Which routes a session reads."""
    return {call.args for call in session if call.tool == "search_direct_flight"}


def _session(profile: Profile, turns: int, agent: int, draw: Random, day: int) -> Session:
    own: list[int] = []
    return [_call(profile, agent, draw, own, day) for _ in range(turns)]


def _call(profile: Profile, agent: int, draw: Random, own: list[int], day: int) -> ToolCall:
    x, name, kind = draw.random(), f"agent_{agent}", ""
    for each in ("shared", "repeat", "alias", "pure", "static", "write"):
        share: float = getattr(profile, each)
        if x < share:
            kind = each
            break
        x -= share
    match kind:
        case "shared":
            return _read(_one_of(draw, profile.pool), name, day)
        case "alias":
            return _alias(name, draw)
        case "pure":
            return _made("calculate", {"a": _one_of(draw, 1000), "b": _one_of(draw, 1000)}, name)
        case "static":
            return _made("list_all_airports", {}, name)
        case "write":
            return _write(_one_of(draw, profile.pool), name, draw)
        case _:
            return _private(name, draw, own, _REPEATS if kind == "repeat" else 0)


def _one_of(draw: Random, count: int) -> int:
    return int(draw.random() * count)


def _made(tool: str, args: Mapping[str, Any], agent: str, meta: Mapping[str, str] = HINTS) -> ToolCall:
    return ToolCall(tool, json.dumps(args, sort_keys=True).encode(), meta, trace_id=agent)


def _route(number: int) -> dict[str, str]:
    return {"origin": _AIRPORTS[number % 8], "destination": _AIRPORTS[(number + 3) % 8]}


def _read(route: int, agent: str, day: int) -> ToolCall:
    month, day = divmod(day % (12 * _DAYS), _DAYS)
    date = f"2031-{month + 1:02}-{day + 1:02}"
    return _made("search_direct_flight", {**_route(route), "date": date}, agent)


def _private(agent: str, draw: Random, own: list[int], repeats: float) -> ToolCall:
    again = bool(own) and draw.random() < repeats
    user = own[_one_of(draw, len(own))] if again else _one_of(draw, _USERS)
    own.append(user)
    return _made("get_user_details", {"user_id": f"{agent}_user_{user}"}, agent)


def _alias(agent: str, draw: Random) -> ToolCall:
    keys = ("from", "to") if draw.random() < 0.5 else ("source", "target")
    return _made(
        "convert_currency", {**dict(zip(keys, ("USD", "EUR"), strict=True)), "amount": _one_of(draw, 1000)}, agent
    )


def _write(route: int, agent: str, draw: Random) -> ToolCall:
    booked = {**_route(route), "flight_id": f"FL{_one_of(draw, 10_000)}", "user_id": agent}
    return _made("book_flight", booked, agent, _WRITES)
