"""A KPI that is no more: since when, why, and what to read in its place.

Leaving the catalog is a transition of the registry and not a deletion: a table ``[retired.<id>]`` stays behind, so that
whoever still shows the number is told. Refuses nothing by itself; :func:`revived` says where a retirement is undone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

__all__ = ["Retired", "revived"]


@dataclass(frozen=True, slots=True)
class Retired:
    """One tombstone: the id that is not used again, the reason, and the day.

    ``replacement`` is the id of a live KPI; where there is none, ``no_replacement`` says why.

    Raises:
        ValueError: both are given, or neither.
    """

    id: str
    reason: str
    on: date
    replacement: str | None = None
    no_replacement: str | None = None
    origin: str = "catalog"

    def __post_init__(self) -> None:
        if (self.replacement is None) == (self.no_replacement is None):
            raise ValueError(f"retired.{self.id} needs a replacement, or no_replacement with the reason, not both.")

    @property
    def instead(self) -> str:
        """What to read in its place, in words."""
        return f"read {self.replacement}" if self.replacement is not None else f"nothing: {self.no_replacement}"


def revived(retired: Sequence[Retired], live: Collection[str]) -> Iterator[tuple[str, str]]:
    """(id, sentence) of each retirement that the catalog undoes; ``live`` are the names of all live KPIs.

    An id that lives again, one that is retired twice, and a replacement that is not live: itself retired, or unknown.
    """
    seen: set[str] = set()
    for stone in sorted(retired, key=lambda stone: (stone.id, stone.origin)):
        table = f"[retired.{stone.id}]"
        if stone.id in live:
            yield stone.id, f"{stone.id} is retired since {stone.on} and in the catalog again; take {table} or it out"
        if stone.id in seen:
            yield stone.id, f"{table} is declared twice; keep one of them"
        seen.add(stone.id)
        if stone.replacement is not None and stone.replacement not in live:
            gone = any(other.id == stone.replacement for other in retired)
            state = "retired itself" if gone else "no KPI of the catalog"
            yield stone.id, f"{table} names {stone.replacement} in its place, which is {state}; name a live one"
