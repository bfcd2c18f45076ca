"""The worlds that a trace can be replayed in, as data: a policy, grammars, argument schemas.

``default`` is the reference policy in front of a mock engine; ``airline`` has an explicit allow list, a repairable
currency tool and local tools of its own. Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seams.contract.verdict import ReasonCode
from seams.syscall.grammar import Grammar, Param
from seams.syscall.policy import Policy

__all__ = ["AIRLINE", "DEFAULT", "World", "WorldError", "world_named"]


class WorldError(LookupError):
    """There is no such world."""


@dataclass(frozen=True, slots=True)
class World:
    """What the chain of a world is made of; ``schemas`` maps a tool to its required keys and JSON types."""

    name: str
    policy: Policy
    grammars: Mapping[str, Grammar] = field(default_factory=dict)
    schemas: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


DEFAULT = World(
    "default",
    Policy(
        allow=frozenset(
            {
                "search_flights",
                "get_reservation_details",
                "get_user_details",
                "list_all_airports",
                "calculate",
                "search_direct_flight",
                "transfer_to_human_agents",
                "send_certificate",
                "book_reservation",
                "update_reservation_flights",
            }
        ),
        allow_prefixes=("read_", "get_", "search_", "list_", "lookup_", "find_", "calc"),
        deny={"shell_rm_rf": ReasonCode.POLICY_BLOCK, "exfiltrate": ReasonCode.SECRET_EXFIL},
        redact=frozenset({"password", "secret", "api_key", "token", "authorization"}),
    ),
)

AIRLINE = World(
    "airline",
    Policy(
        allow=frozenset(
            {
                "get_user_details",
                "search_direct_flight",
                "calculate",
                "convert_currency",
                "fetch_policy",
                "book_flight",
            }
        ),
        deny={"delete_account": ReasonCode.POLICY_BLOCK},
    ),
    grammars={
        "convert_currency": Grammar(
            (Param("from_currency"), Param("to_currency"), Param("amount", "number")),
            {
                "from": "from_currency",
                "source": "from_currency",
                "from_cur": "from_currency",
                "to": "to_currency",
                "target": "to_currency",
                "to_cur": "to_currency",
            },
        )
    },
    schemas={"get_user_details": {"user_id": "string"}},
)

_WORLDS: Mapping[str, World] = {world.name: world for world in (DEFAULT, AIRLINE)}


def world_named(name: str) -> World:
    """The world of that name.

    Raises:
        WorldError: there is none.
    """
    try:
        return _WORLDS[name]
    except KeyError:
        raise WorldError(f"There is no world {name!r}; the worlds are {', '.join(_WORLDS)}.") from None
