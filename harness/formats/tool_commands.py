"""What a shell command is about, from the first words of its parts.

A shell tool reads, searches, writes and tests, and its name says none of it. This module looks at the first word or
two of each part of a command line, in time linear in a bounded prefix, and calls a command anything but ``exec`` only
where every part is known. It refuses to expand, to substitute and to follow scripts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.formats.shell_programs import (
    DIRECT,
    FILTERS,
    KNOWN,
    LIST,
    LOOPS,
    NEUTRAL,
    READ,
    RUNNERS,
    SCRIPTED,
    SEARCH,
    SECOND,
    TEST,
    VALUED,
    WAITS,
    WRAPPERS,
    WRITE,
)
from harness.formats.shell_words import (
    ENDS,
    MOST_WORDS,
    REDIRECTIONS,
    SIGNS,
    TOKEN,
    head_of,
    line_of,
    program_of,
    starts_shell,
    unquoted,
)
from kpis.terms.trace import ToolOp

__all__ = ["ShellReading", "read_command"]

_ASSIGNED = re.compile(r"[A-Za-z_]\w*+=")

_TELLING = (ToolOp.WRITE, ToolOp.READ, ToolOp.SEARCH, ToolOp.LIST)
_FIRST = re.compile(r"\s*+(?:cd [\w./~-]++ && )?+([\w./+-]++)(?=\s|\Z)")


class ShellReading(NamedTuple):
    """``target``: the file or pattern of the first part that has one. ``polling``: it waits, then looks again."""

    op: ToolOp
    polling: bool
    target: str | None


def read_command(command: str | Sequence[str]) -> ShellReading:
    """What ``command`` does: a line for a shell, or the words of one program call."""
    line = head_of(command if isinstance(command, str) else line_of(command))
    first = _FIRST.match(line)
    if first is not None and first[1].rpartition("/")[2] not in KNOWN:
        return ShellReading(ToolOp.EXEC, first[1] == "watch", None)  # whatever follows
    parts: list[tuple[ToolOp | None, str | None]] = []
    written: str | None = None
    clear = "$(" not in line and "`" not in line
    begun = waits = loops = polling = piped = False
    words: list[str] = []
    redirect = ""
    for text in TOKEN.findall(line + "\n"):
        if text in ENDS or text[0] == ";":
            if words:
                if "sleep" in words:
                    waits = True
                loops = loops or words[0] in LOOPS
                if words[0] != "cd":
                    polling = polling or (not begun and words[0] in WAITS)
                    begun = True
                part = _part(words, piped)
                if part[0] is ToolOp.EXEC and not loops:
                    return ShellReading(ToolOp.EXEC, polling, None)  # whatever follows
                parts.append(part)
            words, piped, redirect = [], text in ("|", "|&"), ""
        elif text in REDIRECTIONS:
            redirect = text
        elif text in "()":
            clear = False
        elif redirect:
            if ">" in redirect and redirect[-1] != "&" and not text.startswith("/dev/"):
                written = written or unquoted(text)
            redirect = ""
        elif len(words) < MOST_WORDS:
            words.append(text)
    return _together(parts, written, clear, polling or (loops and waits))


def _part(words: list[str], piped: bool) -> tuple[ToolOp | None, str | None]:
    """What one simple command does (None: nothing that counts), and its target."""
    piped = piped and words[0] != "xargs"
    words = _unwrapped(words)
    if not words:
        return None, None
    program, rest = program_of(words[0]), words[1:]
    if program in NEUTRAL or (piped and program in FILTERS):
        return None, None  # behind a pipe it only filters what another part read
    if program in TEST:
        return ToolOp.TEST, None
    plain = [unquoted(word) for word in rest if not word.startswith("-")]
    if program in SECOND:
        if program == "git" and rest[:1] == ["-C"]:
            plain = plain[1:]
        if plain[:1] == ["run"] and "test" in SECOND[program]:
            plain = [name.partition(":")[0] for name in plain[1:2]]
        return SECOND[program].get(next(iter(plain), ""), ToolOp.EXEC), None
    last = plain[-1] if plain else None
    if program in ("sed", "perl") and any(word.startswith(("-i", "--in-place", "-pi")) for word in rest):
        return ToolOp.WRITE, last
    if program in READ:
        return ToolOp.READ, last if len(plain) > (program in SCRIPTED) else None
    if program in SEARCH:
        return _search(program, rest)
    if program in LIST:
        return ToolOp.LIST, last
    return (ToolOp.WRITE, last) if program in WRITE else (ToolOp.EXEC, None)


def _search(program: str, rest: list[str]) -> tuple[ToolOp, str | None]:
    if program == "find" and not {"-exec", "-execdir", "-delete", "-ok"}.isdisjoint(rest):
        return ToolOp.EXEC, None
    after = list(zip(["", *rest], rest, strict=False))
    named = [word for before, word in after if before in ("-name", "-iname", "-path", "-e")]
    plain = [word for before, word in after if not word.startswith("-") and before not in VALUED]
    return ToolOp.SEARCH, next(map(unquoted, named or plain), None)


def _unwrapped(words: list[str]) -> list[str]:
    """``words`` without assignments and programs that only start another one."""
    at = 0
    if words[0] in DIRECT:
        return words
    while at < len(words):
        program, rest = program_of(words[at]), words[at + 1 :]
        if _ASSIGNED.match(words[at]) or program in WRAPPERS:
            at += 1
        elif program == "timeout":
            at += 1
            while at < len(words) and (words[at].startswith("-") or words[at][:1].isdigit()):
                at += 1
        elif program in RUNNERS and rest[:1] == ["run"]:
            at += 2
        elif program in ("python", "python3") and rest and (rest[0] == "-m" or program_of(rest[0]) == "manage.py"):
            at += 2 if rest[0] == "-m" else 1
        elif len(rest) == 2 and starts_shell(words[at:]) and not SIGNS.search(unquoted(rest[1]).replace(" ", "")):
            words, at = unquoted(rest[1]).split()[:MOST_WORDS], 0
        else:
            break
        while 0 < at < len(words) and words[at].startswith("-") and program in WRAPPERS:
            at += 1
    return words[at:]


def _together(
    parts: Sequence[tuple[ToolOp | None, str | None]], written: str | None, clear: bool, polling: bool
) -> ShellReading:
    """One word for all parts: the one that tells most, and ``exec`` where any part is unknown."""
    ops = [op for op, _ in parts]  # a list: hashing a member costs more than looking through a few
    if not clear or ToolOp.EXEC in ops:
        return ShellReading(ToolOp.EXEC, polling, None)
    if ToolOp.TEST in ops:
        return ShellReading(ToolOp.TEST, polling, None)
    if written is not None:
        return ShellReading(ToolOp.WRITE, polling, written)
    for op in _TELLING:
        if op in ops:
            return ShellReading(op, polling, next((its for found, its in parts if found is op and its), None))
    return ShellReading(ToolOp.EXEC, polling, None)
