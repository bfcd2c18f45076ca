"""A shell command as words: the part of it that is looked at, and its tokens.

Works on a bounded prefix, without comments and the bodies of here-documents, in time linear in its length. This module
refuses to expand and to substitute: a word is what is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.formats.shell_programs import SHELLS

__all__ = [
    "ENDS",
    "MOST_WORDS",
    "REDIRECTIONS",
    "SIGNS",
    "TOKEN",
    "head_of",
    "line_of",
    "program_of",
    "starts_shell",
    "unquoted",
]

_LOOKED_AT = 4_000
"""Characters of a command that are looked at: what follows is the body of a script, not a first word."""
MOST_WORDS = 16
"""Words of one part that are kept."""

# One token: a separator of commands, a redirection, a bracket, or a word of plain and quoted pieces. All loops are
# possessive, so that a hostile command costs no more than its length.
TOKEN = re.compile(
    r"""&&|\|\||;++|\n|&(?!>)|\|&?
    |(?:\d|&)?>{1,2}&?\|?|<<<|<
    |[()]
    |(?:[^\s;&|<>()"'\\]++|\\.|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|'[^']*+(?:'|\Z)|\\\Z)++""",
    re.VERBOSE | re.DOTALL,
)
REDIRECTIONS = frozenset(
    [f"{of}{to}{rest}" for of in ("", "&", *"0123456789") for to in (">", ">>") for rest in ("", "&", "|", "&|")]
    + ["<", "<<<"]
)
ENDS = frozenset(("&&", "||", ";", ";;", "\n", "&", "|", "|&"))
_HERE = re.compile(r"""(?<!<)<<-?[ \t]*+(?:'([^'\n]*+)'|"([^"\n]*+)"|\\?(\w++))""")
_COMMENT = re.compile(r"^[ \t]*+#.*$", re.MULTILINE)
_UNQUOTE = str.maketrans("", "", "\"'\\")
SIGNS = re.compile(r"[\s;&|<>()$`]")


def line_of(words: Sequence[str]) -> str:
    """A program call as a line; of ``bash -lc LINE`` its line."""
    texts = [word for word in words[:MOST_WORDS] if isinstance(word, str)]
    if len(texts) >= 3 and starts_shell(texts):
        return texts[2]
    return " ".join(f"'{word[:1_000]}'" if SIGNS.search(word[:1_000]) else word[:1_000] for word in texts)


def head_of(line: str) -> str:
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


def unquoted(word: str) -> str:
    """``word`` without its quotes."""
    return word[:1_000] if word.isidentifier() else word.translate(_UNQUOTE)[:1_000]


def program_of(word: str) -> str:
    """The program that ``word`` starts, without its folder."""
    return unquoted(word).rpartition("/")[2]


def starts_shell(words: Sequence[str]) -> bool:
    """Whether ``words``, two at least, hand a shell a command to run, as ``bash -c`` does."""
    return program_of(words[0]) in SHELLS and words[1].startswith("-") and words[1].endswith("c")
