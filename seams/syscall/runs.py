"""Long runs of one alphabet in a body: where an encoding or a key can be, found at the speed of a copy.

A body is masked once by a translation table, and the runs are found in the mask. It says where a run is and not what
it holds. Every step moves forward only, so the work is linear in the body.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["ALNUM", "SHORTEST_TOKEN", "long_runs", "mask_of", "token_text"]

ALNUM = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

SHORTEST_TOKEN = 14
"""The shortest key there is a shape of: four letters and ten more. Nothing shorter can hold one."""

_BEFORE = 12
"""Bytes before a token that say what it is: the longest keyword, of 8, and 4 separators."""

_MARK = b"x"
_ELSE = b" "


def mask_of(alphabet: bytes) -> bytes:
    """A translation of the alphabet to one mark, and of everything else to a space."""
    return bytes(ord(_MARK) if byte in alphabet else ord(_ELSE) for byte in range(256))


_TOKEN = mask_of(ALNUM + b"+/_.-")


def long_runs(masked: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each run of the mark that has ``shortest`` characters or more, as long as it goes."""
    run = _MARK * shortest
    begin = masked.find(run)
    while begin >= 0:
        end = masked.find(_ELSE, begin)
        end = len(masked) if end < 0 else end
        yield begin, end
        begin = masked.find(run, end)


def token_text(text: bytes) -> bytes:
    """The parts of ``text`` that can hold a key, parted by a NUL; empty where there is none.

    They are its runs of 14 or more letters, digits and ``+/_.-``, each with the 12 bytes before it; two that are no
    farther apart stay in one part.
    """
    parts: list[bytes] = []
    first = last = -1
    for begin, end in long_runs(text.translate(_TOKEN), SHORTEST_TOKEN):
        if first >= 0 and begin - _BEFORE > last:
            parts.append(text[first:last])
            first = -1
        if first < 0:
            first = max(begin - _BEFORE, 0)
        last = end
    if first >= 0:
        parts.append(text[first:last])
    return b"\0".join(parts)
