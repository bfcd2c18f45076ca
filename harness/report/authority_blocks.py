"""A Markdown document by its parts: prose, code, and the blocks that a command fills.

A block lies between two lines, ``<!-- NAME:begin ... -->`` and ``<!-- NAME:end -->``. Only names that a command is
known for are blocks; whatever else looks like one is prose. Refuses to guess where a block ends: one without its end,
or inside another, is a fault with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

__all__ = ["AUTHORITY", "Block", "Document", "document_of", "filled"]

AUTHORITY = "authority"
"""The blocks that the authority fills itself: ``<!-- authority:begin NAME kpis=a,b [points=all] -->``."""

# What follows backticks holds none: it is code within a line otherwise.
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?!.*`)|~{3,})")
_MARK = re.compile(r"\s*<!--\s*(?P<name>[a-z]\w*):(?P<which>begin|end)\b(?P<words>.*?)-->\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A generated block: the lines of its marks, ``begin`` and ``end``, counted from 1, and the words of the first."""

    kind: str
    words: tuple[str, ...]
    begin: int
    end: int

    @property
    def name(self) -> str:
        """What the mark calls it; empty where it has no words."""
        return self.words[0] if self.words else ""

    @property
    def options(self) -> dict[str, str]:
        """The ``key=value`` words of the mark."""
        return {key: value for key, equals, value in (word.partition("=") for word in self.words[1:]) if equals}


@dataclass(slots=True)
class Document:
    """The lines of a document; ``prose`` holds what is neither code nor generated, with empty lines in their place."""

    lines: list[str]
    prose: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)

    @property
    def beside_prose(self) -> frozenset[int]:
        """The numbers of the lines, from 1, that are code or generated."""
        pairs = enumerate(zip(self.lines, self.prose, strict=True), start=1)
        return frozenset(number for number, (line, prose) in pairs if line != prose)


def document_of(text: str, kinds: Collection[str]) -> Document:
    """``text`` by its parts; ``kinds`` are the names of blocks that a command fills."""
    document = Document(text.splitlines())
    fence = ""
    open_block: tuple[str, tuple[str, ...], int] | None = None
    for number, line in enumerate(document.lines, start=1):
        mark = _MARK.fullmatch(line) if not fence else None
        known = mark is not None and mark["name"] in kinds
        if mark is not None and known and mark["which"] == "begin":
            if open_block is not None:
                document.faults.append((number, f"a block begins inside that of line {open_block[2]}"))
            open_block = (mark["name"], tuple(mark["words"].split()), number)
            document.prose.append("")
        elif mark is not None and known:
            if open_block is None or open_block[0] != mark["name"]:
                document.faults.append((number, f"a block {mark['name']} ends that has not begun"))
            else:
                if mark["name"] != AUTHORITY and any(block.kind == mark["name"] for block in document.blocks):
                    document.faults.append((open_block[2], f"a second block {mark['name']}, which no command fills"))
                document.blocks.append(Block(*open_block, number))
                open_block = None
            document.prose.append("")
        elif open_block is not None:
            document.prose.append("")
        else:
            fence = _fence(line, fence, document)
    if open_block is not None:
        document.faults.append((open_block[2], f"the block {open_block[0]} has no end"))
    return document


def _fence(line: str, fence: str, document: Document) -> str:
    """Take one line outside of blocks; the fence that is open after it."""
    found = _FENCE.match(line)
    if fence:
        document.prose.append("")
        closes = found is not None and found["fence"].startswith(fence) and not line.strip().strip(fence[0])
        return "" if closes else fence
    document.prose.append("" if found else line)
    return found["fence"] if found else ""


def filled(text: str, kinds: Collection[str], render: Callable[[Block], str]) -> str:
    """``text`` with each block of the authority filled by ``render``; line endings outside of blocks are kept.

    A document with faults in its marks comes back as it is.
    """
    document = document_of(text, kinds)
    if document.faults:
        return text
    lines = text.splitlines(keepends=True)
    for block in reversed(document.blocks):
        if block.kind == AUTHORITY:
            lines[block.begin : block.end - 1] = [f"\n{render(block).strip()}\n\n"]
    return "".join(lines)
