"""One line of a Claude Code session file, as far as the trace needs it.

The format has no official schema and changes with every release: everything here is optional.
:mod:`harness.formats.claude_decode` makes lines of bytes. This module refuses to judge a line.
"""

from __future__ import annotations

import msgspec

__all__ = [
    "KNOWN_KINDS",
    "PLACEHOLDER_RATIO",
    "Block",
    "CacheCreation",
    "CompactMetadata",
    "Line",
    "Message",
    "Usage",
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
