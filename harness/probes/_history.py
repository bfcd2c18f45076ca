"""A long history for the growth points: turns of a desk's work with the sizes that agents really carry.

Synthetic and the same everywhere: every text is drawn from its own place in the history. A turn holds a request of
some words, a plan, and two tool results of 1 and 4 kB, so that a hundred turns are more than half a megabyte. Nothing
is timed here, and nobody's text is in it.
"""

from __future__ import annotations

from random import Random

from harness.measure.clock import Undefined

__all__ = ["MESSAGES_A_TURN", "messages", "turns_of"]

MESSAGES_A_TURN = 4

_WORDS = ("seat", "fare", "gate", "ticket", "luggage", "voucher", "transfer", "cabin", "refund", "invoice", "visa")
_BYTES = {"user": 160, "assistant": 420, "tool": 1_000, "long": 4_000}


def turns_of(history: str) -> int | Undefined:
    """The number that a parameter names, or why it names none."""
    if history.isascii() and history.isdecimal() and 0 < int(history) <= 100_000:
        return int(history)
    return Undefined("bad-value", f"history = {history} is not a number of turns from 1 to 100,000.")


def _text(rng: Random, size: int, line: str) -> str:
    """``size`` bytes that begin with ``line``, in lines of twelve words."""
    parts = [line]
    length = len(line)
    while length < size:
        more = "\n" + " ".join(rng.choices(_WORDS, k=12))
        parts.append(more)
        length += len(more)
    return "".join(parts)[:size]


def messages(turns: int) -> list[tuple[str, str]]:
    """(role, text) of a history of that many turns, a system prompt before them; four messages a turn."""
    found = [("system", _text(Random("system"), 2_000, "You run the travel desk. Keep to the fare rules."))]
    for turn in range(turns):
        rng = Random(f"turn {turn}")
        asked = " ".join(rng.choices(_WORDS, k=6))
        found += [
            ("user", _text(rng, _BYTES["user"], f"Request {turn}: {asked}")),
            ("assistant", _text(rng, _BYTES["assistant"], f"Plan {turn}: look up {asked}")),
            ("tool", _text(rng, _BYTES["tool"], f"Result {turn}a: {asked}")),
            ("tool", _text(rng, _BYTES["long"], f"Result {turn}b: {asked}")),
        ]
    return found
