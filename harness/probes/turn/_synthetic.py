"""The stores that are planned where no session is: spans of many sizes, the same every time.

Nothing is scored or planned here, and no clock is read.
"""

from __future__ import annotations

from harness.probes.turn._outlook import span_of
from seams.contract.turn import Durability, Forecast, Span

__all__ = ["DURABILITIES", "synthetic_body", "synthetic_forecast", "synthetic_spans"]

DURABILITIES = (Durability.SESSION, Durability.TURN, Durability.BOUNDED, Durability.DURABLE, Durability.TURN)
"""How long what a span says stays true, span by span in turn."""

_SUBJECTS = ("auth token rotation", "refund fee policy", "failing unit test", "flight search results", "billing expiry")
_ROLES = ("user", "assistant", "tool", "Read", "WebFetch", "tool", "assistant")


def synthetic_body(number: int, largest: int) -> str:
    """The text of that number: a line about one of five subjects, and 40 to ``40 + largest`` bytes below it."""
    return f"{_SUBJECTS[number % 5]} item {number}\n" + "." * (40 + 37 * number % largest)


def synthetic_spans(n: int) -> list[Span]:
    """A store of ``n`` spans, the same every time: some tens to 2,400 bytes, each 11th a duplicate, each 17th sealed.

    The periods share no divisor, so that role, subject, size and marks do not move together.
    """
    spans = []
    for step in range(n):
        body = synthetic_body(step - 3 if step % 11 == 10 else step, 2_360)
        spans.append(span_of(step, _ROLES[step % 7], body, DURABILITIES[step % 5], sealed=step % 17 == 9))
    return spans


def synthetic_forecast(n: int) -> Forecast:
    """Two intents, the first and the last span pinned, one span released."""
    pins = ("span:0", f"span:{n - 1}")
    return Forecast(intents=("auth token rotation", "refund fee"), horizon=4, pins=pins, releases=("span:2",))
