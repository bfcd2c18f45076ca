"""Does the output speak of what was asked: words of the ask that come back, and sentences that hang together.

Both compare stems of words. Where there is nothing to compare the rules skip; an answer of a few words is no drift.
"""

from __future__ import annotations

import re

from kpis.rules.claims import held, quiet, skipped
from kpis.rules.content_terms import content_terms, without_fences
from kpis.rules.sentences import sentences
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import threshold
from kpis.rules.utf16 import SPACE, trimmed
from kpis.terms.evaluation import Count, RuleClaim, RuleFacts, Value
from kpis.terms.evaluation_words import Bundle, Correction, FailureClass, Mechanism, Need, Question, RuleKind

__all__ = ["RELEVANCE"]

LEAST_OVERLAP = 0.35
LEAST_CONNECTED = 1 / 3
FEWEST_WORDS = 6
_LONG_WORD = 3
"""Letters that a word must exceed to count towards whether there is a text to judge."""

_NO_INPUT = "no input was sent"
_WORD = re.compile(r"[A-Za-z0-9_]+")
_ITEM = re.compile(rf"{SPACE}*+(?:[-*+•]|[0-9]{{1,3}}[.)]){SPACE}")


def _overlap(subject: Subject) -> RuleClaim:
    asked = subject.case.input
    if asked is None or not subject.given(asked):
        return skipped(_NO_INPUT)
    wanted = set(content_terms(asked))
    if not wanted:
        return quiet("The input has no words of substance to look for")
    returned = len(wanted & set(content_terms(subject.output)))
    ratio = returned / len(wanted)
    least = threshold(subject.case.settings, LEAST_OVERLAP, "keyword_overlap")
    stat = "input_terms_in_output"
    return held(
        ratio >= least.value,
        f"{returned} of {len(wanted)} terms of the input are in the output",
        score=min(2 * ratio, 1.0),
        value=Value(stat, "ratio", ratio),
        evidence=[Count(stat, "ratio", ratio, least.value, least.source)],
    )


def _long_words(text: str) -> int:
    return sum(len(word) > _LONG_WORD for word in _WORD.findall(text))


def _consistency(subject: Subject) -> RuleClaim:
    asked = subject.case.input
    if asked is None or not subject.given(asked):
        return skipped(_NO_INPUT)
    words = _long_words(subject.output)
    if not words or not _long_words(asked):
        return skipped("the input or the output has no word of four letters or more")
    fewest = threshold(subject.case.settings, FEWEST_WORDS, "topic_consistency_min_words").value
    if words < fewest:
        return skipped(f"an output of {words} long words is too short to drift", score=1.0)
    seen = set(content_terms(asked))
    if not seen:
        return skipped("the input has no words of substance")
    connected, counted = _walk(subject, seen)
    if not counted:
        return skipped("the output has no sentence of substance")
    ratio = connected / counted
    least = threshold(subject.case.settings, LEAST_CONNECTED, "topic_consistency")
    stat = "connected_sentences"
    return held(
        ratio >= least.value,
        f"{connected} of {counted} sentences lead on from the input or from each other",
        score=min(1.5 * ratio, 1.0),
        value=Value(stat, "ratio", ratio),
        evidence=[Count(stat, "ratio", ratio, least.value, least.source)],
    )


def _walk(subject: Subject, seen: set[str]) -> tuple[int, int]:
    """How many sentences connect, of how many; ``seen`` grows by the terms of each that does."""
    connected = counted = 0
    lead_in = False  # whether the last line that is no item of a list was connected
    lettered = subject.has(Correction.SENTENCE_HAS_A_LETTER)
    for line in without_fences(subject.output).split("\n"):
        if not trimmed(line):
            continue
        item = _ITEM.match(line) is not None
        line_connects = False
        for sentence in sentences(line, with_a_letter=lettered):
            terms = content_terms(sentence)
            if not terms:
                continue
            counted += 1
            if (item and lead_in) or not seen.isdisjoint(terms):
                connected += 1
                line_connects = True
                seen.update(terms)
        if not item:
            lead_in = line_connects
    return connected, counted


def _facts(name: str) -> RuleFacts:
    return RuleFacts(
        name,
        Bundle.RELEVANCE,
        1.0,
        RuleKind.MEASUREMENT,
        Mechanism.FORMULA,
        (Need.OUTPUT, Need.INPUT),
        Question.RELEVANT,
        (FailureClass.OFF_TASK,),
    )


RELEVANCE = (Rule(_facts("keyword_overlap"), _overlap), Rule(_facts("topic_consistency"), _consistency))
