"""One line of a Claude Code session, decoded for the replay of whole trees: as few objects a line as the counts need.

:mod:`harness.formats.claude_lines` holds a line completely, for workloads; this one leaves out what is the same on
every line and keeps arguments raw. What does not fit goes through :mod:`harness.formats.claude_run_lenient`. This
module refuses to judge a line.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.formats.session_numbers import LARGEST_COUNT

__all__ = [
    "Count",
    "NOTHING",
    "RunBlock",
    "RunCreation",
    "RunLine",
    "RunMessage",
    "RunPart",
    "RunUsage",
    "Structured",
    "decode_fast",
]

# A counter beyond any real one makes the decoder refuse the line, and the lenient pass then counts it as a bad number.
Count = Annotated[int, msgspec.Meta(ge=0, lt=LARGEST_COUNT)]

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
