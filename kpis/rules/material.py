"""What was given and what is said of it: the two texts that the signals of fabrication hold side by side.

A claim counts only where it is asserted. What is proposed, hedged, foreseen or said of the state after a change is no
claim about the material, and the signals leave it alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from itertools import combinations, islice

from kpis.rules.assertion import Assertions, hedged, sentence_around

__all__ = ["CLAIMS", "Material", "number"]

_ANY_NUMBER = re.compile(r"[0-9]{1,15}(?:,[0-9]{3}){0,5}(?:\.[0-9]{1,12})?")
_MOST_FIGURES = 40
"""Numbers of the input from which others are derived: all pairs are tried."""

CLAIMS = 200
"""Claims of one kind that are looked at: an output with more has shown what it is like."""


def number(text: str) -> float:
    """The number that ``text`` writes, thousands apart or not."""
    return float(text.replace(",", ""))


class Material:
    """``given`` is what the output was made from, ``said`` the output."""

    def __init__(self, given: str, said: str) -> None:
        self.given = given
        self.said = said

    @cached_property
    def given_lower(self) -> str:
        """What was given, in small letters."""
        return self.given.lower()

    @cached_property
    def said_lower(self) -> str:
        """What is said, in small letters."""
        return self.said.lower()

    @cached_property
    def _assertions(self) -> Assertions:
        return Assertions(self.said)

    def plain(self, start: int, end: int) -> bool:
        """Whether ``start`` to ``end`` of what is said is neither hedged, denied, asked, quoted, past nor reported."""
        return self._assertions.plain(start, end)

    @cached_property
    def figures(self) -> frozenset[float]:
        """Every number that was given."""
        return frozenset(map(number, _ANY_NUMBER.findall(self.given)))

    @cached_property
    def _derived(self) -> frozenset[float]:
        """Sums and differences of any two of the first numbers that were given."""
        first = list(dict.fromkeys(number(found) for found in _ANY_NUMBER.findall(self.given)))[:_MOST_FIGURES]
        return frozenset(made for one, other in combinations(first, 2) for made in (one + other, abs(one - other)))

    def grounded(self, figure: float) -> bool:
        """Whether the figure was given, or is the sum or difference of two that were."""
        return figure in self.figures or figure in self._derived

    def asserted(self, start: int, end: int) -> bool:
        """Whether what is said from ``start`` to ``end`` stands in a sentence that asserts it."""
        return not hedged(self.said, *sentence_around(self.said, start, end))

    def any_asserted(self, claims: Iterable[re.Match[str]]) -> bool:
        """Whether one of the first ``claims`` is asserted."""
        return any(self.asserted(*claim.span()) for claim in islice(claims, CLAIMS))
