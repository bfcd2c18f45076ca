"""A number in an input, so that no two calls are given the same one and none can be answered from memory.

It is put in outside the clock and moves nothing: texts stay as long as they were, and words as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from harness.probes.turn._outlook import role_of, utf8
from seams.contract.turn import Message

__all__ = ["MARK", "digest_of", "last_asked", "marked", "renumbered"]

MARK = 8
"""Characters at the end of a text that a number may stand in."""


def marked(text: str, number: int) -> str:
    """``text`` with ``number`` in the place of its last characters, by twos, so that it is no word; as long as before.

    A text of fewer than ``MARK`` characters, or that ends in others than ASCII, holds the end of the number alone.
    """
    digits = f"{number % 1_000_000:06}"
    mark = "-".join(digits[at : at + 2] for at in range(0, 6, 2))
    tail = text[-MARK:]
    room = len(tail) - max((place + 1 for place, each in enumerate(tail) if not each.isascii()), default=0)
    return text[: len(text) - room] + mark[MARK - room :]


def renumbered(messages: Sequence[Message], step: int, number: int) -> list[Message]:
    """A list of its own, with the text at ``step`` :func:`marked`."""
    found = list(messages)
    found[step] = found[step]._replace(content=marked(found[step].content, number))
    return found


def last_asked(messages: Sequence[Message]) -> int:
    """Where the last user message stands, which every view holds; the last message of all where there is none."""
    asked = (step for step in range(len(messages) - 1, -1, -1) if role_of(messages[step]) == "user")
    return next(asked, len(messages) - 1)


def digest_of(text: str) -> str:
    """The SHA-256 of ``text``, which is the handle of its span."""
    return sha256(utf8(text)).hexdigest()
