"""Spans: what the planner may know of a message, made from its role and its text.

A span keeps a digest, a size and one line; the text stays in the store and comes back through :meth:`SpanStore.page_in`
alone, which refuses what was sealed. A sealed span does not show even its first line. Nothing here
scores a span or decides whether it is worth its tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from hashlib import sha256

from seams.contract.turn import Durability, RefusalReason, Selected, Span

__all__ = [
    "DESCRIPTOR_BYTES",
    "SpanStore",
    "Tokenizer",
    "byte_length",
    "durability_of",
    "make_span",
    "span_cost",
    "token_cost",
    "utility_of",
]

DESCRIPTOR_BYTES = 120
"""Bytes of the first line that a descriptor shows, its role prefix not counted."""

Tokenizer = Callable[[str], int]
"""Counts the tokens of a text."""

_DURABILITIES = {each.value: each for each in Durability}


def token_cost(size: int) -> int:
    """Tokens of ``size`` bytes at four bytes a token, rounded up; 0 where there is nothing."""
    return (size + 3) // 4 if size > 0 else 0


def span_cost(span: Span, tokenizer: Tokenizer | None = None) -> int:
    """Tokens of a span: by its size, or what ``tokenizer`` counts in role and descriptor."""
    if tokenizer is None:
        return token_cost(span.bytes)
    return tokenizer(f"{span.role} {span.descriptor}")


def byte_length(text: str) -> int:
    """Bytes of ``text`` in UTF-8, without encoding it where it is plain ASCII."""
    return len(text) if text.isascii() else len(_encoded(text))


def durability_of(word: str) -> Durability:
    """The durability called ``word``; an unknown word promises the least."""
    return _DURABILITIES.get(word, Durability.TURN)


def utility_of(attrs: Mapping[str, object] | None) -> float:
    """The rating under ``utility``, as a number or its spelling; 0 where it is absent or no finite number."""
    raw = attrs.get("utility") if attrs else None
    if not isinstance(raw, int | float | str):
        return 0.0
    try:
        rating = float(raw)
    except (ValueError, OverflowError):
        return 0.0
    return rating if math.isfinite(rating) else 0.0


def _encoded(text: str) -> bytes:
    # Recorded text may hold half a surrogate pair; it has bytes all the same.
    return text.encode("utf-8", "surrogatepass")


def _first_line(data: bytes) -> str:
    end = data.find(b"\n")
    line = (data if end < 0 else data[:end]).decode("utf-8", "replace").strip()
    if line.isascii():
        return line[:DESCRIPTOR_BYTES]
    return line.encode()[:DESCRIPTOR_BYTES].decode("utf-8", "ignore")


def make_span(
    step: int,
    role: str,
    body: str,
    durability: Durability = Durability.TURN,
    *,
    sealed: bool = False,
    utility: float = 0.0,
) -> Span:
    """The span of the message at ``step`` (from 0), called ``span:<step>``.

    The descriptor is the role and the first line of the body, stripped and cut at 120 bytes, never inside a
    character.
    """
    data = _encoded(body)
    shown = f"[sealed: {len(data)} bytes]" if sealed else _first_line(data)
    digest = sha256(data).hexdigest()
    return Span(f"span:{step}", step, role, f"{role}: {shown}", digest, len(data), durability, sealed, utility=utility)


class SpanStore:
    """Texts in the order in which they came, and their spans; the only way back from a span to its text."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._bodies: list[str] = []
        self._rows: dict[str, int] = {}

    @property
    def spans(self) -> tuple[Span, ...]:
        """Every span, in step order."""
        return tuple(self._spans)

    def add(
        self,
        role: str,
        body: str,
        durability: Durability = Durability.TURN,
        *,
        sealed: bool = False,
        utility: float = 0.0,
    ) -> Span:
        """Keep ``body`` and return its span."""
        span = make_span(len(self._spans), role, body, durability, sealed=sealed, utility=utility)
        self._rows[span.id] = span.step
        self._spans.append(span)
        self._bodies.append(body)
        return span

    def span(self, span_id: str) -> Span | None:
        """The span called ``span_id``; None where there is none."""
        row = self._rows.get(span_id)
        return None if row is None else self._spans[row]

    def page_in(self, selected: Selected) -> str | RefusalReason:
        """The text of a selected span, or why it stays out; the store's own mark counts, not the plan."""
        row = self._rows.get(selected.id)
        if row is None:
            return RefusalReason.PAGE_IN
        return RefusalReason.SEALED if self._spans[row].sealed else self._bodies[row]
