"""The patterns of a policy, matched in time linear in what they are matched against.

A policy is a file that somebody wrote, and the arguments are what a model made up: an engine that backtracks would let
either of them stop the monitor. Regular expressions are RE2's, which never backtracks and therefore has no
back-references and no look-around; a glob is cut at its stars, and each piece is looked for once. Patterns are short:
their length is the other factor of the time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate
from typing import Any

__all__ = ["LONGEST", "PatternError", "glob_matcher", "regex_finder"]

LONGEST = 1000
"""Characters of a pattern."""

_PROGRAM = 1 << 20
"""Bytes that a compiled expression may take: ``(a{1000}){1000}`` is short, and its program is not."""


class PatternError(ValueError):
    """The text is no pattern, or there is nothing to match it with."""


def _short(pattern: str) -> None:
    if len(pattern) > LONGEST:
        raise PatternError(f"has a pattern of {len(pattern):,} characters; {LONGEST:,} are the most")


def regex_finder(pattern: str) -> Callable[[str], bool]:
    """Whether the expression is found anywhere in a text; ``.`` is no newline, and case counts unless ``(?i)`` says so.

    Lone surrogates, which UTF-8 cannot hold, are looked at as question marks.

    Raises:
        PatternError: it is too long, no expression of RE2, too large a program, or RE2 is not installed.
    """
    _short(pattern)
    try:
        import re2  # only here: a policy without an expression does without the extra
    except ImportError as error:
        raise PatternError(
            "needs the package google-re2, which matches without backtracking and is not installed; "
            "type: python -m pip install 'loopladder[policy]'"
        ) from error
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _PROGRAM
    try:
        search: Callable[[bytes], Any] = re2.compile(pattern, options).search
    except (re2.error, UnicodeEncodeError) as error:
        told = error.args[0] if error.args else ""
        why = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(error)
        raise PatternError(f"does not compile: {why}; the syntax is RE2's, without look-around") from error

    def found(text: str) -> bool:
        return search(text.encode("utf-8", "replace")) is not None

    return found


def glob_matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether one of the globs matches a whole text: ``*`` any characters, slashes too, ``?`` one, ``[a-z]`` one of.

    Raises:
        PatternError: one of them is too long, or no glob.
    """
    matches = []
    for glob in globs:
        _short(glob)
        # Each star but the last becomes an atomic group, which gives back nothing that it took; runs of stars are one.
        matches.append(re.compile(translate(glob)).match)
    return lambda text: any(match(text) is not None for match in matches)
