"""What a tool does, by its name: one table for the readers of all formats.

Agents name the same tool differently (``Read``, ``read_file``, ``str_replace_editor view``), so names are compared
without case, punctuation and the prefix of the server that offers them. The table is closed: a name that is not in it
is ``other``, and whether it changes anything is unknown. Of a shell tool the command is inspected
(:mod:`harness.formats.tool_commands`). This module refuses to keep arguments: it names a target and forgets the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.formats.tool_commands import read_command
from kpis.terms.trace import ToolOp

__all__ = [
    "COMMAND_KEYS",
    "TARGET_KEYS",
    "Tool",
    "about",
    "ToolReading",
    "command_of",
    "mutates_of",
    "op_of",
    "polling_of",
    "reading_of",
    "target_of",
    "tool_of",
]


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_NAMES = {
    ToolOp.READ: "read readfile readmanyfiles notebookread view viewfile viewimage openfile open goto scrollup"
    " scrolldown cat getfilecontents filesystemread readtextfile readmultiplefiles fsread readmcpresource"
    " readmcpresourcetool bashoutput taskoutput agentoutput agentoutputtool getterminaloutput readnotebook"
    " viewcodeitem filepreview",
    ToolOp.SEARCH: "grep glob greptool globtool search searchfile searchdir findfile searchfiles searchfilecontent"
    " grepsearch filesearch codebasesearch semanticsearch ripgrep find toolsearch searchcode lsp workspacesymbol",
    ToolOp.LIST: "ls list listdir listdirectory listfiles directorytree listmcpresources listmcpresourcestool",
    ToolOp.WRITE: "write writefile edit editfile multiedit notebookedit create createfile applypatch patch insert"
    " replace strreplace writetofile replaceinfile insertedit inserteditintofile deletefile movefile createdirectory"
    " strreplaceeditor strreplacebasededittool texteditor editor fswrite searchreplace applydiff append undoedit",
    ToolOp.EXEC: "bash bashtool bashsession shell localshell shellcommand execcommand containerexec runshellcommand"
    " executebash executecommand runcommand runterminalcmd runinterminal run terminal cmd python ipython"
    " executeipythoncell codeexecution codeinterpreter powershell killshell killbash taskstop writestdin"
    " unifiedexec executecode runpython sh repl monitor",
    ToolOp.TEST: "test runtests testfailure runtest",
    ToolOp.WEB: "webfetch websearch googlewebsearch fetch browse browser browseraction browseinteractive webbrowser"
    " webbrowsergo webbrowserclick fetchurl openurl fetchwebpage searchweb",
    ToolOp.PLAN: "todowrite todoread updateplan plan exitplanmode enterplanmode think tasktracker writetodos taskcreate"
    " taskupdate taskget tasklist updatetodolist managetodolist sequentialthinking attemptcompletion finish submit"
    " askuserquestion askfollowupquestion requestuserinput",
    ToolOp.SPAWN: "task agent spawnagent delegate delegatetask subagent newtask dispatchagent runsubagent sendinput"
    " sendmessage closeagent resumeagent wait waitagent",
    ToolOp.RECALL: "contextrecall contextsearch recall memory savememory skill searchmemory searchnodes",
}
_OPS = {name: op for op, names in _NAMES.items() for name in names.split()}

_UNSURE = _names("memory savememory browser browseraction browseinteractive webbrowser webbrowserclick")
_WAITING_AGENTS = frozenset(("wait", "waitagent"))
_POLLING = _names("bashoutput taskoutput agentoutput agentoutputtool getterminaloutput wait waitagent sleep monitor")
_SHELLS = _names(
    "bash bashtool bashsession shell localshell shellcommand execcommand containerexec runshellcommand executebash"
    " executecommand runcommand runterminalcmd runinterminal run terminal cmd sh unifiedexec"
)
_TYPING = "writestdin"
_PATCHERS = frozenset(("applypatch", "patch"))
_EDITORS = _names("strreplaceeditor strreplacebasededittool texteditor editor")

_PATHS = (
    "file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "filename", "file_name", "file",
    "filepath", "uri", "dir_path", "directory", "dir", "relative_workspace_path",
)  # fmt: skip
_PATTERNS = ("pattern", "query", "regex", "search_term", "glob", "name")
_ADDRESSES = ("url", "query", "q")
COMMAND_KEYS = ("command", "cmd", "script", "chars")
"""The keys of arguments that may hold a command."""
_PATCHES = ("input", "patch", "diff")
TARGET_KEYS = tuple(dict.fromkeys((*_PATHS, *_PATTERNS, *_ADDRESSES, *COMMAND_KEYS, *_PATCHES)))
"""The keys of arguments that anything here looks at; a reader need decode no others."""

_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_LONGEST = 1_000
_SHORT = 200


_UNTOLD = (ToolOp.EXEC, ToolOp.TEST, ToolOp.SPAWN, ToolOp.OTHER)


def _changes(op: ToolOp) -> bool | None:
    return None if op in _UNTOLD else op is ToolOp.WRITE


class ToolReading(NamedTuple):
    """What one call does. ``mutates`` and ``polling`` are None where the tool is unknown."""

    op: ToolOp
    mutates: bool | None
    polling: bool | None
    target: str | None


class Tool(NamedTuple):
    """What a name alone tells. ``keys``: the arguments that may hold the target, first one first.

    ``by_command``: the command decides (a shell, an editor with subcommands, typing into a running program).
    ``told`` is the reading of a call without arguments.
    """

    short: str
    op: ToolOp
    mutates: bool | None
    polling: bool | None
    keys: tuple[str, ...]
    by_command: bool
    told: ToolReading


_tools: dict[str, Tool] = {}


def tool_of(name: str | None) -> Tool:
    """What the name tells, remembered, because a run repeats a dozen names."""
    known = _tools.get(name or "")
    if known is None:
        known = _read_name(name or "")
        if len(_tools) < 4_096:  # a hostile file invents a name a line
            _tools[name or ""] = known
    return known


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
    return tool.mutates if op is tool.op else _changes(op)


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
    if told.target is not None or tool.short in _SHELLS:
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


def _squeezed(name: str) -> str:
    letters = "".join(c for c in name.lower() if c.isalnum())
    return re.sub(r"\d{6,}$", "", letters)  # a dated version of a tool, such as bash_20250124


def _read_name(name: str) -> Tool:
    bare = name[:200].rpartition("__")[2]  # mcp__server__tool
    short = _squeezed(bare)
    if short not in _OPS:
        short = _squeezed(re.split(r"[./:]", bare)[-1])
    op = _OPS.get(short, ToolOp.OTHER)
    mutates = _changes(op)
    if short in _UNSURE:
        mutates = None
    elif short in _WAITING_AGENTS:
        mutates = False
    by_command = short in _SHELLS or short in _EDITORS or short == _TYPING
    polling = True if short in _POLLING else None if by_command or short not in _OPS else False
    keys: tuple[str, ...] = _PATHS
    if short in _POLLING or op in (ToolOp.PLAN, ToolOp.SPAWN):
        keys = ()
    elif short in _PATCHERS:
        keys = _PATCHES
    elif op is ToolOp.SEARCH:
        keys = _PATTERNS + _PATHS
    elif op is ToolOp.WEB:
        keys = _ADDRESSES
    return Tool(short, op, mutates, polling, keys, by_command, ToolReading(op, mutates, polling, None))


def _commanded(tool: Tool, command: str | Sequence[str]) -> ToolReading:
    if tool.short in _SHELLS:
        return _in_a_shell(command) if type(command) is str and len(command) <= _SHORT else _shell(command)
    if tool.short == _TYPING:
        return ToolReading(tool.op, tool.mutates, not command, None)
    op = ToolOp.READ if command == "view" else tool.op
    return ToolReading(op, _changes(op), False, None)


def _shell(command: str | Sequence[str]) -> ToolReading:
    shell = read_command(command)
    return ToolReading(shell.op, _changes(shell.op), shell.polling, shell.target)


_in_a_shell = lru_cache(maxsize=2_048)(_shell)
"""Short commands remembered: a run asks for its status and its tests over and over."""


def about(value: str, key: str) -> str:
    """The target that an argument names: itself, cut, and of a patch the first file that it changes."""
    if key in _PATCHES:
        found = _PATCHED.search(value)
        value = found[1].strip() if found is not None else value
    return value[:_LONGEST]
