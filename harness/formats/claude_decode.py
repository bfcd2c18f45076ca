"""The line of a Claude Code session file in some bytes, and the text of what such a line leaves raw.

A line that does not fit is decoded a second time without types, and whatever still has the expected shape is kept. This
module refuses to judge a line: it says what is there, or that the line is no JSON object.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from harness.formats.claude_lines import Block, CacheCreation, CompactMetadata, Line, Message, Usage

__all__ = ["NotALineError", "decode", "text_bytes"]


class NotALineError(ValueError):
    """The bytes are no JSON object."""


_decode_strict = msgspec.json.Decoder(Line).decode


def decode(raw: bytes) -> tuple[Line, bool]:
    """The line in ``raw``, and whether its shape had drifted from the expected one.

    Raises:
        NotALineError: ``raw`` is not one JSON object. The caller has bounded its size and depth.
    """
    try:
        return _decode_strict(raw), False
    except (msgspec.DecodeError, RecursionError):
        pass
    # The standard library accepts what msgspec refuses and files do hold: lone surrogates, and values of other types.
    try:
        plain = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise NotALineError(str(error)) from None
    if not isinstance(plain, dict):
        raise NotALineError("not an object")
    return _lenient(plain, Line), True


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode("ascii"))


def _fits(value: object, kind: object) -> bool:
    options = getattr(kind, "__args__", (kind,))
    return any(option in (str, int, float, bool) and type(value) is option for option in options)


def _lenient(plain: dict[str, Any], struct: type[Any]) -> Any:
    """An instance of ``struct`` from what of ``plain`` has the right type; the rest keeps its default."""
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        value = plain.get(field.encode_name)
        if value is None:
            continue
        nested = _NESTED.get((struct, field.name))
        if field.type is msgspec.Raw:
            kept[field.name] = _raw(value)
        elif nested is not None and isinstance(value, dict):
            kept[field.name] = _lenient(value, nested)
        elif struct is Message and field.name == "content" and isinstance(value, list):
            kept["content"] = [block for item in value if (block := _lenient_block(item)) is not None]
        elif _fits(value, field.type):
            kept[field.name] = value
        elif field.type == int | None and isinstance(value, float) and value.is_integer():
            kept[field.name] = int(value)
        elif field.name == "message" and isinstance(value, str):
            kept["message"] = Message(content=value)
    return struct(**kept)


def _lenient_block(item: object) -> Block | None:
    if isinstance(item, str):
        return Block(type="text", text=item)
    block: Block | None = _lenient(item, Block) if isinstance(item, dict) else None
    return block


_NESTED: dict[tuple[type[Any], str], type[Any]] = {
    (Line, "message"): Message,
    (Line, "compact_metadata"): CompactMetadata,
    (Message, "usage"): Usage,
    (Usage, "cache_creation"): CacheCreation,
}


def text_bytes(raw: msgspec.Raw) -> bytes:
    """The text of a tool result's ``content`` (a string, or a list of blocks) as UTF-8; other shapes as they stand."""
    body = bytes(raw)
    if body[:1] not in (b'"', b"["):
        return b"" if body == b"null" else body
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    texts = [item["text"] for item in value if isinstance(item, dict) and isinstance(item.get("text"), str)]
    if not texts:
        return body if value else b""
    return "\n".join(texts).encode("utf-8", "surrogatepass")
