"""Numbers with a unit that somebody typed: what no document may hold outside of generated blocks and code.

Looks at prose alone. A number counts where a unit stands behind it (a time, a size, a share, a factor, tokens) or a
currency before it; a bare count does not, and neither does what stands in code, in the target of a link or between the
marks of a constant. Refuses to know which numbers are true: a free one is a fault whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.report.authority_blocks import Document
from harness.report.authority_constants import CONSTANT

__all__ = ["free_numbers", "masked", "numbers_in"]

_UNITS = (
    "%|‰|per ?cent|\u00d7|[xX](?![ \\t]*\\d)|ns|[µμ]s|us|ms|s|sec(?:ond)?s?|min(?:ute)?s?|hours?|"
    "[kKMGT]i?B|B|bytes?|tok(?:en)?s?|ops|instructions|USD|usd|dollars?"
)
_FREE = re.compile(
    rf"(?<![\w.,])(?:(?P<decade>(?:19|20)\d\ds)\b|"
    rf"(?P<number>(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)(?:[ \u00a0\u202f-]|\n[ \t]*)?(?:{_UNITS})(?![\w])|"
    r"[$€£]\s?\d[\d,.]*)"
)
_CODE = re.compile(r"(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)*?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TARGET = re.compile(r"(?<=\])\([^()\s]*(?:\s+\"[^\"]*\")?\)")


def masked(prose: str) -> str:
    """``prose`` with blanks in the place of constants, code spans, comments and targets of links; lines stay lines."""
    for pattern in (CONSTANT, _CODE, _COMMENT, _TARGET):
        prose = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), prose)
    return prose


def free_numbers(document: Document) -> Iterator[tuple[int, str]]:
    """(line, what stands there) of each number with a unit that is not generated."""
    yield from _found(masked("\n".join(document.prose)))


def numbers_in(text: str) -> list[str]:
    """The numbers with a unit in ``text``, wherever it stands in a document."""
    return [number for _, number in _found(masked(text))]


def _found(text: str) -> Iterator[tuple[int, str]]:
    for found in _FREE.finditer(text):
        if found["decade"] is None:
            yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split())
