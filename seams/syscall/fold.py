"""The fold: many opinions about one call become one verdict, the most restrictive.

A pure function over rungs in their order. It never admits by accident: no rung, no opinion, or only undecided ones
is a refusal, and a kind that nobody registered ranks as high as a deny.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from seams.contract.syscall import Rung, ToolCall, Verdict
from seams.contract.verdict import FOLD_RANK, UNKNOWN_RANK, ReasonCode, VerdictKind

__all__ = ["Chain", "Claim", "KindError", "claim_of", "fold", "fold_rank", "kind_name", "register_kind"]

Adjudicate = Callable[[ToolCall], Verdict]

Claim = tuple[str, str]
"""Who demands a witness, and for what."""

_rank: dict[int, int] = dict(FOLD_RANK)
_CORE_NAME = {kind.value: kind.name for kind in VerdictKind}
_registered: dict[int, str] = {}

_DEFER = VerdictKind.DEFER
_INDETERMINATE = VerdictKind.INDETERMINATE
_EMPTY_POLICY = Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "empty-policy")
_ALL_DEFER = Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "all-defer")
_RESTLESS = Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "restless")

_REWRITES = 8
"""Rewrites of one call that are followed; rungs that go on rewriting each other's work never agree."""


class KindError(ValueError):
    """A registration that would change what a kind means."""


def register_kind(code: int, name: str, rank: int) -> None:
    """Add an out-of-tree verdict kind with its fold rank, once and for the process.

    Raises:
        KindError: the code is reserved (below 1024) or already has another meaning.
    """
    if code < 1024:
        raise KindError(f"Verdict kind {name} wants code {code}; out-of-tree kinds begin at 1024.")
    if code in _registered and (_registered[code], _rank[code]) != (name, rank):
        raise KindError(f"Verdict kind {code} is already registered as {_registered[code]}.")
    _registered[code] = name
    _rank[code] = rank


def kind_name(kind: int) -> str:
    """The name of a kind: core, then registered, then ``KIND_<n>``."""
    return _CORE_NAME.get(kind) or _registered.get(kind) or f"KIND_{int(kind)}"


def fold_rank(kind: int) -> int:
    """How restrictive ``kind`` is; 100 where nobody registered it."""
    return _rank.get(kind, UNKNOWN_RANK)


def fold(rungs: Iterable[Adjudicate], call: ToolCall) -> Verdict:
    """The verdict of the highest rank, the earlier one among equals; later rungs are not asked after a deny.

    Indeterminate counts only where nothing else was said, and then it refuses.
    """
    best: Verdict | None = None
    best_rank = -1
    undecided: Verdict | None = None
    asked = False
    rank_of = _rank
    for adjudicate in rungs:
        asked = True
        verdict = adjudicate(call)
        kind = verdict.kind
        if kind == _DEFER:
            continue
        if kind == _INDETERMINATE:
            undecided = undecided or verdict
            continue
        rank = rank_of.get(kind, UNKNOWN_RANK)
        if rank > best_rank:
            best, best_rank = verdict, rank
            if rank >= UNKNOWN_RANK:
                break
    if best is not None:
        return best
    if undecided is not None:
        return Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, undecided.by, meta={"fold": "indeterminate"})
    return _ALL_DEFER if asked else _EMPTY_POLICY


def claim_of(verdict: Verdict) -> Claim:
    """What a REQUIRE_WITNESS wants to be corroborated."""
    return verdict.by, verdict.meta.get("claim", "")


class Chain:
    """Rungs in rank order, and for each tool the ones that are asked about it. Immutable, so lookups need no lock."""

    __slots__ = ("_everywhere", "_scoped", "rungs")

    def __init__(self, rungs: Sequence[Rung]) -> None:
        self.rungs: tuple[Rung, ...] = tuple(sorted(rungs, key=lambda rung: rung.rank))
        named = {tool for rung in self.rungs if rung.tools is not None for tool in rung.tools}
        self._everywhere: tuple[Adjudicate, ...] = tuple(r.adjudicate for r in self.rungs if r.tools is None)
        self._scoped: dict[str, tuple[Adjudicate, ...]] = {
            tool: tuple(r.adjudicate for r in self.rungs if r.tools is None or tool in r.tools) for tool in named
        }

    def fold(self, call: ToolCall, granted: Collection[Claim] = ()) -> Verdict:
        """The folded verdict of the rungs in scope; a claim that is ``granted`` is corroborated and an ALLOW.

        A TRANSFORM puts other arguments in place, which nobody has judged: a synonym could carry what a predicate
        refuses under the proper name, or a second rung's redaction could be lost to the first one's repair. So the
        rewritten call is folded too, uncounted, until a fold leaves it as it is. A refusal then stands; further
        rewrites go into the first verdict.
        """
        rungs = self._scoped.get(call.tool, self._everywhere)
        if granted:
            rungs = tuple(_granting(rung, granted) for rung in rungs)
        verdict = fold(rungs, call)
        if verdict.kind != VerdictKind.TRANSFORM or verdict.new_args is None:
            return verdict
        return _settled(rungs, call, verdict)


def _granting(adjudicate: Adjudicate, granted: Collection[Claim]) -> Adjudicate:
    def ask(call: ToolCall) -> Verdict:
        verdict = adjudicate(call)
        if verdict.kind == VerdictKind.REQUIRE_WITNESS and claim_of(verdict) in granted:
            return Verdict(VerdictKind.ALLOW, ReasonCode.NONE, verdict.by, meta={"witness": "confirmed"})
        return verdict

    return ask


def _settled(rungs: Sequence[Adjudicate], call: ToolCall, first: Verdict) -> Verdict:
    args = first.new_args
    for _ in range(_REWRITES):
        again = fold(rungs, ToolCall(call.tool, args or b"", call.meta, 0, call.trace_id))
        unopposed = again.kind == VerdictKind.ALLOW or again is _ALL_DEFER
        if unopposed or (again.kind == VerdictKind.TRANSFORM and again.new_args == args):
            return first if args is first.new_args else replace(first, new_args=args)
        if again.kind != VerdictKind.TRANSFORM or again.new_args is None:
            return again
        args = again.new_args
    return _RESTLESS
