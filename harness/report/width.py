"""How many columns a text may take: one answer for all commands.

COLUMNS where it is set, else the terminal that the text goes to, else a fixed width, so that what is piped into a file
does not depend on the window it was made in.
"""

from __future__ import annotations

import os
from typing import IO, Any, Final, TypedDict

__all__ = ["NARROW", "PIPE", "WHOLE_WORDS", "columns"]


class _Breaks(TypedDict):
    break_long_words: bool
    break_on_hyphens: bool


WHOLE_WORDS: Final[_Breaks] = {"break_long_words": False, "break_on_hyphens": False}
"""For :mod:`textwrap`: names, paths and options stay in one piece."""

NARROW = 80
"""Columns of a sentence that stands by itself: a longer line is hard to read, however wide the window is."""

PIPE = 100
"""Columns where there is no terminal to ask."""


def columns(stream: IO[Any]) -> int:
    """The columns of a line on ``stream``."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or PIPE
    except (OSError, ValueError, AttributeError):  # no terminal, closed, or a buffer in memory
        return PIPE
