"""A case under the rules' eyes: what several of them need of its text is worked out once, and only when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from kpis.rules.fold import Folded, fold
from kpis.rules.utf16 import units
from kpis.rules.words import split_words
from kpis.terms.evaluation import Case, RuleClaim, RuleFacts
from kpis.terms.evaluation_words import Correction

__all__ = ["Rule", "Subject"]

KELVIN = "\u212a"
"""The only character of one small letter that is ASCII; the dotted capital I has two, which shows in the length."""


@dataclass(frozen=True)
class Subject:
    """One case, with its text folded and lowered when a rule wants it so."""

    case: Case

    @property
    def output(self) -> str:
        """The text as it came."""
        return self.case.output

    @cached_property
    def folded(self) -> Folded:
        """The text without disguises, with the way back to places in the text as it came."""
        return fold(self.case.output, as_reference=not self.has(Correction.DISGUISE_IS_SEEN))

    @cached_property
    def folded_lower(self) -> str:
        """The folded text in small letters, for finding words that a pattern cannot do without."""
        return self.folded.text.lower()

    @cached_property
    def folded_line(self) -> str:
        """The folded text in small letters and on one line; as long as :attr:`folded_lower`."""
        return self.folded_lower.replace("\n", " ")

    @cached_property
    def lower(self) -> str:
        """The text in small letters."""
        return self.case.output.lower()

    @cached_property
    def level(self) -> str:
        """The text in small letters, place by place: where a small letter takes more room, only ASCII is lowered."""
        if len(self.lower) == len(self.output):
            return self.lower
        return self.output.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")

    @cached_property
    def one_line(self) -> str:
        """The text in small letters with a space for each run of white space, and none around it."""
        return " ".join(self.lower.split())

    @cached_property
    def words(self) -> frozenset[str] | None:
        """The words of the text in small letters; None where a small letter of ASCII stands for one that is not."""
        if not self.output.isascii() and (len(self.lower) != len(self.output) or KELVIN in self.output):
            return None
        return frozenset(split_words(self.lower))

    def lacks(self, words: tuple[frozenset[str], ...]) -> bool:
        """Whether the text has certainly no word of one of ``words``."""
        there = self.words
        if there is None:
            return False
        for some in words:  # noqa: SIM110 - a generator costs more than what it asks
            if there.isdisjoint(some):
                return True
        return False

    def length(self, text: str) -> int:
        """The characters of a text of the case; for the reference, its UTF-16 code units."""
        return len(text) if self.has(Correction.CHARACTERS_ARE_COUNTED) else units(text)

    def given(self, text: str | None) -> bool:
        """Whether a text of the case counts as sent."""
        if not text:
            return False
        return bool(text.strip()) if self.has(Correction.BLANK_IS_ABSENT) else True

    def has(self, correction: Correction) -> bool:
        """Whether the answers carry this correction."""
        return correction in self.case.settings.corrections


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule declares, and the function that looks."""

    facts: RuleFacts
    evaluate: Callable[[Subject], RuleClaim]
