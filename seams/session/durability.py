"""How long a result is kept for, and the policy that says which results earn a place in the durable image.

The class comes from the gates, which read it off the wording (``seams.syscall.durability``). The books are kept when a
result is recorded: what the policy left out is in no table, and a rate that is taken from the table reads one.
"""

from __future__ import annotations

from seams.contract.recall import Policy, Promotions
from seams.contract.turn import Durability

__all__ = ["Promotion", "normalised"]

_CLASSES = {each.value: each for each in (Durability.DURABLE, Durability.SESSION, Durability.TURN)}


def normalised(word: str | None) -> Durability:
    """The class called ``word``: durable or session, and turn for whatever else it says.

    ``bounded`` is none of these: no wording says until when, so a page is bounded by who knows.
    """
    return _CLASSES.get(word or "", Durability.TURN)


class Promotion:
    """Which harmless results are kept under ``policy``, and the count of both kinds."""

    __slots__ = ("books", "policy")

    def __init__(self, policy: Policy = Policy.WARN, books: Promotions | None = None) -> None:
        self.policy = Policy(policy)
        self.books = Promotions() if books is None else books

    def admits(self, durability: Durability) -> bool:
        """Count one harmless result, and say whether it gets a page."""
        self.books.benign += 1
        if durability is Durability.DURABLE:
            return True
        self.books.refused[durability.value] = self.books.refused.get(durability.value, 0) + 1
        return self.policy is Policy.WARN
