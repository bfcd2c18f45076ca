"""The cache of earlier reads: the fast path's second tier.

An answer is held in the content store, and pinned there for as long as it is resident. It is served while the epochs it
was read under still stand and none of its witnesses (what vouches for it: ``meta['witness']`` of the result, or of the
call) was revoked. A write that strands the whole world drops everything at once; what a narrower one or a revocation
strands is dropped when it is next asked for, or goes with age, whichever comes first. It decides for no call whether it
may be cached: that is for the fast path.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from enum import Enum
from typing import NamedTuple

from seams.contract.store import ContentStore, Ref
from seams.contract.syscall import Result, ToolCall
from seams.syscall.canonical import canonical
from seams.syscall.epochs import Epochs

__all__ = ["REVOCATIONS", "Answer", "Miss", "Reads", "Scope"]

REVOCATIONS = 65_536
"""Revoked witnesses that are remembered by name. With one more no witness is believed any longer."""


class Miss(Enum):
    """Why a lookup found nothing."""

    DESTRUCTIVE = "DESTRUCTIVE"
    MISSING_HINTS = "MISSING_HINTS"
    RESOURCE_MISNAMED = "RESOURCE_MISNAMED"
    WITNESS_REVOKED = "WITNESS_REVOKED"
    NOT_CACHED = "NOT_CACHED"


class Answer(NamedTuple):
    """An earlier read's body; where that is the stub of a body in quarantine, ``sealed`` is the id of that body."""

    body: bytes
    sealed: str | None


class _Entry(NamedTuple):
    ref: Ref
    stamp: tuple[int, ...]
    witnesses: frozenset[str]
    sealed: str | None


Scope = tuple[str, str]
"""The world in which an answer was read, and in whose name."""

_Key = tuple[str, Scope, str]


def _key(call: ToolCall, scope: Scope) -> _Key:
    args = call.arguments()
    text = call.args if args is None else canonical(args)
    return call.tool, scope, hashlib.sha256(text).hexdigest()[:24]


class Reads:
    """At most ``cap`` answers, the least recently used goes first; ``fills`` and ``evictions`` count.

    Of at most ``revocations`` witnesses it is known that they were revoked. Beyond that their names are forgotten, and
    no answer that anybody vouches for is held or served again.
    """

    __slots__ = (
        "_cap",
        "_entries",
        "_none_believed",
        "_revocations",
        "_revoked",
        "_store",
        "epochs",
        "evictions",
        "fills",
    )

    def __init__(self, cap: int, epochs: Epochs, store: ContentStore, revocations: int = REVOCATIONS) -> None:
        self._cap = cap
        self._revocations = revocations
        self._none_believed = False
        self._store = store
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._revoked: set[str] = set()
        self.epochs = epochs
        self.fills = 0
        self.evictions = 0

    def find(self, call: ToolCall, scope: Scope) -> Answer | Miss:
        """The answer that is held in ``scope``, or why there is none."""
        stamp = self.epochs.stamp(call)
        if stamp is None:
            return Miss.RESOURCE_MISNAMED
        key = _key(call, scope)
        entry = self._entries.get(key)
        if entry is None:
            return Miss.NOT_CACHED
        if entry.stamp != stamp:
            self._drop(key)
            return Miss.NOT_CACHED
        if self._lost(entry.witnesses):
            self._drop(key)
            return Miss.WITNESS_REVOKED
        self._entries.move_to_end(key)
        ref = entry.ref
        return Answer(self._store.resolve(ref) if ref.inline is None else ref.inline, entry.sealed)

    def keep(self, call: ToolCall, scope: Scope, result: Result) -> None:
        """Hold the answer, unless one is held that still stands, or its witness was revoked already."""
        stamp = self.epochs.stamp(call)
        named = (call.meta.get("witness"), result.meta.get("witness"))
        witnesses = frozenset(each for each in named if each)
        if stamp is None or self._lost(witnesses):
            return
        key = _key(call, scope)
        held = self._entries.get(key)
        if held is not None:
            if held.stamp == stamp and not self._lost(held.witnesses):
                return
            self._drop(key)
        ref = self._store.put(result.payload)
        if ref.inline is None:
            self._store.pin(ref.digest)
        self._entries[key] = _Entry(ref, stamp, witnesses, result.meta.get("quarantine_id"))
        self.fills += 1
        if len(self._entries) > self._cap:
            self._drop(next(iter(self._entries)))  # of an OrderedDict, so at once
            self.evictions += 1

    def wrote(self, call: ToolCall) -> None:
        """Strand what the completed write reaches."""
        if self.epochs.wrote(call):
            self._drop_all()

    def bump(self) -> None:
        """A new world: nothing is held."""
        self.epochs.bump()
        self._drop_all()

    def revoke(self, witness: str) -> None:
        """Never again serve or hold an answer that ``witness`` vouches for; a revocation is not forgotten."""
        self._revoked.add(witness)
        if len(self._revoked) > self._revocations:
            self._none_believed = True
            self._revoked.clear()

    def _lost(self, witnesses: frozenset[str]) -> bool:
        """Whether one of these is believed no longer."""
        return bool(witnesses) and (self._none_believed or not self._revoked.isdisjoint(witnesses))

    def _drop(self, key: _Key) -> None:
        ref = self._entries.pop(key).ref
        if ref.inline is None:
            self._store.unpin(ref.digest)

    def _drop_all(self) -> None:
        for key in list(self._entries):
            self._drop(key)
