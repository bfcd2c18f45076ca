"""What the turn probes plan from: messages as spans, and the forecast, by the rules that the seam's contract states.

They are the instrument's own on purpose. A subject that lowered, priced or pinned the history for its own examination
could make it easier, and then be held against that. Nothing is scored or planned here, and no clock is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from seams.contract.turn import Durability, Forecast, Message, Outlook, Span

__all__ = [
    "forecast_of",
    "outlook_of",
    "pinned_steps",
    "role_of",
    "span_of",
    "token_cost",
    "tokens_of",
    "utf8",
    "words_of",
]

_SHOWN_BYTES = 120
_DURABILITY = {"system": Durability.DURABLE, "assistant": Durability.TURN}
_words = re.compile(r"[a-z0-9]{3,}").findall
_letters = re.compile(r"[^\W_]{3,}").findall


def utf8(text: str) -> bytes:
    """The bytes of ``text``; half a surrogate pair has some too."""
    return text.encode("utf-8", "surrogatepass")


def token_cost(size: int) -> int:
    """Tokens of ``size`` bytes: a quarter, rounded up."""
    return -(-size // 4)


def tokens_of(messages: Sequence[Message]) -> int:
    """Tokens of the texts of ``messages``."""
    return sum(token_cost(len(utf8(each.content))) for each in messages)


def words_of(*texts: str) -> frozenset[str]:
    """The distinct lower-case words of three or more letters and digits in ``texts``."""
    return frozenset(_letters(" ".join(texts).lower()))


def role_of(message: Message) -> str:
    """The message's role; one without is the user's."""
    return message.role or "user"


def span_of(step: int, role: str, body: str, durability: Durability, *, sealed: bool = False) -> Span:
    """The span of a message: role and first line (the size alone where sealed), SHA-256 and size of its body."""
    data = utf8(body)
    line = f"[sealed: {len(data)} bytes]"
    if not sealed:
        line = data.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
        line = line.encode()[:_SHOWN_BYTES].decode("utf-8", "ignore")
    digest = sha256(data).hexdigest()
    return Span(f"span:{step}", step, role, f"{role}: {line}", digest, len(data), durability, sealed)


def pinned_steps(messages: Sequence[Message]) -> list[int]:
    """Where the first goal, the first system, the first user and the last user message stand, in this order, once."""
    roles = [role_of(each) for each in messages]
    firsts = [roles.index(role) for role in ("goal", "system", "user") if role in roles]
    users = [step for step, role in enumerate(roles) if role == "user"]
    return list(dict.fromkeys([*firsts, *users[-1:]]))


def forecast_of(messages: Sequence[Message]) -> Forecast:
    """The pins, and as intents the distinct words of the last user message."""
    asked = next((each.content for each in reversed(messages) if role_of(each) == "user"), "")
    intents = tuple(dict.fromkeys(_words(asked.lower())))
    return Forecast(intents=intents, pins=tuple(f"span:{step}" for step in pinned_steps(messages)))


def outlook_of(messages: Sequence[Message]) -> Outlook:
    """One span a message, and the forecast."""
    spans = tuple(
        span_of(step, role_of(each), each.content, _DURABILITY.get(each.role, Durability.SESSION))
        for step, each in enumerate(messages)
    )
    return Outlook(spans, forecast_of(messages))
