"""What a secret looks like: ten shapes of keys, tokens and key files, and what only stands in the place of one.

It knows shapes and no service: whether a key opens anything it cannot say. Every shape is a prefix and then a run that
is taken whole, so that a search is linear in the text even where many prefixes begin and none is a secret.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from seams.syscall.runs import token_text

__all__ = ["PLACEHOLDERS", "SHAPES", "Shape", "secret_in"]

PLACEHOLDERS = (
    b"xxxx",
    b"your-",
    b"your_",
    b"yourapi",
    b"yourtoken",
    b"yoursecret",
    b"-here",
    b"_here",
    b"placeholder",
    b"redacted",
    b"changeme",
    b"change-me",
    b"replace-me",
    b"replaceme",
)
"""A match that holds one of these, in any case, was written where a secret goes and is none."""


class Shape(NamedTuple):
    """One shape: without any of ``needles`` (in lower case where ``any_case``) the pattern cannot match.

    Where the pattern has groups, the secret is what they hold together.
    """

    needles: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    any_case: bool = False


SHAPES = (
    Shape((b"sk-",), re.compile(rb"sk-[a-z0-9]{16,}+", re.IGNORECASE), any_case=True),
    Shape(
        (b"sk-proj-", b"sk-live-", b"sk-ant-"),
        re.compile(rb"sk-(?:proj|live|ant)-[a-z0-9_-]{12,}+", re.IGNORECASE),
        any_case=True,
    ),
    Shape((b"AKIA", b"ASIA", b"AGPA", b"AIDA", b"AROA"), re.compile(rb"A(?:KI|SI|GP|ID|RO)A[0-9A-Z]{12,}+")),
    Shape((b"AIza",), re.compile(rb"AIza[A-Za-z0-9_-]{20,}+")),
    Shape((b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), re.compile(rb"gh[pousr]_[A-Za-z0-9]{20,}+")),
    Shape((b"github_pat_",), re.compile(rb"github_pat_[A-Za-z0-9_]{20,}+")),
    Shape((b"xox",), re.compile(rb"xox[baprse]-?[A-Za-z0-9-]{10,}+")),
    # A web token is three parts. The first begins at the first ``eyJ`` of a run; the others are looked at and not
    # consumed, because the second part may be the first one of another token.
    Shape(
        (b"token", b"secret", b"api key", b"api_key", b"api-key", b"apikey", b"bearer", b"passw"),
        re.compile(
            rb"(?:token|secret|api[ _-]?key|bearer|password|passwd)[\"' :=]{1,4}+[A-Za-z0-9+/_-]{20,}+", re.IGNORECASE
        ),
        any_case=True,
    ),
)
"""Shapes that lie in a single token; a web token has three parts, and the first line of a key file has spaces in it."""

_WEB_TOKEN_ENDS = re.compile(rb"(?=(\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+))")
"""The second and third part of a web token, looked for at each dot: the first is what stands before it. A pattern for
all three would try every place in the first one that it might begin at."""
_NO_PART = re.compile(rb"[^A-Za-z0-9_-]")

_KEY_FILE_ENDS = b"PRIVATE KEY-----"
_KEY_FILE = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")


def secret_in(text: bytes) -> bool:
    """Whether ``text`` holds a secret of any shape."""
    if _KEY_FILE_ENDS in text and _KEY_FILE.search(text):
        return True
    tokens = token_text(text)
    if not tokens:
        return False
    lower = tokens.lower()
    for needles, pattern, any_case in SHAPES:
        where = lower if any_case else tokens
        if any(needle in where for needle in needles) and any(
            not _placeholder(b"".join(found.groups()) or found[0]) for found in pattern.finditer(tokens)
        ):
            return True
    return b".eyJ" in tokens and _web_token_in(tokens)


def _web_token_in(tokens: bytes) -> bool:
    """Whether a run before two such parts holds ``eyJ`` and ten characters more; its first one counts."""
    begin = 0
    for found in _WEB_TOKEN_ENDS.finditer(tokens):
        dot = found.start()
        for other in _NO_PART.finditer(tokens, begin, dot):
            begin = other.end()
        first = tokens.find(b"eyJ", begin, dot)
        if 0 <= first <= dot - 13 and not _placeholder(tokens[first:dot] + found[1]):
            return True
    return False


def _placeholder(span: bytes) -> bool:
    lower = span.lower()
    return any(hint in lower for hint in PLACEHOLDERS)
