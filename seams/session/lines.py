"""Lines of a text in memory, found without splitting it: eight bytes a line, where a list of strings takes a hundred.

What a line says is its reader's affair.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

__all__ = ["Lines"]


class Lines:
    """The lines of ``data`` by number, each without its line feed.

    Raises:
        ValueError: the text does not end with a line feed, so that its last line may have been cut.
    """

    __slots__ = ("_ends", "data")

    def __init__(self, data: bytes = b"") -> None:
        if data and not data.endswith(b"\n"):
            raise ValueError("ends in the middle of a line")
        self.data = data
        self._ends = array("Q")
        end = data.find(b"\n")
        while end >= 0:
            self._ends.append(end)
            end = data.find(b"\n", end + 1)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> bytes:
        """The line ``number``, from 0 on; IndexError beyond the last, and a negative number is no line."""
        if number < 0:
            raise IndexError(number)
        end = self._ends[number]
        return self.data[self._ends[number - 1] + 1 if number else 0 : end]

    def __iter__(self) -> Iterator[bytes]:
        return (self[number] for number in range(len(self)))
