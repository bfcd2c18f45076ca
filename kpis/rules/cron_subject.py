"""Of what it is said that it runs: of the cron line that was given, or of something else in the same text.

The words before the verb have to name the line and nothing besides: ``it``, the job, or words that stand on the line or
in the comment above it. ``It`` counts only where the sentence before speaks of the line too. All else is left alone.
"""

from __future__ import annotations

import re

from kpis.rules.assertion import sentence_around
from kpis.rules.cron import CRON_LINE

__all__ = ["is_of_the_line", "words_of_lines"]

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{0,40}")
_PART = re.compile(r"[A-Za-z]{1,40}")
_ENDING = re.compile(r"(?:ers?|ing|ed|s)\Z")
_CLAUSE = re.compile(r"[,;:()\u2013\u2014|]|\band\b|\b(?:which|who|while|but|whereas|so)\b")
_AT_FIRST = re.compile(r"[\s>*|#\"'-]{0,12}\Z")
_FINITE = re.compile(r"(?:runs|fires|triggers|executes|starts|launches|scheduled|triggered)\b", re.IGNORECASE)
_FRONT = re.compile(r"(?:(?:so|by|from|in|as|on|at|with|according to) [^,\n]{1,60},)?[\s>*#-]{0,12}\Z", re.IGNORECASE)

_POINTS = frozenset({"the", "this", "your", "our", "my", "its", "their", "a", "an", "each", "every"})
_IT = frozenset({"it"})
_JOBS = frozenset(
    {"job", "cron", "cronjob", "crontab", "task", "script", "schedule", "line", "entry", "expression", "command"}
)
_IDLE = frozenset(
    {"is", "are", "gets", "get", "itself", "then", "also", "only", "always", "therefore", "thus", "nightly", "daily"}
    | {
        "weekly",
        "hourly",
        "scheduled",
        "configured",
        "given",
        "above",
        "set",
        "up",
        "to",
        "automatically",
        "that",
        "file",
    }
)
_TURNS = frozenset(
    {"of", "for", "by", "with", "behind", "from", "than", "like", "to", "in", "on", "at", "after", "before", "or", "no"}
)
"""Words behind which a thing is not what the sentence speaks of."""

_WORDS_BACK = 12
_LINE = 300
"""Characters that are read of a line."""


def words_of_lines(given: str) -> frozenset[str]:
    """The words of each cron line, of the comment or the heading right above it, and of an indented line below."""
    words: set[str] = set()
    for line in CRON_LINE.finditer(given):
        if "*" not in line.group() and "?" not in line.group():
            continue  # a row of numbers
        begin = max(given.rfind("\n", 0, line.start()) + 1, line.start() - _LINE)
        above = given.rfind("\n", 0, max(0, begin - 1)) + 1
        heading = given[above:begin].strip()
        own, _, below = given[begin : line.end() + 2 * _LINE].partition("\n")
        words.update(map(_key, _PART.findall(own)))
        if below[:1].isspace():  # more of the same entry
            words.update(map(_key, _PART.findall(below.split("\n", 1)[0])))
        if heading.startswith("#") or heading.endswith(":"):
            words.update(map(_key, _PART.findall(heading[:_LINE])))
    return frozenset(words) - _POINTS - _TURNS


def is_of_the_line(said: str, begin: int, verb: int, known: frozenset[str]) -> bool:
    """Whether what runs at ``verb``, in the sentence from ``begin``, is what the line of the ``known`` words runs."""
    before = said[begin:verb]
    clause = _CLAUSE.split(before)[-1]
    words = [word.lower() for word in _WORD.findall(clause)][-_WORDS_BACK:]
    if not words:
        return _AT_FIRST.fullmatch(before) is not None and _FINITE.match(said, verb) is not None
    first = next((at for at in range(len(words) - 1, -1, -1) if words[at] in _POINTS | _IT), -1)
    if first > 0 and words[first - 1] in _TURNS:
        return False
    if first < 0 and not _FRONT.fullmatch(before[: len(before) - len(clause)]):
        return False  # a list of several things, or the rest of a clause
    named = [word for word in words[max(first, 0) :] if word not in _POINTS and word not in _IDLE]
    if not named or not all(word in _IT or _names(word, known) for word in named):
        return False
    return named[0] not in _IT or _speaks_of_it(said, begin, before[: len(before) - len(clause)], known)


def _speaks_of_it(said: str, begin: int, ahead: str, known: frozenset[str]) -> bool:
    """Whether nothing, or the line, is spoken of before the word ``it``."""
    back = begin
    if begin > 1:
        start, end = sentence_around(said, begin - 2, begin - 2)
        back = start if start < end else begin
    told = said[back:begin] + ahead
    return not told.strip() or any(_names(word.lower(), known) for word in _WORD.findall(told))


def _names(word: str, known: frozenset[str]) -> bool:
    return word in _JOBS or _key(word) in known or (word.endswith("'s") and _key(word[:-2]) in known)


def _key(word: str) -> str:
    return _ENDING.sub("", word.lower()) or word.lower()
