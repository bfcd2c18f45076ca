"""What one call of a tool does, by the tool's name and the arguments of the call.

Most names tell all but the target. Of a shell tool the command is inspected (:mod:`harness.formats.tool_commands`), of
an editor with subcommands the subcommand. This module refuses to keep arguments: it names a target and forgets the
rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from harness.formats.tool_commands import read_command
from harness.formats.tool_names import (
    ADDRESSES,
    PATCHES,
    PATHS,
    PATTERNS,
    SHELLS,
    TYPING,
    Tool,
    ToolReading,
    changes,
    tool_of,
)
from kpis.terms.trace import ToolOp

__all__ = [
    "COMMAND_KEYS",
    "TARGET_KEYS",
    "about",
    "command_of",
    "mutates_of",
    "op_of",
    "polling_of",
    "reading_of",
    "target_of",
]

COMMAND_KEYS = ("command", "cmd", "script", "chars")
"""The keys of arguments that may hold a command."""
TARGET_KEYS = tuple(dict.fromkeys((*PATHS, *PATTERNS, *ADDRESSES, *COMMAND_KEYS, *PATCHES)))
"""The keys of arguments that anything here looks at; a reader need decode no others."""

_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_LONGEST = 1_000
_SHORT = 200


def op_of(name: str | None, command: str | Sequence[str] | None = None) -> ToolOp:
    """What a tool of that name does; ``command`` is what a shell tool, or an editor with subcommands, was told."""
    tool = tool_of(name)
    if command is not None and tool.by_command:
        return _commanded(tool, command).op
    return tool.op


def mutates_of(name: str | None, op: ToolOp) -> bool | None:
    """Whether a call changes the files or the world that later calls see; None where nobody can tell.

    ``op`` is what :func:`op_of` said of the call. Commands that are not understood, tests and sub-agents are None.
    """
    tool = tool_of(name)
    return tool.mutates if op is tool.op else changes(op)


def polling_of(name: str | None, command: str | Sequence[str] | None = None) -> bool | None:
    """Whether a call waits for something that runs by itself, so that repeating it is no loop; None if unknown.

    ``command`` is a shell's command, or what ``write_stdin`` types: typing nothing only looks.
    """
    tool = tool_of(name)
    if command is not None and tool.by_command:
        return _commanded(tool, command).polling
    return tool.polling


def target_of(name: str | None, args: Mapping[str, object]) -> str | None:
    """The file, address or pattern that a call is about, or None: at most 1,000 characters.

    Of a shell command that is understood, it is the file or pattern of its first such part.
    """
    return reading_of(name, args).target


def reading_of(name: str | None, args: Mapping[str, object]) -> ToolReading:
    """All four answers on one call, its command read once."""
    tool = tool_of(name)
    told = tool.told
    if tool.by_command:
        command = command_of(args)
        if command is not None:
            told = _commanded(tool, command)
    if told.target is not None or tool.short in SHELLS:
        return told
    for key in tool.keys:
        value = args.get(key)
        if isinstance(value, str) and value:
            return told._replace(target=about(value, key))
    return told


def command_of(args: Mapping[str, object]) -> str | Sequence[str] | None:
    """The command among the arguments of a shell tool: a line, or the words of one call."""
    for key in COMMAND_KEYS:
        value = args.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, (list, tuple)):
            return [word for word in value if isinstance(word, str)]
    return None


def _commanded(tool: Tool, command: str | Sequence[str]) -> ToolReading:
    if tool.short in SHELLS:
        return _in_a_shell(command) if type(command) is str and len(command) <= _SHORT else _shell(command)
    if tool.short == TYPING:
        return ToolReading(tool.op, tool.mutates, not command, None)
    op = ToolOp.READ if command == "view" else tool.op
    return ToolReading(op, changes(op), False, None)


def _shell(command: str | Sequence[str]) -> ToolReading:
    shell = read_command(command)
    return ToolReading(shell.op, changes(shell.op), shell.polling, shell.target)


_in_a_shell = lru_cache(maxsize=2_048)(_shell)
"""Short commands remembered: a run asks for its status and its tests over and over."""


def about(value: str, key: str) -> str:
    """The target that an argument names: itself, cut, and of a patch the first file that it changes."""
    if key in PATCHES:
        found = _PATCHED.search(value)
        value = found[1].strip() if found is not None else value
    return value[:_LONGEST]
