"""Sentences on a console: inert, in characters that it can show, broken between words and never inside one."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

from harness.report.inert import encoding_of, inert
from harness.report.width import WHOLE_WORDS

__all__ = ["put_line", "put_text"]

_LEAST = 40


def put_line(console: Console, text: str, style: str = "") -> None:
    """Print ``text`` on one line, however long it is."""
    console.print(Text(inert(text, encoding_of(console.file)), style=style), soft_wrap=True)


def put_text(console: Console, text: str, style: str = "", *, lead: str = "", indent: int = 2) -> None:
    """Print ``text`` after ``lead``, on as many lines as the console's width takes; later ones are indented."""
    told = inert(text, encoding_of(console.file))
    width = max(_LEAST, console.width)
    filled = textwrap.fill(told, width, initial_indent=lead, subsequent_indent=" " * indent, **WHOLE_WORDS)
    for line in filled.splitlines() or [lead.rstrip()]:
        console.print(Text(line, style=style), soft_wrap=True)
