"""A line of a Claude Code session whose shape has drifted, as the replay of whole trees reads lines.

It goes through the second, lenient pass of the complete decoder, so that replay and workloads read a drifted line
alike. This module refuses nothing that is a JSON object.
"""

from __future__ import annotations

import msgspec

from harness.formats.claude_decode import NotALineError, decode, text_bytes
from harness.formats.claude_lines import Message, Usage
from harness.formats.claude_run_lines import RunBlock, RunCreation, RunLine, RunMessage, RunUsage, Structured
from harness.formats.limits import FormatError, Limits, check_depth
from harness.formats.session_numbers import count_of

__all__ = ["decode_leniently"]

_structured = msgspec.json.Decoder(Structured | str | list[msgspec.Raw] | None).decode


def decode_leniently(raw: bytes, limits: Limits) -> tuple[RunLine, bool, int]:
    """The line in ``raw`` as far as it fits, whether its shape had drifted, and how many of its counters are no counts.

    Raises:
        NotALineError: ``raw`` is not one JSON object, or nests deeper than the limit.
    """
    try:
        check_depth(raw, limits, "The line")
    except FormatError as error:
        raise NotALineError(str(error)) from None
    line, drifted = decode(raw)
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


def _message(message: Message | None) -> tuple[RunMessage | None, int]:
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


def _usage(usage: Usage | None) -> tuple[RunUsage | None, int]:
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
