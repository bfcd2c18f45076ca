"""The words of the page table, so that a recall looks at the pages that share one and not at all of them.

In a file, a line tells which page table it was made of, and each line behind it holds a word and the pages with it, in
the order of the words. So one is found by bisection, and an index of other pages than those beside it is an error and
never a miss: a stale index that is silently built anew hides that somebody shipped one.
"""

from __future__ import annotations

import heapq
import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import groupby
from operator import itemgetter

from seams.contract.recall import Page
from seams.session.lines import Lines
from seams.syscall.canonical import canonical
from seams.turn.benefit import tokens

__all__ = ["SEGMENT", "VERSION", "WordIndex"]

VERSION = "loopladder.index.v1"

SEGMENT = 4_096


class WordIndex:
    """Which pages hold a word of a query. Sealed pages are in none of it."""

    __slots__ = ("_lines", "pages")

    def __init__(self, lines: Lines, pages: int) -> None:
        self._lines = lines
        self.pages = pages
        """How many pages it was made of."""

    @classmethod
    def of(cls, pages: Iterable[Page]) -> WordIndex:
        """The index of a page table.

        Made of ``SEGMENT`` pages at a time and then merged: a dictionary of all words is larger than the pages.
        """
        segments: list[Lines] = []
        rows: dict[str, array[int]] = {}
        count = 0
        for page in pages:
            count += 1
            if not page.sealed:
                for word in tokens(f"{page.tool} {page.descriptor}"):
                    rows.setdefault(word, array("L")).append(page.step)
            if count % SEGMENT == 0:
                segments.append(_lines((word, list(rows[word])) for word in sorted(rows)))
                rows = {}
        segments.append(_lines((word, list(rows[word])) for word in sorted(rows)))
        return cls(segments[0] if len(segments) == 1 else _lines(_merged(segments)), count)

    @classmethod
    def attach(cls, data: bytes, pages: int, table: str) -> WordIndex:
        """The index that ``data`` is, made of ``pages`` pages whose table has the digest ``table``.

        Raises:
            ValueError: it is none, or one of another version or of another page table.
        """
        head, _, rest = data.partition(b"\n")
        try:
            told = json.loads(head)
        except ValueError as error:
            raise ValueError("does not begin as an index does") from error
        if told != {"version": VERSION, "pages": pages, "table": table}:
            raise ValueError(f"is not an index of version {VERSION} over the {pages} pages beside it")
        lines = Lines(rest)
        last = ""
        for number, line in enumerate(lines):
            word, rows = _row(number, line)
            if word <= last and number:
                raise ValueError(f"has its word {number} out of order")
            if any(not low < high for low, high in zip([-1, *rows], [*rows, pages], strict=True)):
                raise ValueError(f"has a word {number} whose pages are out of order, or not there")
            last = word
        return cls(lines, pages)

    def write(self, write: Callable[[bytes], object], table: str) -> None:
        """The file of the index, made of the page table with the digest ``table``."""
        write(canonical({"version": VERSION, "pages": self.pages, "table": table}) + b"\n")
        write(self._lines.data)

    def rows(self, word: str) -> list[int]:
        """The pages with ``word``, in order."""
        lines = self._lines
        at = bisect_left(range(len(lines)), word, key=lambda number: _row(number, lines[number])[0])
        if at == len(lines):
            return []
        found, rows = _row(at, lines[at])
        return rows if found == word else []


def _lines(rows: Iterable[tuple[str, list[int]]]) -> Lines:
    text = BytesIO()  # whose value is the buffer itself, where a join would hold every line besides
    for row in rows:
        text.write(canonical(row) + b"\n")
    return Lines(text.getvalue())


def _merged(segments: Iterable[Lines]) -> Iterator[tuple[str, list[int]]]:
    """Each word once; of equal ones the segments keep their order, and so do the pages."""
    by_word = itemgetter(0)
    streams = [(_row(number, line) for number, line in enumerate(lines)) for lines in segments]
    for word, same in groupby(heapq.merge(*streams, key=by_word), key=by_word):
        yield word, [row for _, rows in same for row in rows]


def _row(number: int, line: bytes) -> tuple[str, list[int]]:
    """The word and the pages of a line.

    Raises:
        ValueError: it is no such line.
    """
    try:
        word, rows = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"has a line {number + 2} that is no word with its pages") from error
    if not isinstance(word, str) or not isinstance(rows, list) or any(type(each) is not int for each in rows):
        raise ValueError(f"has a line {number + 2} that is no word with its pages")
    return word, rows
