"""What a person says to the ratchet: a text such as a reason, and rows by their names or their KPIs'.

Refuses a text that a file cannot hold.
"""

from __future__ import annotations

from collections.abc import Collection

from harness.jobs.ratchet_points import Names, kpi_of
from kpis.errors import SelectionError, did_you_mean

__all__ = ["nearest", "require_text", "rows_named"]


def require_text(option: str, text: str | None, again: str) -> None:
    """Require that ``text``, where one is given, says something that a file can hold."""
    if text is None:
        return
    if not text.strip():
        raise SelectionError(f"{option} is given without a text; say it in words: `{again}`.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SelectionError(f"{option} holds bytes that are no text in UTF-8; write it anew: `{again}`.") from None


def rows_named(word: str, rows: Collection[str], names: Names) -> list[str]:
    """The names among ``rows`` that ``word`` stands for: one row, or each row of a KPI, be it under an alias."""
    present = names.canonical(word)
    return [name for name in rows if present in (name, kpi_of(name))]


def nearest(word: str, rows: Collection[str]) -> str:
    """A guess at the row or KPI among ``rows`` that ``word`` was to be, in brackets; empty where none is near."""
    return did_you_mean(word, dict.fromkeys((*rows, *map(kpi_of, rows))))
