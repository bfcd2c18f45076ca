"""What can be wrong with a catalog or with a selection from it, as whole sentences.

Each message names the file, line or KPI and ends with the next command to type. Nothing is printed here, and no exit
code is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["CatalogError", "SelectionError", "did_you_mean"]


class CatalogError(ValueError):
    """A KPI file cannot be used; ``sentences`` has one sentence a fault."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.sentences = tuple(sentences)
        super().__init__("\n".join(self.sentences))


class SelectionError(ValueError):
    """A layer, KPI or parameter was asked for that the catalog does not have: one sentence."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean X?)`` with the closest of ``known``, or nothing where none is close."""
    from difflib import get_close_matches  # only a mistake pays for it

    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)  # of an id and its symbol the id, which comes first
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f" (did you mean {by_lower[close[0]]}?)" if close else ""
