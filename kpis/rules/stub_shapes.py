"""What a stub looks like: words that mark one, shapes of work left out, and promises in the place of work.

In the patterns of promises ``~`` stands for white space of any length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["ABSTRACT", "MARKERS", "NOT_IMPLEMENTED", "PROMISES", "SHAPES", "Promise", "Shape"]

MARKERS = (
    "TODO",
    "FIXME",
    "PLACEHOLDER",
    "XXX",
    "TBD",
    "HACK",
    "NOT YET IMPLEMENTED",
    "TO BE DETERMINED",
    "[INSERT",
    "[ADD ",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A named pattern; every match has one of each of ``words``, and one of ``anchors`` if there are any.

    ``before``, when there is one, must be found shortly before it on the same line: looking back from the rarer end
    keeps a line of nothing but openings cheap.
    """

    name: str
    pattern: re.Pattern[str]
    words: tuple[frozenset[str], ...]
    anchors: tuple[str, ...] = ()
    before: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """A way to promise work, in small letters, tried when ``also`` and one of ``anchors`` are in the text on one line.

    Every match holds them, one space for white space, and one of each of ``words``: a text without need not be asked.
    """

    pattern: re.Pattern[str]
    words: tuple[frozenset[str], ...]
    anchors: tuple[str, ...]
    also: str


def _words(*words: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(some.split()) for some in words)


def _shape(name: str, pattern: str, *words: str, anchors: tuple[str, ...] = (), before: str | None = None) -> Shape:
    flags = re.ASCII | re.IGNORECASE | re.MULTILINE
    behind = None if before is None else re.compile(before, flags)
    return Shape(name, re.compile(pattern, flags), _words(*words), anchors, behind)


def _promise(pattern: str, words: tuple[str, ...], anchors: tuple[str, ...], also: str = "") -> Promise:
    expression = re.compile(pattern.replace("~", r"\s++"), re.ASCII)
    return Promise(expression, _words(*words), anchors, also)


_COMMENT = r"(?:#|//|/\*|<!--)"
_CUT = (
    r"(?:the\s)?"
    r"(?:rest|remain\w{0,8}|exist\w{0,8}|other|previous|same|similar|more|your|add|implement\w{0,8}|code|logic)"
)

SHAPES = (
    _shape(
        "omitted for brevity",
        r"\b(?:omitted|elided|truncated|abbreviated|shortened|left\s++out|skipped|removed)\s++for\s++"
        r"(?:the\s++sake\s++of\s++)?(?:brevity|clarity|space|conciseness|readability|simplicity)\b",
        "brevity clarity space conciseness readability simplicity",
    ),
    _shape(
        "for now",
        r"\b(?:simplified|stubbed(?:\s++out)?|hard-?coded|mocked(?:\s++out)?|faked)\s++for\s++now\b",
        "now",
    ),
    _shape(
        "empty function",
        r"^([ \t]*+)(?:async[ ]++)?def[ ]++\w{1,100}[^\n]{0,400}:[ \t]*+"
        r"(?:\n(?:[ \t]++(?:#|\"\"\"|''')[^\n]*+\n){0,3}[ \t]++)?pass[ \t]*+(?:#[^\n]*+)?(?:\n(?!\1[ \t]++\S)|\Z)",
        "def",
        "pass",
    ),
    _shape(
        "elided code",
        rf"{_COMMENT}[ \t]*+(?:(?:\.\.\.|…)[ \t]*+{_CUT}\b"
        rf"|{_CUT}\b[^\n]{{0,60}}?(?:\.\.\.|…)[ \t]*+(?:\*/|-->)?[ \t]*+$)",
        anchors=("...", "…"),
    ),
    _shape("goes here", r"\bgoes\s++here\b", "goes", before=_COMMENT),
    _shape("condition always true", r"\bor\s++True\b|\|\|\s*+true\b", "true", before=r"\bif\b"),
    _shape("test of nothing", r"\bexpect\(\s*+true\s*+\)\s*+\.\s*+toBe\(\s*+true\s*+\)", "expect"),
    _shape(
        "fill in later", r"\bfill(?:ed)?\s++(?:(?:this|it|that|these|them)\s++)?in\s++later\b", "fill filled", "later"
    ),
)

NOT_IMPLEMENTED = re.compile(r"not[ _-]?implemented", re.IGNORECASE)
ABSTRACT = re.compile(r"abstract\s++(?:base\s++class|method)|abstractmethod", re.IGNORECASE)

_I = r"\b(?:i|we)(?:['\u2019]ll|~will|(?:['\u2019]m|['\u2019]re|~am|~are)~going~to)~"
_IN_A_WHILE = r"in~a~(?:moment|minute|bit|while|follow-?up|future|later|separate|subsequent)"
_SOON = rf"(?:later|soon|shortly|next|tomorrow|momentarily|{_IN_A_WHILE})"
_SOON_WORDS = (
    "later soon shortly next tomorrow momentarily moment minute bit while follow followup future separate subsequent"
)
_SOON_ANCHORS = (
    "later",
    "soon",
    "shortly",
    "next",
    "tomorrow",
    "momentarily",
    "moment",
    "minute",
    "follow",
    "future",
    "in a bit",
    "in a while",
    "in a separate",
    "in a subsequent",
)
_WORK = (
    r"(?:add|address|analy[sz]e|begin|build|check|complete|continue|create|dig|do|draft|examine|explore|fill|finish|fix"
    r"|follow|get|go|handle|implement|investigate|look|make|prepare|proceed|provide|research|review|run|see|send|share"
    r"|start|take|think|update|work|write)\b"
)

PROMISES = (
    _promise(
        rf"{_I}(?:(?:now|then|first|also|next|just)~)?{_WORK}",
        ("i we", "ll will going"),
        ("'ll", "\u2019ll", "i will", "we will", "going"),
    ),
    _promise(
        r"\b(?:get|getting|come|coming|circle|circling|report|reporting)~back~"
        r"(?:to|with|on|once|when|after|shortly|soon)\b",
        ("back",),
        ("back",),
    ),
    _promise(
        r"\b(?:will|to)~be~(?:\w{1,20}~){0,2}?"
        r"(?:added|implemented|provided|completed|delivered|shared|updated|finished|filled~in|done)\b"
        rf"[^.!?\n]{{0,40}}?\b{_SOON}\b",
        ("be", "added implemented provided completed delivered shared updated finished filled done", _SOON_WORDS),
        _SOON_ANCHORS,
        also=" be",
    ),
    _promise(
        r"\b(?:working~on~(?:it|this|that)|stay~tuned|coming~soon|more~to~come|hang~tight|bear~with~me|one~moment"
        r"|give~me~a~(?:moment|minute|second)|please~(?:wait|hold~on|stand~by))\b",
        ("working stay coming more hang bear one give please", "on tuned soon come tight me moment wait hold stand"),
        ("working", "tuned", "coming", "come", "tight", "bear", "moment", "give", "please"),
    ),
    _promise(
        rf"\blet~me~(?:(?:first|now|just|go|quickly)~){{0,2}}(?:and~)?{_WORK}",
        ("let", "me"),
        ("let",),
    ),
    _promise(
        r"\b(?:do|handle|finish|complete|implement|add|fix|address|cover|leave|continue)~(?:\w{1,20}~){0,4}?(?:for~)?"
        rf"{_SOON}\b",
        ("do handle finish complete implement add fix address cover leave continue", _SOON_WORDS),
        _SOON_ANCHORS,
    ),
)
