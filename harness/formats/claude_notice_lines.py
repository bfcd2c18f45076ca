"""What is wanted of a line of Claude Code beside its message: its kind, where it comes from, what the rarer kinds say.

Decoded by itself, since most lines are never asked for it. This module refuses to fail: of a line that does not fit,
as much as fits is kept.
"""

from __future__ import annotations

import msgspec

from harness.formats.claude_decode import NotALineError, decode
from harness.formats.claude_run_lines import Count
from harness.formats.session_numbers import count_of

__all__ = ["Notice", "notice_of"]


class _Compaction(msgspec.Struct, gc=False, rename="camel"):
    trigger: str | None = None
    pre_tokens: Count | None = None


class _Hook(msgspec.Struct, gc=False, rename="camel"):
    type: str | None = None
    duration_ms: int | float | None = None


class _ApiError(msgspec.Struct, gc=False):
    status: int | None = None


class Notice(msgspec.Struct, gc=False, rename="camel"):
    """What is wanted of the rarer kinds of lines, and of any line's origin."""

    type: str = ""
    subtype: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    stream_session: str | None = msgspec.field(name="session_id", default=None)
    client_version: str | None = msgspec.field(name="claude_code_version", default=None)
    version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    timestamp: str | int | float | None = None
    uuid: str | None = None
    operation: str | None = None
    duration_ms: int | float | None = None
    retry_in_ms: int | float | None = None
    error: _ApiError | str | None = None
    compact_metadata: _Compaction | None = None
    microcompact_metadata: _Compaction | None = None
    hook_infos: list[_Hook] | None = None
    attachment: _Hook | None = None


_notice = msgspec.json.Decoder(Notice).decode


def notice_of(raw: bytes) -> Notice:
    """As much of a line as fits; an empty notice where nothing does."""
    try:
        return _notice(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        line, _ = decode(raw)
    except NotALineError:
        return Notice()
    meta = line.compact_metadata
    return Notice(
        line.type,
        line.subtype,
        line.logical_parent_uuid,
        line.session_id,
        version=line.version,
        timestamp=line.timestamp,
        uuid=line.uuid,
        compact_metadata=None if meta is None else _Compaction(meta.trigger, count_of(meta.pre_tokens)),
    )
