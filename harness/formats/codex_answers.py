"""The answers of one Codex thread: a counter that is new, and the parts that belong to it.

Which answer a part belongs to is told by order, in one of two ways: old builds write the counter of an answer before
its parts, new ones after them. A turn whose first counter finds parts waiting shows that the file is a new one. This
module refuses to guess usage: an answer that was cut off before its counter has unknown tokens.
"""

from __future__ import annotations

from harness.formats.codex_calls import Place, digest_of
from harness.formats.codex_copies import Copies
from harness.formats.codex_shapes import Info
from harness.formats.codex_usage import Meter
from kpis.terms.trace import Request, RequestStatus, Tokens, ToolCall

__all__ = ["REVIEWED", "Answers"]

REVIEWED = "review-"
"""How the ids of a review's answers begin: they are made of what was counted, not of the thread that shows it."""


class _Waiting:
    """Parts of an answer whose counter was not seen yet. ``answered``: a tool's result came behind them."""

    __slots__ = ("answered", "calls", "chars", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.calls: list[ToolCall] = []
        self.chars = 0
        self.answered = False


class Answers:
    """``billed`` are requests with their position in the thread, ``unbilled`` those without a counter.

    ``copied`` holds the positions in ``billed`` of those that are the parent's. ``model`` and ``review`` are set by
    whoever reads the lines that say them.
    """

    __slots__ = (
        "_after", "_by_order", "_copies", "_counted", "_newest", "_provider", "_thread", "_waiting", "billed", "copied",
        "meter", "model", "review", "unbilled",
    )  # fmt: skip

    def __init__(self, thread: str, provider: str | None, copies: Copies) -> None:
        self.meter = Meter()
        self.billed: list[tuple[int, Request]] = []
        self.unbilled: list[tuple[int, Request]] = []
        self.copied: set[int] = set()
        self.model: str | None = None
        self.review = False
        self._thread = thread
        self._provider = provider
        self._copies = copies
        self._by_order: dict[int, Request] = {}
        self._newest: Request | None = None
        self._waiting: _Waiting | None = None
        self._after = False
        self._counted = False

    def opened(self, at: int) -> None:
        """A turn begins at position ``at``."""
        self.flush(RequestStatus.OK, at)
        self._counted = False

    def given(self, place: Place, at: int, chars: int, call: ToolCall | None) -> None:
        """A part of an answer, of ``chars`` characters that the file shows."""
        newest = self._newest
        if not self._after and self._counted and newest is not None:
            newest.visible_chars = (newest.visible_chars or 0) + chars
            if call is not None:
                call.request_id = newest.request_id
            return
        waiting = self._waiting
        if waiting is not None and waiting.answered and not self.meter.order:
            # The file has no counters: what follows a result is the next answer.
            self.flush(RequestStatus.OK, at)
            waiting = None
        if waiting is None:
            waiting = self._waiting = _Waiting(place)
        waiting.chars += chars
        if call is not None:
            waiting.calls.append(call)

    def answered(self) -> None:
        """A tool's result came."""
        if self._waiting is not None:
            self._waiting.answered = True

    def flush(self, status: RequestStatus, at: int) -> None:
        """What waits gets no counter any more."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        request = self._request(f"{self._thread}.u{len(self.unbilled)}", Tokens(), waiting.place)
        request.status, request.visible_chars = status, waiting.chars
        self.unbilled.append((at, request))
        for call in waiting.calls:
            call.request_id = request.request_id

    def count(self, info: Info, place: Place, at: int) -> tuple[Request, bool] | None:
        """A counter: a new answer and whether it is the parent's; None where it shows nothing new."""
        meter = self.meter
        distinct = len(meter.order)
        tokens = meter.take(info)
        if len(meter.order) == distinct:
            known = self._by_order.get(meter.shown)
            if known is not None:
                known.n_lines += 1
            return None
        copied = self._copies.vector(meter.vector, at)
        if tokens is None:
            return None
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not self._counted:
            self._after = True
        self._counted = True
        request = self._request(self._identifier(tokens), tokens, place)
        request.context_window = info.model_context_window
        if waiting is not None:
            request.visible_chars = waiting.chars
            request.t_first = waiting.place.when
            for call in waiting.calls:
                call.request_id = request.request_id
        self._by_order[meter.shown] = self._newest = request
        if copied:
            self.copied.add(len(self.billed))
        self.billed.append((at, request))
        return request, copied

    def _identifier(self, tokens: Tokens) -> str:
        meter = self.meter
        if not self.review:
            return f"{self._thread}.{meter.shown}"
        # A review's answers stand in two files of which neither names the other: what both say is their id.
        shown = repr((meter.vector, tokens.fresh_in, tokens.cache_read, tokens.out_total))
        return REVIEWED + digest_of(shown.encode("utf-8", "backslashreplace"))

    def _request(self, request_id: str, tokens: Tokens, place: Place) -> Request:
        return Request(
            request_id,
            self._thread,
            place.turn,
            0,
            tokens,
            self.model,
            t_first=place.when,
            t_last=place.when,
            provider=self._provider,
            file=place.file,
            line=place.line,
        )
