"""The ledger of a cache: which positions came of which message or result, so that one of them can be taken out again.

It is the only writer of its cache. A result whose body the gate holds out leaves as soon as it came, and the cache is
then, to the bit, one that never saw it. A segment that leaves after others were prefilled behind it does not undo what
they made of it: their values and raw keys stay as they are, and only their places change. What is taken out is chosen
by content, plan or attention, never by place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from seams.contract import Engine
from seams.contract.kv import Admission, Evicted, Pass, Segment
from seams.contract.syscall import Admitter, Result, ToolCall, Verdict
from seams.contract.turn import Plan
from seams.contract.verdict import Status, VerdictKind
from seams.engines.tiny import TinyModel
from seams.syscall.admission import Gates, gates
from seams.turn.evict import RecurrentCacheError, evict, require_evictable

__all__ = ["DECAY", "PINNED", "KvLedger", "SegmentError", "offer"]

PINNED = frozenset({"system"})
"""The tools whose segments attention never costs their place, unless the ledger is told others."""

DECAY = 0.9
"""What an observation leaves of the moving average before it: half of it is gone after 6.6 observations."""

_NEXT = "Run: python -m harness explain kv_evict_ns"

_ADMITTED = frozenset({VerdictKind.ALLOW, VerdictKind.DEFER, VerdictKind.TRANSFORM})
"""What lets tokens stay. Everything else takes them out, a verdict that nobody here knows too."""


class SegmentError(ValueError):
    """The ledger has no such segment, or has one of that name already."""


class KvLedger:
    """Segments one behind the other, which together are the whole cache. ``evicted`` counts those taken out.

    Without a ``gate`` of its own it has a kernel's gates over content, and every injection is kept out: no pointer can
    stand in a body's place here. A segment that was taken out stays in the ledger, so that no id is given twice; the
    ledger grows with the session and ends with it. ``decay`` lies between 0 (only the last observation counts) and 1
    (all count alike).
    """

    def __init__(
        self,
        model: TinyModel | None = None,
        gate: Admitter | None = None,
        pinned: Collection[str] = PINNED,
        decay: float = DECAY,
    ) -> None:
        if not 0 <= decay <= 1:
            raise ValueError(f"A decay of {decay} forgets no observation by parts: take 0 to 1. {_NEXT}")
        self.model = TinyModel() if model is None else model
        self.gate: Admitter = Gates(gates(paging=False)) if gate is None else gate
        self.cache = self.model.cache()
        self.evicted = 0
        self._pinned = frozenset(pinned)
        self._decay = decay
        self._segments: dict[str, Segment] = {}

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments in the order they came, those that were taken out too. Read them only."""
        return tuple(self._segments.values())

    def append(self, id: str, tool: str, ids: Sequence[int]) -> Pass | None:  # noqa: A002 - the segment's own word
        """Prefill ``ids`` as the segment ``id``; the model's pass, None where there are no ids.

        Raises:
            SegmentError: there is a segment ``id`` already.
            ValueError: one of ``ids`` is not in the vocabulary. Either way nothing has changed.
        """
        if id in self._segments:
            raise SegmentError(f"There is a segment {id!r} already: name the new one otherwise. {_NEXT}")
        start = len(self.cache)
        passed = self.model.prefill(ids, self.cache) if ids else None
        self._segments[id] = Segment(id, tool, start, len(ids), pinned=tool in self._pinned)
        return passed

    def admit_result(self, id: str, tool: str, ids: Sequence[int], body: bytes) -> Admission:  # noqa: A002 - as above
        """Append a result and have the gate look at its ``body``, of which ``ids`` are the tokens.

        Held out, it is evicted at once and there is no pass; a gate that breaks down holds it out too, and its error
        passes through. What the gate only rewrites (an oversize body) stays as it came. From a recurrent cache nothing
        leaves: ``evicted`` is then 0, and that cache has to go.
        """
        passed = self.append(id, tool, ids)
        try:
            verdict = self._judged(tool, body)
        except BaseException:
            self._evict(self._segments[id])
            raise
        if verdict.kind in _ADMITTED:
            return Admission(verdict, 0, passed)
        return Admission(verdict, self._evict(self._segments[id]), None)

    def quarantine(self, id: str) -> Evicted:  # noqa: A002 - as above
        """Evict a segment that was let in before; not ok where it is unknown or held, or the cache is recurrent."""
        segment = self._segments.get(id)
        if segment is None or segment.held:
            return Evicted(0, ok=False)
        positions = self._evict(segment)
        return Evicted(positions, ok=segment.held)

    def compact(self, ids: Iterable[str], summary: str, tool: str, tokens: Sequence[int], body: bytes) -> Admission:
        """Put the segment ``summary`` in the place of the segments ``ids``, at the end of the cache.

        The gate looks at its ``body`` first: held out, nothing changes and there is no pass.

        Raises:
            SegmentError: one of ``ids`` is unknown, or ``summary`` is not.
            RecurrentCacheError: the segments could not leave, so that their summary would only be added to them.
            ValueError: one of ``tokens`` is not in the vocabulary. In each case nothing has changed.
        """
        named = tuple(ids)
        unknown = [each for each in named if each not in self._segments]
        if unknown or summary in self._segments:
            told = f"no segment {unknown[0]!r}" if unknown else f"a segment {summary!r} already"
            raise SegmentError(f"The ledger has {told}, so nothing was compacted. {_NEXT}")
        require_evictable(self.cache)
        self.model.require(tokens)
        verdict = self._judged(tool, body)
        if verdict.kind not in _ADMITTED:
            return Admission(verdict, 0, None)
        evicted = sum(self.quarantine(each).positions for each in named)
        return Admission(verdict, evicted, self.append(summary, tool, tokens))

    def apply_plan(self, plan: Plan) -> int:
        """Evict the segments whose ids ``plan`` elides and does not select; how many left. Other ids are not ours."""
        selected = {each.id for each in plan.selected}
        return sum(self.quarantine(each.id).ok for each in plan.elided if each.id not in selected)

    def observe(self, attention: ArrayLike) -> None:
        """Add one weight a position, as :class:`Pass` has them, to each segment's statistics.

        A segment's share ``a`` of an observation goes into ``cumulative += a`` and ``ema = decay * ema + a``.

        Raises:
            ValueError: it is not one finite weight a position.
        """
        weights = np.asarray(attention, dtype=np.float64)
        if weights.shape != (len(self.cache),) or not np.isfinite(weights).all():
            raise ValueError(
                f"An observation of shape {weights.shape} is not one finite weight for each of {len(self.cache)} "
                f"positions: pass on the attention of the newest pass. {_NEXT}"
            )
        for each in self._segments.values():
            if not each.held:
                share = float(weights[each.start : each.start + each.length].sum())
                each.attended += 1
                each.cumulative += share
                each.ema = self._decay * each.ema + share

    def evict_coldest(self) -> str | None:
        """Evict the segment of the lowest moving average and return its id; of equals, the earliest.

        None where there is none to choose: pinned ones stay, and so do those without positions or not yet attended to.
        """
        choice = [each for each in self._segments.values() if each.length and each.attended and not each.pinned]
        if not choice:
            return None
        coldest = min(choice, key=lambda each: each.ema)
        self._evict(coldest)
        return coldest.id if coldest.held else None

    def clone(self) -> KvLedger:
        """A ledger with a cache and segments of its own, on the same model and behind the same gate."""
        copy = KvLedger(self.model, self.gate, self._pinned, self._decay)
        copy.cache = self.cache.clone()
        copy.evicted = self.evicted
        copy._segments = {id: replace(each) for id, each in self._segments.items()}  # noqa: A001 - as above
        return copy

    def _judged(self, tool: str, body: bytes) -> Verdict:
        return self.gate.admit(ToolCall(tool), Result(Status.OK, body))

    def _evict(self, segment: Segment) -> int:
        """Take the segment out and renumber those behind it; from a recurrent cache nothing is taken."""
        try:
            positions = evict(self.cache, segment.start, segment.length)
        except RecurrentCacheError:
            return 0
        behind = False
        for each in self._segments.values():
            if behind:
                each.start -= positions
            behind = behind or each is segment
        segment.length, segment.held = 0, True
        segment.attended, segment.cumulative, segment.ema = 0, 0.0, 0.0
        self.evicted += 1
        return positions


def offer(engine: Engine) -> KvLedger:  # noqa: ARG001 - evicting calls no engine, so any cut is the same
    """An empty ledger over the small model, behind the gates over content."""
    return KvLedger()
