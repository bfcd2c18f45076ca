"""Prompt positions that siblings of one prefix need not process, credited only as far as a run has shown it.

The saving is against an engine that has no prompt cache and reads the prefix once a sibling; against a server that
shares prefixes anyway there is none. A sibling counts as shown where its clone went on, to the bit, as one that had
read everything itself. Units: tokens.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PrefixTokens", "prefix_tokens"]


class PrefixTokens(NamedTuple):
    """``credited`` and ``refused`` make up what ``siblings - 1`` prefixes hold."""

    credited: int
    refused: int


def prefix_tokens(siblings: int, prefix: int, witnessed: int) -> PrefixTokens:
    """``(min(siblings, witnessed) - 1) prefix``, and the rest of ``(siblings - 1) prefix``, which nobody has seen.

    Raises:
        ValueError: there is no sibling, or a number counts nothing.
    """
    if siblings < 1 or prefix < 0 or witnessed < 0:
        raise ValueError(
            f"{siblings} siblings of a prefix of {prefix} tokens, {witnessed} of them shown, are no fan-out: it takes "
            "one sibling or more, and nothing below zero."
        )
    credited = max(min(siblings, witnessed) - 1, 0) * prefix
    return PrefixTokens(credited, (siblings - 1) * prefix - credited)
