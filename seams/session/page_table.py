"""The page table: one line a page, its number being its place, and no body in it.

Pages that came from an image stay the bytes that they were and are read when they are asked for; those that were
recorded or changed since then are beside them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from seams.contract.recall import Page
from seams.contract.turn import Durability
from seams.contract.verdict import Taint
from seams.syscall.canonical import canonical
from seams.turn.spans import DESCRIPTOR_BYTES

__all__ = ["FIELDS", "PageTable", "Rows", "decoded", "described", "encoded"]

FIELDS = Page._fields[1:]
"""What a line holds, in this order; the step is its place."""

_TAINTS = {each.name.lower(): each for each in Taint}
_DURABILITIES = {each.value: each for each in Durability}
_LINE_FEED = b"\n"
_digest = re.compile(r"[0-9a-f]{64}").fullmatch


def described(tool: str, reason: str, size: int, body: bytes) -> str:
    """The descriptor of a page: of a sealed one its reason and its size in bytes, else its first line.

    Of ``body`` no more than ``DESCRIPTOR_BYTES`` are looked at. A character that is cut, or is none in UTF-8, is left
    out.
    """
    if reason:
        return f"{tool}: [sealed: {reason}, {size} bytes]"
    return f"{tool}: {body[:DESCRIPTOR_BYTES].partition(_LINE_FEED)[0].decode('utf-8', 'ignore').strip()}"


def encoded(page: Page) -> bytes:
    """The line of ``page``, its line feed included."""
    return canonical([*page[1:5], page.taint.name.lower(), *page[6:]]) + b"\n"


def decoded(step: int, line: bytes) -> Page:
    """The page of a line.

    Raises:
        ValueError: it is none.
    """
    try:
        row = json.loads(line.decode("utf-8", "surrogatepass"))
        page = Page._make([step, *row[:4], _TAINTS[row[4]], *row[5:7], _DURABILITIES[row[7]], *row[8:]])
        fault = _fault(page, row)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"has a line {step + 2} that is no page") from error
    if fault:
        raise ValueError(f"has a page {step} whose {fault} is none")
    return page


def _fault(page: Page, row: Sequence[Any]) -> str:
    """The field that is not what it has to be, or nothing."""
    for name, value in zip(FIELDS, row, strict=True):
        if name in ("size", "valid_to"):
            sound = type(value) is int and value >= 0
        elif name == "utility":
            sound = type(value) is float and math.isfinite(value)
        else:
            sound = isinstance(value, bool if name == "tombstoned" else str)
        if not sound:
            return name
    if not _digest(page.digest):
        return "digest"
    if page.sealed != bool(page.qid):
        return "qid"
    # A reason is shown in the place of a body, so that nothing but a name may stand there.
    return "" if (_is_reason(page.reason) if page.sealed else not page.reason) else "reason"


def _is_reason(word: str) -> bool:
    """Whether it could name one; those that are not known are ``REASON_`` and a number, which may be negative."""
    return word.replace("-", "_").isidentifier() and word == word.upper()


class Rows(Protocol):
    """Lines by their number."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int, /) -> bytes: ...


class PageTable:
    """Pages by step. ``lines`` are those of an image, by number from 0 on and without line feeds."""

    __slots__ = ("_changed", "_lines", "_new")

    def __init__(self, lines: Rows = ()) -> None:
        self._lines = lines
        self._new: list[Page] = []
        self._changed: dict[int, Page] = {}

    def __len__(self) -> int:
        return len(self._lines) + len(self._new)

    def __getitem__(self, step: int) -> Page:
        """The page; IndexError where there is none, and a negative step is none."""
        if step < 0:
            raise IndexError(step)
        if step in self._changed:
            return self._changed[step]
        stored = len(self._lines)
        return decoded(step, self._lines[step]) if step < stored else self._new[step - stored]

    def __iter__(self) -> Iterator[Page]:
        return (self[step] for step in range(len(self)))

    def append(self, page: Page) -> None:
        """Add a page, whose step has to be the next."""
        if page.step != len(self):
            raise ValueError(f"The next page is {len(self)}, and this one says {page.step}.")
        self._new.append(page)

    def replace(self, page: Page) -> None:
        """Put ``page`` in the place of the one with its step."""
        self[page.step]
        self._changed[page.step] = page

    def write(self, write: Callable[[bytes], object]) -> None:
        """Every line in order; one that nobody changed is the bytes that it was."""
        stored = len(self._lines)
        for step in range(len(self)):
            if step < stored and step not in self._changed:
                write(self._lines[step] + b"\n")
            else:
                write(encoded(self[step]))
