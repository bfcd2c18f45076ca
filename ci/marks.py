"""A generated section of a page: what stands between its two marks is written by a script and never by hand.

Refuses a page that has no such marks, so that nothing is ever appended by guess.
"""

from __future__ import annotations

__all__ = ["MarksError", "marks", "with_section"]


class MarksError(ValueError):
    """The page has no place for the section."""


def marks(name: str) -> tuple[str, str]:
    """The line before the section called ``name`` and the one after it."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def with_section(page: str, name: str, text: str) -> str:
    """``page`` with ``text`` between the marks of ``name``.

    Raises:
        MarksError: the marks are missing, or not in order.
    """
    begin, end = marks(name)
    before, begun, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise MarksError(f"The page needs a line {begin} and after it a line {end}; write them, then run this again.")
    return f"{before}{begin}\n{text}\n{end}{after}"
