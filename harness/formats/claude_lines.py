"""One line of a Claude Code session file, decoded as far as the trace needs it.

The format has no official schema and changes with every release, so a line that does not fit is decoded a second time
without types, and whatever still has the expected shape is kept. This module refuses to judge a line: it says what is
there, or that the line is no JSON object.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec

__all__ = [
    "KNOWN_KINDS",
    "LARGEST_COUNT",
    "PLACEHOLDER_RATIO",
    "Block",
    "Line",
    "Message",
    "NotALineError",
    "Usage",
    "count_of",
    "decode",
    "text_bytes",
    "unix_ms",
]

KNOWN_KINDS = frozenset(
    {
        "assistant",
        "attachment",
        "file-history-snapshot",
        "last-prompt",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "user",
    }
)
"""What a line of a session may be; any other kind is counted as unknown."""

LARGEST_COUNT = 1 << 53
"""No counter of tokens comes near; a number above it is a fault of the file (and would lose digits as a float)."""

PLACEHOLDER_RATIO = 0.5
"""Below this share of visible characters / 4, an output count without any stop reason is a placeholder. Measured on 24
files: 0.01 to 0.03 where clients logged placeholders, 1.2 and more where they did not."""


# An optional Raw would be a union, which msgspec decodes instead of leaving raw: absence is the empty Raw.
_NOTHING = msgspec.Raw()


class CacheCreation(msgspec.Struct, gc=False):
    """Cache writes by time to live."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Usage(msgspec.Struct, gc=False):
    """The counters of one response, as copied onto each of its lines."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation: CacheCreation | None = None


class Block(msgspec.Struct, gc=False):
    """One content block. ``input`` and ``content`` stay raw: they are measured and hashed, not understood."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    text: str | None = None
    input: msgspec.Raw = _NOTHING
    tool_use_id: str | None = None
    content: msgspec.Raw = _NOTHING
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    """The message of a user or assistant line."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None


class CompactMetadata(msgspec.Struct, gc=False, rename="camel"):
    """What a compaction boundary says of itself."""

    trigger: str | None = None
    pre_tokens: int | None = None


class Line(msgspec.Struct, gc=False, rename="camel"):
    """One line, whatever its kind."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    request_id: str | None = None
    version: str | None = None
    timestamp: str | int | float | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | None = None
    compact_metadata: CompactMetadata | None = None
    tool_use_result: msgspec.Raw = _NOTHING


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


def count_of(value: int | None) -> int | None:
    """``value`` if it can be a count of tokens, else None."""
    return value if value is not None and 0 <= value < LARGEST_COUNT else None


def unix_ms(stamp: str | int | float | None) -> int | None:
    """Unix milliseconds of an ISO 8601 time (without zone: UTC) or of a number in seconds or milliseconds."""
    if isinstance(stamp, str):
        try:
            moment = datetime.fromisoformat(stamp)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return round(moment.timestamp() * 1_000)
        except (OverflowError, OSError):
            return None
    if stamp is None or isinstance(stamp, bool) or not 0 <= stamp < LARGEST_COUNT:
        return None
    # Seconds and milliseconds of one century do not overlap: 1e11 s is the year 5138, 1e11 ms is 1973.
    return round(stamp * 1_000) if stamp < 100_000_000_000 else round(stamp)


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
