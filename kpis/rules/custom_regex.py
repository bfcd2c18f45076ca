"""Regular expressions that somebody wrote, matched in time linear in the text.

The engine is RE2's, which never goes back over a text and so has neither look-around nor back-references; a pattern
that needs them is refused with a sentence. Without the engine every expression is refused: matching a stranger's
pattern with an engine that can take for ever is worse than not matching it. To answer as the reference does, which
refuses a repetition within a repetition, ``nested`` finds those.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from kpis.rules.work import TooMuchWork

__all__ = ["LONGEST", "RegexError", "finder", "is_empty", "nested"]

LONGEST = 1000
"""Characters of a pattern."""

_PROGRAM = 1 << 20
"""Bytes that a compiled expression may take: ``(a{1000}){1000}`` is short, and its program is not."""

_MOST_WORK = 200_000_000
"""Instructions of the program times bytes of the text: the engine takes them all, a few nanoseconds each, for an
expression whose states are too many to keep."""

_MOST_REPEATS = 25
"""Repetitions of one pattern beyond which the reference takes it to be unsafe."""

_FLAGS = re.compile(r"\A\(\?[ims]+\)")
_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|\((?:\?(?:[:=!]|<[=!]|P?<\w+>))?|\)|[*+?]|\{\d+(?:,\d*)?\}|.", re.DOTALL
)


class RegexError(ValueError):
    """The expression cannot be used; the text says why and follows on a name."""


@lru_cache(maxsize=256)
def finder(pattern: str) -> Callable[[str], bool]:
    """Whether the expression is found anywhere in a text. A lone surrogate is looked at as a question mark.

    What is returned raises :class:`TooMuchWork` for a text that is too long for so large an expression.

    Raises:
        RegexError: it is too long, no expression of RE2, too large a program, or RE2 is not installed.
    """
    if len(pattern) > LONGEST:
        raise RegexError(f"has {len(pattern):,} characters; {LONGEST:,} are the most")
    try:
        import re2  # only here: evaluation without an expression does without the extra
    except ImportError:
        raise RegexError(
            "needs the package google-re2, which is not installed; type: python -m pip install 'loopladder[policy]'"
        ) from None
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _PROGRAM
    try:
        expression = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        told = error.args[0] if error.args else error
        why = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        raise RegexError(f"does not compile: {why}; the syntax is RE2's, without look-around") from None

    size = max(expression.programsize, expression.reverseprogramsize)

    def found(text: str) -> bool:
        data = text.encode("utf-8", "replace")
        if size * len(data) > _MOST_WORK:
            raise TooMuchWork(f"an expression of {size:,} steps in {len(data):,} bytes is more work than is done")
        return expression.search(data) is not None

    return found


def is_empty(pattern: str) -> bool:
    """Whether there is nothing but flags in the expression, so that it is found in any text."""
    return not _FLAGS.sub("", pattern)


def nested(pattern: str) -> bool:
    """Whether a repetition stands within a repetition, or there are too many of them."""
    repeats = 0
    inside: list[bool] = [False]  # of each open group: whether it holds a repetition
    closed = False  # whether the piece before is a group that holds one
    for piece in _PIECE.findall(_FLAGS.sub("", pattern)):
        if piece.startswith("(") and not piece.startswith("\\"):
            inside.append(False)
            closed = False
        elif piece == ")":
            closed = inside.pop() if len(inside) > 1 else False
            inside[-1] |= closed
        elif piece in {"*", "+", "?"} or (piece[0] == "{" and len(piece) > 1):
            repeats += 1
            if closed or repeats > _MOST_REPEATS:
                return True
            inside[-1] = True
        else:
            closed = False
    return False
