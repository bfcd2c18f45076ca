"""What a text is made of, seen at once: whether it holds anything as long as a number, a key or an account could be.

The characters are translated to their kinds in two passes at memory speed, and what is looked for are runs of a kind.
A run that is missing rules out every pattern that cannot do without it; one that is there proves nothing.
"""

from __future__ import annotations

from enum import Enum
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

__all__ = ["Part", "parts_of"]


class Part(Enum):
    """What a pattern cannot do without."""

    LONG_NUMBER = "nine digits, with nothing but ``.()``, dashes and spaces between them"
    LONG_WORD = "twenty characters of ``A-Za-z0-9_.*-``"
    ACCOUNT = "two capitals and two digits"


_APART = b" .()-\xe2\x80\x88\x90\x91\x92\x93"
"""What may stand between the digits of a number. The last ones are the bytes of dashes in UTF-8, and of more."""


def _kinds(**kinds: str) -> bytes:
    """A table of bytes: the first letter of each name for the characters it lists, a space for all others."""
    table = bytearray(b" " * 256)
    for name, characters in kinds.items():
        for character in characters.encode("ascii"):
            table[character] = ord(name[0])
    return bytes(table)


_WORDS = _kinds(w=ascii_letters + digits + "_.*-")
_NUMBERS = _kinds(d=digits, U=ascii_uppercase, l=ascii_lowercase)


def parts_of(text: str) -> frozenset[Part]:
    """The parts that ``text`` holds."""
    # A character beyond ASCII becomes several bytes that are of no kind.
    data = text.encode("utf-8", "surrogatepass")
    found = []
    if b"d" * 9 in data.translate(_NUMBERS, _APART):
        found.append(Part.LONG_NUMBER)
    if b"w" * 20 in data.translate(_WORDS):
        found.append(Part.LONG_WORD)
    if b"UUdd" in data.translate(_NUMBERS):
        found.append(Part.ACCOUNT)
    return frozenset(found)
