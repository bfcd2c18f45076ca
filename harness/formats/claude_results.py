"""Arguments and results of tool calls as replay keeps them: a size, a digest, what they are about. Never the words.

A result's size and digest are those of its text. Arguments are measured as they stand in the line, which one client
writes alike for like content; their digest puts the keys in order, because the model chose them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import msgspec

from harness.formats.claude_run_lines import RunPart
from harness.formats.tool_names import Tool
from harness.formats.tool_readings import COMMAND_KEYS, about, reading_of
from kpis.terms.trace import ToolOp

__all__ = ["digest_of", "given_of", "string_in", "text_of"]

_arguments = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_anything = msgspec.json.Decoder().decode
_in_order = msgspec.json.Encoder(order="sorted").encode


Given = tuple[str, tuple[ToolOp, bool | None, bool | None, str | None], Mapping[str, msgspec.Raw]]
"""The digest of a call's arguments; its operation, whether it mutates, whether it polls, its target; its arguments."""


def digest_of(data: bytes) -> str:
    """Sixteen hex digits, equal for equal bytes."""
    return blake2b(data, digest_size=8).hexdigest()


def given_of(name: str | None, tool: Tool, raw: msgspec.Raw) -> Given:
    """What the arguments ``raw`` of a call of ``tool`` say; ``name`` is the tool's as recorded."""
    try:
        values = _arguments(raw)
    except (msgspec.DecodeError, RecursionError):
        return digest_of(bytes(raw)), tool.told, {}
    digest = blake2b(_in_order(values), digest_size=8).hexdigest()
    if tool.by_command:
        wanted = {key: _value(values[key]) for key in (*COMMAND_KEYS, *tool.keys) if key in values}
        return digest, reading_of(name, wanted), values
    for key in tool.keys:
        value = values.get(key)
        if value is not None:
            text = _value(value)
            if text and type(text) is str:
                return digest, (tool.op, tool.mutates, tool.polling, about(text, key)), values
    return digest, tool.told, values


def _value(raw: msgspec.Raw) -> object:
    try:
        return _anything(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def text_of(content: str | Sequence[RunPart] | None) -> bytes:
    """The text of a result's ``content`` as UTF-8: a string, or the texts of its parts, one below the other."""
    if type(content) is not str:
        content = "\n".join([part.text for part in content or () if part.text is not None])  # type: ignore[union-attr]
    return content.encode("utf-8", "surrogatepass")


def string_in(values: Mapping[str, msgspec.Raw], key: str) -> str | None:
    """The argument of that name, if it is a string."""
    value = _value(values[key]) if key in values else None
    return value if isinstance(value, str) else None
