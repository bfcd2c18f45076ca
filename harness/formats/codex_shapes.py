"""The shapes of what a Codex rollout holds: a line, what it records, and its counters.

Fields that nothing reads are left out, so the decoder skips them without building anything: most of a rollout is
encrypted reasoning, instructions, and copies of copies. This module refuses to give a field a meaning.
"""

from __future__ import annotations

import msgspec

__all__ = ["Bare", "Counts", "Git", "Info", "Item", "Line", "Snapshot"]

# An optional Raw would be a union, which msgspec decodes instead of leaving raw: absence is the empty Raw.
_NOTHING = msgspec.Raw()


class Counts(msgspec.Struct, gc=False):
    """Counters of one answer, or of all so far. Cached and written tokens are inside ``input_tokens``."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None


class Info(msgspec.Struct, gc=False):
    """What a ``token_count`` says."""

    total_token_usage: Counts | None = None
    last_token_usage: Counts | None = None
    model_context_window: int | None = None


class Git(msgspec.Struct, gc=False):
    """The checkout that the session began in."""

    branch: str | None = None


class Snapshot(msgspec.Struct, gc=False):
    """A commit of the working tree that no branch shows."""

    id: str | None = None


class Item(msgspec.Struct, gc=False):
    """What a line records: a part of the conversation, an event, the session, or the settings of a turn.

    One struct for all kinds, because choosing one by kind costs a second pass over the line. What is raw is measured
    and hashed, or decoded only where its kind asks for it.
    """

    type: str = ""
    id: str | None = None
    role: str | None = None
    content: msgspec.Raw = _NOTHING
    name: str | None = None
    call_id: str | None = None
    status: str | None = None
    arguments: msgspec.Raw = _NOTHING
    input: msgspec.Raw = _NOTHING
    action: msgspec.Raw = _NOTHING
    output: msgspec.Raw = _NOTHING
    info: Info | None = None
    ghost_commit: Snapshot | None = None
    model: str | None = None
    exit_code: int | None = None
    duration: msgspec.Raw = _NOTHING
    duration_ms: float | None = None
    num_turns: int | None = None
    new_thread_id: str | None = None
    message: msgspec.Raw = _NOTHING
    # Of the session:
    timestamp: str | int | float | None = None
    cwd: str | None = None
    cli_version: str | None = None
    model_provider: str | None = None
    git: Git | None = None
    source: msgspec.Raw = _NOTHING
    thread_source: msgspec.Raw = _NOTHING
    session_id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    agent_role: str | None = None


class Line(msgspec.Struct, gc=False):
    """A line: its kind, the time at which it was written, and what it records. A bare line has no time."""

    type: str = ""
    timestamp: str | int | float | None = None
    payload: Item | None = None
    record_type: str | None = None


class Bare(Line, gc=False):
    """A line of an old build. Only a description has a time, inside its item."""
