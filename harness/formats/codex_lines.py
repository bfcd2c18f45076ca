"""One line of a Codex rollout, decoded as far as the trace needs it.

New builds wrap what they record, ``{"timestamp", "type", "payload"}``; those of mid-2025 write the bare item, after a
first line that describes the session. Both become one :class:`Line` with one :class:`Item`. The format is documented by
its source only, so a line that does not fit is decoded a second time without types and whatever has the expected shape
is kept. This module refuses to judge a line.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from harness.formats.codex_shapes import Bare, Item, Line
from harness.formats.limits import Limits, check_depth

__all__ = ["BadLineError", "decode", "plain", "text_of"]


class BadLineError(ValueError):
    """The bytes are no JSON object."""


_decode_line = msgspec.json.Decoder(Line).decode
_decode_any = msgspec.json.Decoder().decode
_decode_item = msgspec.json.Decoder(Item).decode
_BARE = frozenset(
    {
        "",
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "message",
        "reasoning",
        "web_search_call",
    }
)


def decode(raw: bytes, limits: Limits) -> tuple[Line, bool]:
    """The line in ``raw``, and whether its shape had drifted from the expected one.

    The typed decoder skips what it is not asked for and counts its own levels, so only what is read without types is
    checked for its depth: outputs are full of brackets, and counting them would cost more than all else.

    A bare line becomes a :class:`Bare` of kind ``response_item``, ``session_meta`` (it has an id and a time, no type),
    ``state``, or "".

    Raises:
        BadLineError: ``raw`` is not one JSON object, or nests too deep. The caller has bounded its size.
    """
    try:
        line = _decode_line(raw)
        if line.payload is not None or line.type not in _BARE:
            return line, False
        return _bare(line, _decode_item(raw)), False
    except (msgspec.DecodeError, RecursionError):
        pass
    # The standard library accepts what msgspec refuses and files do hold: lone surrogates, and values of other types.
    try:
        check_depth(raw, limits, "A line")
        loose = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadLineError(str(error)) from None
    if not isinstance(loose, dict):
        raise BadLineError("not an object")
    line = _lenient(loose, Line)
    if line.payload is None and line.type in _BARE:
        return _bare(line, _lenient(loose, Item)), True
    return line, True


def _bare(line: Line, item: Item) -> Line:
    if item.type:
        return Bare("response_item", None, item)
    if line.record_type is not None:
        return Bare("state", None, item)
    return Bare("session_meta" if item.id is not None and item.timestamp is not None else "", None, item)


def _lenient(loose: dict[str, Any], struct: type[Any]) -> Any:
    """An instance of ``struct`` from what of ``loose`` has the right type; the rest keeps its default."""
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        value = loose.get(field.encode_name)
        if value is None:
            continue
        if field.type is msgspec.Raw:
            kept[field.name] = msgspec.Raw(json.dumps(value).encode("ascii"))
            continue
        options = getattr(field.type, "__args__", (field.type,))
        nested = next((kind for kind in options if hasattr(kind, "__struct_fields__")), None)
        if nested is not None:
            if isinstance(value, dict):
                kept[field.name] = _lenient(value, nested)
        elif isinstance(value, str):
            if str in options:
                kept[field.name] = value
        else:
            try:
                kept[field.name] = msgspec.convert(value, field.type)
            except (ValueError, OverflowError):  # a ValidationError, or a lone surrogate in one's message
                continue
    return struct(**kept)


def plain(raw: msgspec.Raw | bytes) -> Any:
    """The value in ``raw``, None where there is none or it cannot be read."""
    try:
        return _decode_any(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(bytes(raw))
    except (ValueError, RecursionError):
        return None


def text_of(value: object) -> str:
    """The text of a message or of a result: a string, or the texts of a list of parts joined by line feeds."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "\n".join(part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str))
