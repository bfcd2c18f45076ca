"""How far a write reaches: the epochs that a cached read is bound to, and the one that a write moves on.

``global`` has one epoch for the whole world: every write strands every read. The two scoped modes name a node by what
the tool is called (``namespace``) and by what it is called with (``resource``): a read is bound to the world, its
namespace and its entity, and a write moves the finest of these that can be named. They are right where a write changes
nothing but what it names, which no name can promise; hence the default.

A call that cannot be placed is never trusted to be harmless. A write by a tool without a namespace moves the world; a
read by one may depend on anything, so any write strands it; a tool that matches two namespaces has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from seams.contract.arguments import plain_name
from seams.contract.syscall import ToolCall

__all__ = ["NODES", "Epochs", "Invalidation", "entity_of", "namespace_of"]

NODES = 8192
"""Namespaces and entities whose epochs are remembered."""

_LONGEST = 200
"""Characters of an entity; what is longer is no name, and would make the table of nodes as large as its arguments."""

_NAMESPACES: Mapping[str, tuple[str, ...]] = {
    "flights": ("flight",),
    "fx": ("currency", "convert", "fx", "exchange", "forex"),
    "hotels": ("hotel", "room"),
    "users": ("user", "account", "profile"),
    "airports": ("airport",),
    "docs": ("policy", "refund", "doc"),
}

_ROUTE = (("origin",), ("destination",))
_ENTITIES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "flights": _ROUTE,
    "hotels": _ROUTE,
    "fx": (("from_currency", "from"), ("to_currency", "to")),
    "users": (("user_id",),),
}
"""The arguments that name an entity; each part under exactly one of its keys. A namespace that is absent has none."""


class Invalidation(Enum):
    """What a completed write strands."""

    GLOBAL = "global"
    NAMESPACE = "namespace"
    RESOURCE = "resource"


@lru_cache(maxsize=4096)
def namespace_of(tool: str) -> str | None:
    """The one namespace whose words the tool's name contains; None where there is none, or more than one."""
    lower = tool.lower()
    found = [name for name, words in _NAMESPACES.items() if any(word in lower for word in words)]
    return found[0] if len(found) == 1 else None


def entity_of(namespace: str, args: Mapping[str, object] | None) -> str | None:
    """The entity that the arguments name, in capitals and without outer spaces; None where they do not name one.

    Two spellings that a tool may take for one are one entity here: that strands too much, never too little.
    """
    parts = _ENTITIES.get(namespace)
    if parts is None or args is None:
        return None
    named = []
    for keys in parts:
        given = [value for key, value in args.items() if plain_name(key) in keys]
        if len(given) != 1 or not isinstance(given[0], str):
            return None
        named.append(given[0].strip().upper())
    entity = "-".join(named)
    return entity if all(named) and len(entity) <= _LONGEST else None


class Epochs:
    """The epochs of one world, at most ``cap`` nodes of it."""

    __slots__ = ("_cap", "_nodes", "_writes", "invalidation", "world")

    def __init__(self, invalidation: Invalidation = Invalidation.GLOBAL, cap: int = NODES) -> None:
        self.invalidation = invalidation
        self._cap = cap
        self._nodes: dict[str, int] = {}
        self._writes = 0
        self.world = 0

    def stamp(self, call: ToolCall) -> tuple[int, ...] | None:
        """The present epochs of what the read depends on, outermost first; None where ``resource`` finds no entity.

        Equal stamps of one read mean that nothing it depends on was written in between.
        """
        if self.invalidation is Invalidation.GLOBAL:
            return (self.world,)
        namespace = namespace_of(call.tool)
        if namespace is None:
            return self.world, self._writes
        nodes = self._nodes
        if self.invalidation is Invalidation.NAMESPACE:
            return self.world, nodes.get(namespace, 0)
        entity = entity_of(namespace, call.arguments())
        if entity is None:
            return None
        return self.world, nodes.get(namespace, 0), nodes.get(f"{namespace}:{entity}", 0)

    def wrote(self, call: ToolCall) -> bool:
        """Move on the finest node that the completed write names; True where that was the whole world."""
        self._writes += 1
        node = self._finest(call)
        # To forget a node is to forget that it was written, so a full table moves the world on. With the world every
        # stamp has moved, and the table may start over rather than be full again at the next entity.
        if node is None or (node not in self._nodes and len(self._nodes) >= self._cap):
            self.bump()
            return True
        self._nodes[node] = self._nodes.get(node, 0) + 1
        return False

    def bump(self) -> None:
        """Move the whole world on."""
        self.world += 1
        self._nodes.clear()

    def _finest(self, call: ToolCall) -> str | None:
        if self.invalidation is Invalidation.GLOBAL:
            return None
        namespace = namespace_of(call.tool)
        if namespace is None or self.invalidation is Invalidation.NAMESPACE:
            return namespace
        entity = entity_of(namespace, call.arguments())
        return namespace if entity is None else f"{namespace}:{entity}"
