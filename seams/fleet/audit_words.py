"""Whether an audit can be made of what it is asked with: paths that are paths, a branch that is a name, limits.

Each answer is a sentence that ends with what to do, so that a call which is wrong is an audit with an error and no
traceback. What a path leads to is found out by whoever opens it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["is_whole", "unlimited", "unnamed"]

_EXPLAIN = "Run: python -m harness explain closure_rate"


def is_whole(value: object) -> bool:
    """Whether it is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def unlimited(limit: object) -> str | None:
    """Why nothing can be read up to ``limit``; None where it can."""
    if not isinstance(limit, int) or not is_whole(limit):
        return f"A limit of {limit!r:.80} is no whole number: take one from 1 on. {_EXPLAIN}"
    return None if limit >= 1 else f"A limit below 1 reads nothing: take 1 or more. {_EXPLAIN}"


def unnamed(paths: Mapping[str, object], main: object) -> str | None:
    """Which of the ``paths`` is no path, or that ``main`` is no branch; None where each is what it has to be.

    A number would be taken for a file that is open under it, and bytes are no path to all who ask for one.
    """
    for name, path in paths.items():
        if not isinstance(path, str | os.PathLike):
            return f"The {name} {path!r:.80} is no path: give the name of one as a text. {_EXPLAIN}"
    if main is not None and not _is_word(main):
        return f"The branch {main!r:.80} is no name: give one of those that git knows. Look with: git branch --all"
    return None


def _is_word(value: object) -> bool:
    """Whether a command can be given it."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False
