"""The words of a text: asking for the words that a pattern cannot do without spares looking for the pattern."""

from __future__ import annotations

from string import ascii_lowercase, digits

__all__ = ["split_words"]

_LETTERS = (ascii_lowercase + digits + "_").encode("ascii")
_BETWEEN = bytes(byte if byte in _LETTERS else ord(" ") for byte in range(256))


def split_words(lower: str) -> list[str]:
    r"""The longest runs of ``[a-z0-9_]`` in ``lower``, a text in small letters: what ``\b`` of ASCII stands around."""
    # A character beyond ASCII becomes several bytes, none of which is a letter.
    return lower.encode("utf-8", "surrogatepass").translate(_BETWEEN).decode("ascii").split()
