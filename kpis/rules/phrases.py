"""Looking for a phrase that somebody wrote: in small letters, through disguise, over the end of a line.

Phrase and text are folded alike, without which a phrase in another script would never be found. How far that goes is
what the corrections of the settings say.
"""

from __future__ import annotations

from functools import lru_cache

from kpis.rules.fold import fold
from kpis.rules.subject import Subject
from kpis.terms.evaluation_words import Correction

__all__ = ["as_looked_for", "looked_at"]

_LONGER = "\u0130"
"""The Turkish dotted capital I, the one character whose small letters are two."""


def as_looked_for(phrase: str, subject: Subject) -> str:
    """``phrase`` as it stands in :func:`looked_at`; empty if nothing of it can be seen."""
    return _plain(
        phrase,
        as_reference=not subject.has(Correction.DISGUISE_IS_SEEN),
        one_line=subject.has(Correction.PHRASE_OVER_LINES),
        in_place=subject.has(Correction.LOWERING_KEEPS_PLACES),
    )


@lru_cache(maxsize=1024)
def _plain(phrase: str, *, as_reference: bool, one_line: bool, in_place: bool) -> str:
    folded = fold(phrase, as_reference=as_reference).text
    lower = (folded.replace(_LONGER, "i") if in_place else folded).lower()
    return lower.replace("\n", " ") if one_line else lower


def looked_at(subject: Subject) -> str:
    """The folded output in small letters; on one line, and as long as it was, unless that is to be as the reference."""
    lower = subject.folded_line if subject.has(Correction.PHRASE_OVER_LINES) else subject.folded_lower
    if len(lower) == len(subject.folded.text) or not subject.has(Correction.LOWERING_KEEPS_PLACES):
        return lower
    in_place = subject.folded.text.replace(_LONGER, "i").lower()
    return in_place.replace("\n", " ") if subject.has(Correction.PHRASE_OVER_LINES) else in_place
