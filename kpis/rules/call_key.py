"""What makes two calls of a trajectory the same call: the tool, and the input however it was written down.

Keys of objects are sorted by code unit, numbers are written the shortest way, white space is one space. An input that
is null is one, an empty text is another; one that was not sent is not known, and for the reference as good as null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from kpis.rules.utf16 import units
from kpis.terms.evaluation import ABSENT, ToolCall

__all__ = ["call_key", "call_keys"]

_SHOWN = 500
"""UTF-16 units of an input that the reference compares: beyond them only the length counts."""

_WHITE = re.compile(r"[ \t\r\n]+")


def call_key(call: ToolCall, *, whole: bool) -> str:
    """The identity of one call.

    Args:
        call: the call.
        whole: compare inputs to their end, and not only their beginning and length.
    """
    given = None if call.input is ABSENT else call.input
    written = given if isinstance(given, str) else _stable(given)
    written = _WHITE.sub(" ", written).strip(" ")
    if not whole and units(written) > _SHOWN:
        begin = written.encode("utf-16-le", "surrogatepass")[: 2 * _SHOWN].decode("utf-16-le", "surrogatepass")
        written = f"{begin}…({units(written)})"
    return f"{call.tool_name}\0{written}"


def call_keys(calls: Sequence[ToolCall], *, whole: bool, unsent_differ: bool) -> list[str]:
    """The identities of ``calls``, in order.

    ``unsent_differ``: a call whose input was not sent is the same as no other, as far as is known.
    """
    return [
        f"{call.tool_name}\0{at} "  # no other key ends in a space
        if unsent_differ and call.input is ABSENT
        else call_key(call, whole=whole)
        for at, call in enumerate(calls)
    ]


def _stable(value: object) -> str:
    return json.dumps(_ordered(value), ensure_ascii=False, separators=(",", ":"))


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value, key=_code_units)}
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    return value


def _code_units(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")
