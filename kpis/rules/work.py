"""How much work a rule does before it gives up: what somebody else wrote, times the text that it is held against."""

from __future__ import annotations

__all__ = ["PER_STEP", "TooMuchWork", "bound_search"]

PER_STEP = 64
"""Characters of a text that are read in one step."""

_MOST_SEARCHED = 1_000_000_000
"""Characters that are looked at for a list of texts: some 900 texts in a mebibyte, or more in less."""


class TooMuchWork(Exception):  # noqa: N818 - a bound was reached, which is no error of anyone's
    """A bound on the work of a rule was reached: it gives no answer. The text says which."""


def bound_search(sought: int, length: int) -> None:
    """Refuse to look for ``sought`` texts in one of ``length`` characters if that takes too long.

    Raises:
        TooMuchWork: it does.
    """
    if sought * length > _MOST_SEARCHED:
        raise TooMuchWork(f"looking for {sought:,} texts in {length:,} characters is more work than is done")
