"""Characters that nobody sees: they part the letters of a word for a program and for no reader.

Each table is pairs of first and last code points.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["REFERENCE_UNSEEN", "UNSEEN", "characters", "class_of"]

Ranges = tuple[tuple[int, int], ...]

REFERENCE_UNSEEN: Ranges = ((0xAD, 0xAD), (0x200B, 0x200F), (0x2060, 0x2060), (0xFEFF, 0xFEFF))
"""Those that the reference drops: zero-width spaces, joiners, direction marks, the byte-order mark, the soft hyphen."""

UNSEEN: Ranges = (
    (0xAD, 0xAD),
    (0x034F, 0x034F),  # the grapheme joiner
    (0x061C, 0x061C),  # the Arabic mark of direction
    (0x115F, 0x1160),  # fillers of Hangul, as 3164 and FFA0
    (0x17B4, 0x17B5),  # inherent vowels of Khmer
    (0x180B, 0x180F),  # Mongolian selectors and the vowel separator
    (0x200B, 0x200F),
    (0x202A, 0x202E),  # embedding and override of direction
    (0x2060, 0x206F),  # the word joiner, unwritten operators, isolation of direction, withdrawn format marks
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),  # unassigned, and marks of annotation
    (0x1BCA0, 0x1BCA3),  # format marks of shorthand
    (0x1D173, 0x1D17A),  # format marks of musical notation
    (0xE0000, 0xE0FFF),  # tags, and the rest of the variation selectors
)
"""The property Default_Ignorable_Code_Point of Unicode (DerivedCoreProperties), and the marks of annotation."""


def characters(ranges: Ranges) -> Iterable[str]:
    """Every character of ``ranges``."""
    return (chr(point) for first, last in ranges for point in range(first, last + 1))


def class_of(ranges: Ranges) -> str:
    """``ranges`` as the inside of a class of a regular expression."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
