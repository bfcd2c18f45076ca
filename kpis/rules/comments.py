"""The comments of HTML and the link comments of Markdown: places that a reader does not see and a model reads."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["comments"]

_FORMS = (("<!--", "-->"), ("[//]: # (", ")"), ('[//]: # "', '"'), ("[comment]: # (", ")"), ("[comment]: <> (", ")"))
_LONGEST = 4000
"""Characters of a comment that are looked at; one that is never closed is no longer."""


def comments(text: str, lower: str) -> Iterator[tuple[int, int, int]]:
    """Where each comment and its content begin, and where the content ends; no two of one form overlap.

    ``lower`` is ``text`` in small letters, of the same length.
    """
    for opening, closing in _FORMS:
        begin = lower.find(opening)
        while begin >= 0:
            content = begin + len(opening)
            end = text.find(closing, content, content + _LONGEST)
            end = end if end >= 0 else min(len(text), content + _LONGEST)
            while content < end and text[content].isspace():
                content += 1
            yield begin, content, end
            begin = lower.find(opening, end)
