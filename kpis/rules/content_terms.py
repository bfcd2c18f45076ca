"""What a text is about, as a set of word stems: the tokens that the relevance rules compare.

English only, and by shape: a stem is a word without its common endings, so that asking for a "summary of retention" and
answering what "is retained" can meet. Fenced code is left out. Refuses to know meanings: synonyms do not meet.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kpis.rules.stopwords import STOPWORDS

__all__ = ["content_terms", "without_fences"]

_FENCE = "```"
_CAMEL = re.compile(r"([a-z])([A-Z])")
_WORD = re.compile(r"[a-z]{3,}")

_ENDINGS = (("ing", 5), ("ed", 4), ("ly", 4), ("ation", 6), ("ator", 5), ("ate", 5), ("ion", 5))
"""Each with the length that a word must exceed to lose it; the first that fits goes."""


def without_fences(text: str) -> str:
    """``text`` with each closed fenced block gone; an open one stays."""
    parts = text.split(_FENCE)
    if len(parts) < 3:
        return text
    kept = parts[0::2]
    if len(parts) % 2 == 0:  # the last fence is open
        kept[-1] += _FENCE + parts[-1]
    return " ".join(kept)


def content_terms(text: str) -> list[str]:
    """The stems of the words of ``text`` that carry its subject, in order and with repeats."""
    words = _WORD.findall(_CAMEL.sub(r"\1 \2", without_fences(text)).lower())
    return [_stem(word) for word in words if word not in STOPWORDS]


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    if len(word) <= 3:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "i"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, longer_than in _ENDINGS:
        if len(word) > longer_than and word.endswith(ending):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        word = word[:-1]
    return word
