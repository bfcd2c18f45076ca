"""Strict JSON with paths: what the readers of other benchmark tools' files have in common.

A number that is not finite, a value that is missing or of the wrong kind, and anything that is not UTF-8 is refused
by a sentence that holds the path (``$.benchmarks[0].runs[3].values[1]``). Refuses to know what the keys mean.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from harness.formats.limits import FormatError, Limits, check_depth, printable, read_bounded

__all__ = ["Node", "decode", "encode", "heaviest", "plain_bytes"]

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_MOST = sys.float_info.max  # a whole number in a file may exceed it, and nothing could be computed from it
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def plain_bytes(blob: BinaryIO, limits: Limits) -> bytes:
    """All bytes of ``blob``, unpacked where they are gzip by content: a name may lie.

    Raises:
        FormatError: too large, packed or unpacked, or the packing is damaged.
    """
    data = read_bounded(blob, limits)
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as packed:
            return read_bounded(packed, limits)  # type: ignore[arg-type]  # a GzipFile reads like any binary file
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise FormatError("The input is a damaged gzip file; copy it again, or measure anew.") from None


def heaviest(head: bytes, named: re.Pattern[bytes]) -> str | None:
    """What fills most of ``head``, as it may be shown: the name, a match's first group, before the widest gap.

    None where there is no name.
    """
    found = [(match.start(), match[1]) for match in named.finditer(head)]
    if not found:
        return None
    ends = [*(start for start, _ in found[1:]), len(head)]
    _, name = max((end - start, name) for (start, name), end in zip(found, ends, strict=True))
    return printable(name.decode("utf-8", "replace"))


def decode(data: bytes, limits: Limits, where: str) -> Node:
    """The document in ``data``; ``where`` names the file in messages.

    Raises:
        FormatError: not UTF-8, not JSON, too deep, or it holds NaN or infinity.
    """
    if data.startswith(_UTF16):
        raise FormatError(f"{printable(where)} is UTF-16, not UTF-8; write it with the tool's own `-o FILE`, not `>`.")
    data = data.removeprefix(_BOM)
    check_depth(data, limits, printable(where))
    try:
        return Node(msgspec.json.decode(data), "$", where)
    except (msgspec.DecodeError, ValueError) as error:
        raise _refusal(data, where, str(error)) from None


def _refusal(data: bytes, where: str, why: str) -> FormatError:
    """Say where the trouble is. The slow, lenient parser of the standard library runs only after a refusal."""
    shown = printable(where)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return FormatError(f"{shown} is not UTF-8 at byte {error.start:,}; write it again with UTF-8 as encoding.")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return FormatError(f"{shown} is not JSON: {printable(why)}; if it was cut short, measure again.")
    path = next(_not_finite(document, "$"), None)
    if path is not None:
        return FormatError(f"{shown} holds a number that is not finite at {printable(path)}; measure it again.")
    return FormatError(f"{shown} is not strict JSON: {printable(why)}; write it again with the tool that measured.")


def _not_finite(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _not_finite(each, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _not_finite(each, f"{path}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield path


def encode(document: object) -> bytes:
    """``document`` as ASCII JSON with sorted keys and a final newline: same input, same bytes.

    Raises:
        FormatError: it holds NaN or infinity; the path says where.
    """
    path = next(_not_finite(document, "$"), None)
    if path is not None:
        raise FormatError(f"A number at {printable(path)} is not finite and was not written; measure it again.")
    # ensure_ascii: a reader that assumes the locale's encoding cannot misread it.
    return (json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


class Node:
    """A value in a document, its path, and the name of the file for messages."""

    __slots__ = ("path", "value", "where")

    def __init__(self, value: Any, path: str, where: str) -> None:
        self.value = value
        self.path = path
        self.where = where

    def refuse(self, what: str) -> FormatError:
        """The error that the value here is not ``what``."""
        shown = printable(repr(self.value), 40)
        return FormatError(
            f"{printable(self.where)} cannot be read: {printable(self.path, 120)} must be {what}, not {shown}; "
            "write it again with the tool that measured."
        )

    def get(self, key: str) -> Node | None:
        """The member ``key`` of an object; None where it is absent or null."""
        if type(self.value) is not dict:
            raise self.refuse("an object")
        value = self.value.get(key)
        return None if value is None else Node(value, f"{self.path}.{key}", self.where)

    def need(self, key: str) -> Node:
        """As :meth:`get`, but the member must be there."""
        found = self.get(key)
        if found is None:
            raise FormatError(
                f"{printable(self.where)} cannot be read: {printable(self.path, 120)}.{key} is missing; "
                "write it again with the tool that measured."
            )
        return found

    def items(self) -> Iterator[Node]:
        """The elements of a list."""
        if type(self.value) is not list:
            raise self.refuse("a list")
        for index, value in enumerate(self.value):
            yield Node(value, f"{self.path}[{index}]", self.where)

    def text(self) -> str:
        """A string."""
        if type(self.value) is not str:
            raise self.refuse("a text")
        return self.value

    def whole(self, least: int) -> int:
        """An integer of at least ``least``."""
        if type(self.value) is not int or self.value < least:
            raise self.refuse(f"a whole number of at least {least}")
        return self.value

    def amounts(self, *, zero: bool) -> tuple[float, ...]:
        """A list of finite numbers above zero (or from zero, if ``zero``), each as the file has it, int or float."""
        if type(self.value) is not list:
            raise self.refuse("a list of numbers")
        if all(type(each) in (float, int) and (0 < each <= _MOST or (zero and each == 0)) for each in self.value):
            return tuple(self.value)  # the usual case, without a Node for each of a million values
        for each in self.items():
            each.amount(zero=zero)
        raise self.refuse("a list of numbers")

    def amount(self, *, zero: bool) -> float:
        """One finite number above zero (or from zero, if ``zero``), as the file has it."""
        value = self.value
        if type(value) not in (float, int) or not 0 <= value <= _MOST or (value == 0 and not zero):
            raise self.refuse("a finite number" + (" of at least zero" if zero else " above zero"))
        assert isinstance(value, float | int)
        return value
