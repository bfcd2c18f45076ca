"""One line of a Claude Code session, decoded for the replay of whole trees: as few objects a line as the counts need.

:mod:`harness.formats.claude_lines` decodes a line completely, for workloads; this one leaves out what is the same on
every line and keeps results raw. What does not fit goes through the complete decoder's second, lenient pass, so both
read a drifted line alike. This module refuses to judge a line.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.formats import claude_lines
from harness.formats.claude_lines import count_of, text_bytes, unix_ms
from harness.formats.limits import FormatError, Limits, check_depth

__all__ = [
    "Count",
    "NOTHING",
    "Notice",
    "RunBlock",
    "RunLine",
    "RunMessage",
    "RunPart",
    "RunUsage",
    "Structured",
    "decode_fast",
    "decode_leniently",
    "notice_of",
    "stamp_ms",
]

# A counter beyond any real one makes the decoder refuse the line, and the lenient pass then counts it as a bad number.
Count = Annotated[int, msgspec.Meta(ge=0, lt=claude_lines.LARGEST_COUNT)]

NOTHING = msgspec.Raw()


class RunCreation(msgspec.Struct, gc=False):
    """Cache writes by time to live."""

    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class RunUsage(msgspec.Struct, gc=False):
    """The counters of one response, as copied onto each of its lines."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: RunCreation | None = None
    output_tokens: Count | None = None


class RunPart(msgspec.Struct, gc=False):
    """A part of a result; of an image there is no text."""

    text: str | None = None


class RunBlock(msgspec.Struct, gc=False):
    """One content block. ``input`` is a view of the line and dies with it."""

    tool_use_id: str | None = None
    type: str = ""
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    text: str | None = None
    content: str | list[RunPart] | None = None
    is_error: bool | None = None


class RunMessage(msgspec.Struct, gc=False):
    """The message of a user or assistant line."""

    model: str | None = None
    id: str | None = None
    content: str | list[RunBlock] | None = None
    stop_reason: str | None = None
    usage: RunUsage | None = None


class Structured(msgspec.Struct, gc=False, rename="camel"):
    """What a structured result says besides the text: the sub-agent, whether it was cut short, the client's clock."""

    agent_id: str | None = None
    interrupted: bool | None = None
    duration_ms: int | float | None = None
    total_duration_ms: int | float | None = None


class RunLine(msgspec.Struct, gc=False, rename="camel"):
    """One line, whatever its kind. ``parent_tool_use_id`` is the stream's, whose keys are written the other way.

    Fields stand in the order in which the client writes them (here and above), which is how the decoder finds them.
    """

    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    message: RunMessage | None = None
    request_id: str | None = None
    type: str = ""
    uuid: str | None = None
    timestamp: str | int | float | None = None
    tool_use_result: Structured | str | list[msgspec.Raw] | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    cost_usd: int | float | None = msgspec.field(name="costUSD", default=None)
    duration_ms: int | float | None = None
    parent_tool_use_id: str | None = msgspec.field(name="parent_tool_use_id", default=None)


decode_fast = msgspec.json.Decoder(RunLine).decode
"""The line in some bytes; msgspec's errors and RecursionError are the caller's, who then decodes leniently."""

_structured = msgspec.json.Decoder(Structured | str | list[msgspec.Raw] | None).decode


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
        line, _ = claude_lines.decode(raw)
    except claude_lines.NotALineError:
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


def decode_leniently(raw: bytes, limits: Limits) -> tuple[RunLine, bool, int]:
    """The line in ``raw`` as far as it fits, whether its shape had drifted, and how many of its counters are no counts.

    Raises:
        NotALineError: ``raw`` is not one JSON object, or nests deeper than the limit.
    """
    try:
        check_depth(raw, limits, "The line")
    except FormatError as error:
        raise claude_lines.NotALineError(str(error)) from None
    line, drifted = claude_lines.decode(raw)
    message, bad = _message(line.message)
    structured: Structured | str | list[msgspec.Raw] | None = None
    if bytes(line.tool_use_result):
        try:
            structured = _structured(line.tool_use_result)
        except (msgspec.DecodeError, RecursionError):
            structured = None
    again = RunLine(
        type=line.type,
        uuid=line.uuid,
        parent_uuid=line.parent_uuid,
        timestamp=line.timestamp,
        is_sidechain=line.is_sidechain,
        agent_id=line.agent_id,
        request_id=line.request_id,
        is_meta=line.is_meta,
        is_compact_summary=line.is_compact_summary,
        is_api_error_message=line.is_api_error_message,
        message=message,
        tool_use_result=structured,
    )
    return again, drifted, bad


def _message(message: claude_lines.Message | None) -> tuple[RunMessage | None, int]:
    if message is None:
        return None, 0
    usage, bad = _usage(message.usage)
    content: str | list[RunBlock] | None
    if isinstance(message.content, list):
        content = [
            RunBlock(b.tool_use_id, b.type, b.id, b.name, b.input, b.text, _content(b.content), b.is_error)
            for b in message.content
        ]
    else:
        content = message.content
    return RunMessage(message.model, message.id, content, message.stop_reason, usage), bad


def _content(raw: msgspec.Raw) -> str | None:
    body = text_bytes(raw)
    try:
        return body.decode("utf-8", "surrogatepass") if bytes(raw) else None
    except UnicodeDecodeError:  # neither JSON nor text: only its size counts
        return body.decode("utf-8", "replace")


def _usage(usage: claude_lines.Usage | None) -> tuple[RunUsage | None, int]:
    if usage is None:
        return None, 0
    creation = usage.cache_creation
    given = (
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
        usage.output_tokens,
        None if creation is None else creation.ephemeral_5m_input_tokens,
        None if creation is None else creation.ephemeral_1h_input_tokens,
    )
    fresh, written, read, output, short, long = kept = tuple(map(count_of, given))
    bad = sum(1 for had, has in zip(given, kept, strict=True) if had is not None and has is None)
    return RunUsage(fresh, written, read, None if creation is None else RunCreation(short, long), output), bad


_minutes: dict[str, int] = {}


def stamp_ms(stamp: str | int | float | None) -> int:
    """Unix milliseconds of a line's time, or 0: no line was written in 1970.

    Sessions hold many lines a minute, so the minute is remembered and only its seconds are read.
    """
    try:
        if len(stamp) == 24:  # type: ignore[arg-type]
            return _minutes[stamp[:17]] + int(stamp[17:19] + stamp[20:23])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        pass
    whole = max(0, unix_ms(stamp) or 0)
    if type(stamp) is str and whole and len(stamp) == 24 and stamp[19] == "." and stamp[23] == "Z":
        if len(_minutes) > 8_192:  # a hostile file invents a minute a line
            _minutes.clear()
        _minutes[stamp[:17]] = whole - whole % 60_000
    return whole
