"""One sign of an instruction to a model: a pattern, and what a text holds wherever the pattern is found.

Most texts hold none of it, and are cleared at the cost of asking for a few words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from kpis.rules.anchors import holds_any

__all__ = ["Sign", "calls_bot", "ends_key", "opens_comment", "opens_turn", "sign"]


@dataclass(frozen=True, slots=True)
class Sign:
    """One pattern. It is tried when one of ``anchors`` is in the folded text, in small letters and on one line.

    Every match holds one of them, there or in the text as it came; and one of ``words``, if there are any, as a word by
    itself. ``gate`` says, of the same text as the anchors, whether there can be a match. A pattern with ``in_comments``
    looks only inside comments.
    """

    pattern: re.Pattern[str]
    words: frozenset[str]
    anchors: tuple[str, ...]
    gate: Callable[[str], bool] | None = None
    in_comments: bool = False


_KEY_END = re.compile(r":(?:(?<=[\"']:)|(?<=[\"'] :))")


def opens_comment(text: str) -> bool:
    """Whether there is the beginning of a comment."""
    return holds_any(text, ("<!--", "[//]: #", "[comment]: "))


def ends_key(text: str) -> bool:
    """Whether there is the end of a quoted key."""
    return _KEY_END.search(text) is not None


_TURN = re.compile(r"\[ ?(?:a[gids]|llm|dev|inst|[4@]1)")


def opens_turn(text: str) -> bool:
    """Whether there is an opening bracket before what may be the name of a speaker; ``41`` is one in disguise."""
    return _TURN.search(text) is not None


def calls_bot(text: str) -> bool:
    """Whether there is talk of a bot."""
    return "bot" in text


def sign(
    pattern: str,
    words: str,
    *anchors: str,
    gate: Callable[[str], bool] | None = None,
    in_comments: bool = False,
    exact: bool = False,
) -> Sign:
    """The sign of a pattern in which ``~`` stands for white space; ``words`` has spaces between them.

    Unless it is ``exact``, capitals and small letters are the same to it. Each word of ``words`` and ``anchors`` has a
    letter that no digit or sign stands in for: one in disguise has a digit or a sign next to a letter. Where a digit
    is meant, both readings are given.
    """
    flags = re.ASCII | re.MULTILINE | (re.ASCII if exact else re.IGNORECASE)
    expression = re.compile(pattern.replace("~", r"\s++"), flags)
    return Sign(expression, frozenset(words.split()), anchors, opens_comment if in_comments else gate, in_comments)
