"""The lines of a stream of any length, one at a time and each of bounded size: what is longer is passed over, and told.

Refuses to hold more than one line; what is in it is somebody else's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from harness.formats.jsonl import BOM
from harness.formats.limits import Limits

__all__ = ["Line", "bounded_lines"]

_REST = 1 << 20


class Line(NamedTuple):
    """Line ``number``, from 1, without the white space around it; None where it is longer than the limit.

    ``read`` is how many bytes of the stream are behind its end.
    """

    number: int
    body: bytes | None
    read: int


def bounded_lines(stream: BinaryIO, limits: Limits) -> Iterator[Line]:
    """The lines of ``stream`` that hold something."""
    number = read = 0
    while raw := stream.readline(limits.max_line + 1):
        number, read = number + 1, read + len(raw)
        if len(raw) > limits.max_line and not raw.endswith(b"\n"):
            while rest := stream.readline(_REST):
                read += len(rest)
                if rest.endswith(b"\n"):
                    break
            yield Line(number, None, read)
            continue
        body = (raw.removeprefix(BOM) if number == 1 else raw).strip()
        if body:
            yield Line(number, body, read)
