"""What a tool does, by its name: one table for the readers of all formats.

Agents name the same tool differently (``Read``, ``read_file``, ``str_replace_editor view``), so names are compared
without case, punctuation and the prefix of the server that offers them. The table is closed: a name that is not in it
is ``other``, and whether it changes anything is unknown. This module refuses to look at arguments: it says where the
target would stand among them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kpis.terms.trace import ToolOp

__all__ = ["ADDRESSES", "PATCHES", "PATHS", "PATTERNS", "SHELLS", "TYPING", "Tool", "ToolReading", "changes", "tool_of"]


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
SHELLS = _names(
    "bash bashtool bashsession shell localshell shellcommand execcommand containerexec runshellcommand executebash"
    " executecommand runcommand runterminalcmd runinterminal run terminal cmd sh unifiedexec"
)
TYPING = "writestdin"
_PATCHERS = frozenset(("applypatch", "patch"))
_EDITORS = _names("strreplaceeditor strreplacebasededittool texteditor editor")

# The keys of arguments that may hold a target, likely ones first.
PATHS = (
    "file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "filename", "file_name", "file",
    "filepath", "uri", "dir_path", "directory", "dir", "relative_workspace_path",
)  # fmt: skip
PATTERNS = ("pattern", "query", "regex", "search_term", "glob", "name")
ADDRESSES = ("url", "query", "q")
PATCHES = ("input", "patch", "diff")

_UNTOLD = (ToolOp.EXEC, ToolOp.TEST, ToolOp.SPAWN, ToolOp.OTHER)


def changes(op: ToolOp) -> bool | None:
    """Whether what is done by ``op`` changes anything; None where that depends on more than the operation."""
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


def _squeezed(name: str) -> str:
    letters = "".join(c for c in name.lower() if c.isalnum())
    return re.sub(r"\d{6,}$", "", letters)  # a dated version of a tool, such as bash_20250124


def _read_name(name: str) -> Tool:
    bare = name[:200].rpartition("__")[2]  # mcp__server__tool
    short = _squeezed(bare)
    if short not in _OPS:
        short = _squeezed(re.split(r"[./:]", bare)[-1])
    op = _OPS.get(short, ToolOp.OTHER)
    mutates = changes(op)
    if short in _UNSURE:
        mutates = None
    elif short in _WAITING_AGENTS:
        mutates = False
    by_command = short in SHELLS or short in _EDITORS or short == TYPING
    polling = True if short in _POLLING else None if by_command or short not in _OPS else False
    keys: tuple[str, ...] = PATHS
    if short in _POLLING or op in (ToolOp.PLAN, ToolOp.SPAWN):
        keys = ()
    elif short in _PATCHERS:
        keys = PATCHES
    elif op is ToolOp.SEARCH:
        keys = PATTERNS + PATHS
    elif op is ToolOp.WEB:
        keys = ADDRESSES
    return Tool(short, op, mutates, polling, keys, by_command, ToolReading(op, mutates, polling, None))
