"""What a shell command is about, from the first words of its parts.

A shell tool reads, searches, writes and tests, and its name says none of it. This module looks at the first word or
two of each part of a command line, in time linear in a bounded prefix, and calls a command anything but ``exec`` only
where every part is known. It refuses to expand, to substitute and to follow scripts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kpis.terms.trace import ToolOp

__all__ = ["ShellReading", "read_command"]

_LOOKED_AT = 4_000
"""Characters of a command that are looked at: what follows is the body of a script, not a first word."""
_WORDS = 16
"""Words of one part that are kept."""


class ShellReading(NamedTuple):
    """``target``: the file or pattern of the first part that has one. ``polling``: it waits, then looks again."""

    op: ToolOp
    polling: bool
    target: str | None


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


# One token: a separator of commands, a redirection, a bracket, or a word of plain and quoted pieces. All loops are
# possessive, so that a hostile command costs no more than its length.
_TOKEN = re.compile(
    r"""&&|\|\||;++|\n|&(?!>)|\|&?
    |(?:\d|&)?>{1,2}&?\|?|<<<|<
    |[()]
    |(?:[^\s;&|<>()"'\\]++|\\.|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|'[^']*+(?:'|\Z)|\\\Z)++""",
    re.VERBOSE | re.DOTALL,
)
_REDIRECTIONS = frozenset(
    [f"{of}{to}{rest}" for of in ("", "&", *"0123456789") for to in (">", ">>") for rest in ("", "&", "|", "&|")]
    + ["<", "<<<"]
)
_ENDS = frozenset(("&&", "||", ";", ";;", "\n", "&", "|", "|&"))
_HERE = re.compile(r"""(?<!<)<<-?[ \t]*+(?:'([^'\n]*+)'|"([^"\n]*+)"|\\?(\w++))""")
_COMMENT = re.compile(r"^[ \t]*+#.*$", re.MULTILINE)
_UNQUOTE = str.maketrans("", "", "\"'\\")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*+=")
_SIGNS = re.compile(r"[\s;&|<>()$`]")

_READ = _names(
    "cat head tail less more nl bat sed awk gawk jq yq wc file stat diff cmp xxd od hexdump strings"
    " md5sum sha1sum sha256sum column sort uniq cut tr fold"
)
_SCRIPTED = frozenset(("sed", "awk", "gawk", "jq", "yq"))
_SEARCH = _names("grep egrep fgrep zgrep rg ag ack find fd fdfind locate which whereis")
_LIST = _names("ls ll dir tree du df exa eza")
_WRITE = _names("mkdir touch rm rmdir mv cp ln chmod chown tee patch truncate dd install rsync unzip apply_patch")
_TEST = _names(
    "pytest py.test tox nox unittest jest vitest mocha ava karma cypress ctest rspec phpunit pest nosetests nose2"
    " trial bats gotestsum"
)
_NEUTRAL = _names(
    "cd pushd popd echo printf true : set shopt export unset source . sleep wait test [ [[ pwd date whoami id"
    " exit clear umask trap type hash ulimit alias for done fi } esac"
)
_WRAPPERS = _names("sudo time nohup nice env command exec stdbuf xargs npx bunx setsid do then else { ! if while until")
_RUNNERS = frozenset(("uv", "poetry", "pipenv", "hatch", "pdm", "rye"))
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_WAITS = frozenset(("sleep", "wait", "watch"))
_LOOPS = frozenset(("while", "until", "for"))
_VALUED = _names("-A -B -C -m -t -g -d --type --glob --max-depth")
"""Options of search programs whose next word is their value."""

_SECOND = {
    "git": {
        **dict.fromkeys(_names("show diff log blame status rev-parse describe shortlog reflog cat-file"), ToolOp.READ),
        **dict.fromkeys(_names("add commit checkout reset restore switch merge rebase apply mv rm"), ToolOp.WRITE),
        **dict.fromkeys(_names("clean am pull stash revert cherry-pick init clone"), ToolOp.WRITE),
        "grep": ToolOp.SEARCH,
        "ls-files": ToolOp.LIST,
        "ls-tree": ToolOp.LIST,
    },
    **{tool: {"test": ToolOp.TEST, "t": ToolOp.TEST} for tool in ("npm", "yarn", "pnpm", "bun", "cargo")},
    **{tool: {"test": ToolOp.TEST} for tool in ("go", "deno", "dotnet", "swift", "mix", "bazel", "rake", "manage.py")},
    **{tool: {"test": ToolOp.TEST, "check": ToolOp.TEST} for tool in ("make", "gmake", "just", "gradle", "gradlew")},
    **{tool: {"test": ToolOp.TEST, "verify": ToolOp.TEST} for tool in ("mvn", "mvnw")},
}

_TELLING = (ToolOp.WRITE, ToolOp.READ, ToolOp.SEARCH, ToolOp.LIST)
_FILTERS = _READ | _SEARCH
_DIRECT = (_READ | _SEARCH | _LIST | _WRITE | _TEST | _NEUTRAL | frozenset(_SECOND)) - {"manage.py"}
_FIRST = re.compile(r"\s*+(?:cd [\w./~-]++ && )?+([\w./+-]++)(?=\s|\Z)")
_KNOWN = frozenset().union(
    _READ, _SEARCH, _LIST, _WRITE, _TEST, _NEUTRAL, _WRAPPERS, _RUNNERS, _SHELLS, _LOOPS, _SECOND,
    ("timeout", "perl", "python", "python3"),
)  # fmt: skip


def read_command(command: str | Sequence[str]) -> ShellReading:
    """What ``command`` does: a line for a shell, or the words of one program call."""
    line = _head(command if isinstance(command, str) else _line(command))
    first = _FIRST.match(line)
    if first is not None and first[1].rpartition("/")[2] not in _KNOWN:
        return ShellReading(ToolOp.EXEC, first[1] == "watch", None)  # whatever follows
    parts: list[tuple[ToolOp | None, str | None]] = []
    written: str | None = None
    clear = "$(" not in line and "`" not in line
    begun = waits = loops = polling = piped = False
    words: list[str] = []
    redirect = ""
    for text in _TOKEN.findall(line + "\n"):
        if text in _ENDS or text[0] == ";":
            if words:
                if "sleep" in words:
                    waits = True
                loops = loops or words[0] in _LOOPS
                if words[0] != "cd":
                    polling = polling or (not begun and words[0] in _WAITS)
                    begun = True
                part = _part(words, piped)
                if part[0] is ToolOp.EXEC and not loops:
                    return ShellReading(ToolOp.EXEC, polling, None)  # whatever follows
                parts.append(part)
            words, piped, redirect = [], text in ("|", "|&"), ""
        elif text in _REDIRECTIONS:
            redirect = text
        elif text in "()":
            clear = False
        elif redirect:
            if ">" in redirect and redirect[-1] != "&" and not text.startswith("/dev/"):
                written = written or _plain(text)
            redirect = ""
        elif len(words) < _WORDS:
            words.append(text)
    return _together(parts, written, clear, polling or (loops and waits))


def _line(words: Sequence[str]) -> str:
    """A program call as a line; of ``bash -lc LINE`` its line."""
    texts = [word for word in words[:_WORDS] if isinstance(word, str)]
    if len(texts) >= 3 and _starts_shell(texts):
        return texts[2]
    return " ".join(f"'{word[:1_000]}'" if _SIGNS.search(word[:1_000]) else word[:1_000] for word in texts)


def _head(line: str) -> str:
    """The commands of a line within the bound, without comments and the bodies of here-documents."""
    line = line[: 16 * _LOOKED_AT]
    for _ in range(4):
        if "<<" not in line:
            break
        here = _HERE.search(line, 0, _LOOKED_AT)
        if here is None:
            break
        word = here[1] or here[2] or here[3] or ""
        start = line.find("\n", here.end())
        end = line.find("\n" + word, start) if start >= 0 else -1
        rest = line[here.end() : start] if start >= 0 else line[here.end() :]
        line = line[: here.start()] + rest + (line[end + 1 + len(word) :] if end >= 0 else "")
    return _COMMENT.sub("", line[:_LOOKED_AT]) if "#" in line else line[:_LOOKED_AT]


def _plain(word: str) -> str:
    """``word`` without its quotes."""
    return word[:1_000] if word.isidentifier() else word.translate(_UNQUOTE)[:1_000]


def _program(word: str) -> str:
    return _plain(word).rpartition("/")[2]


def _starts_shell(words: Sequence[str]) -> bool:
    return _program(words[0]) in _SHELLS and words[1].startswith("-") and words[1].endswith("c")


def _part(words: list[str], piped: bool) -> tuple[ToolOp | None, str | None]:
    """What one simple command does (None: nothing that counts), and its target."""
    piped = piped and words[0] != "xargs"
    words = _unwrapped(words)
    if not words:
        return None, None
    program, rest = _program(words[0]), words[1:]
    if program in _NEUTRAL or (piped and program in _FILTERS):
        return None, None  # behind a pipe it only filters what another part read
    if program in _TEST:
        return ToolOp.TEST, None
    plain = [_plain(word) for word in rest if not word.startswith("-")]
    if program in _SECOND:
        if program == "git" and rest[:1] == ["-C"]:
            plain = plain[1:]
        if plain[:1] == ["run"] and "test" in _SECOND[program]:
            plain = [name.partition(":")[0] for name in plain[1:2]]
        return _SECOND[program].get(next(iter(plain), ""), ToolOp.EXEC), None
    last = plain[-1] if plain else None
    if program in ("sed", "perl") and any(word.startswith(("-i", "--in-place", "-pi")) for word in rest):
        return ToolOp.WRITE, last
    if program in _READ:
        return ToolOp.READ, last if len(plain) > (program in _SCRIPTED) else None
    if program in _SEARCH:
        return _search(program, rest)
    if program in _LIST:
        return ToolOp.LIST, last
    return (ToolOp.WRITE, last) if program in _WRITE else (ToolOp.EXEC, None)


def _search(program: str, rest: list[str]) -> tuple[ToolOp, str | None]:
    if program == "find" and not {"-exec", "-execdir", "-delete", "-ok"}.isdisjoint(rest):
        return ToolOp.EXEC, None
    after = list(zip(["", *rest], rest, strict=False))
    named = [word for before, word in after if before in ("-name", "-iname", "-path", "-e")]
    plain = [word for before, word in after if not word.startswith("-") and before not in _VALUED]
    return ToolOp.SEARCH, next(map(_plain, named or plain), None)


def _unwrapped(words: list[str]) -> list[str]:
    """``words`` without assignments and programs that only start another one."""
    at = 0
    if words[0] in _DIRECT:
        return words
    while at < len(words):
        program, rest = _program(words[at]), words[at + 1 :]
        if _ASSIGNED.match(words[at]) or program in _WRAPPERS:
            at += 1
        elif program == "timeout":
            at += 1
            while at < len(words) and (words[at].startswith("-") or words[at][:1].isdigit()):
                at += 1
        elif program in _RUNNERS and rest[:1] == ["run"]:
            at += 2
        elif program in ("python", "python3") and rest and (rest[0] == "-m" or _program(rest[0]) == "manage.py"):
            at += 2 if rest[0] == "-m" else 1
        elif len(rest) == 2 and _starts_shell(words[at:]) and not _SIGNS.search(_plain(rest[1]).replace(" ", "")):
            words, at = _plain(rest[1]).split()[:_WORDS], 0
        else:
            break
        while 0 < at < len(words) and words[at].startswith("-") and program in _WRAPPERS:
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
