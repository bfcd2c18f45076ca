"""Is the output all there: long enough, not blank, of enough sentences, with the words that were expected."""

from __future__ import annotations

import re

from kpis.rules.claims import held, skipped
from kpis.rules.sentences import sentences
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import threshold
from kpis.rules.utf16 import trimmed
from kpis.terms.evaluation import Count, RuleClaim, RuleFacts, Value
from kpis.terms.evaluation_words import (
    Bundle,
    Correction,
    FailureClass,
    Mechanism,
    Need,
    Question,
    RuleKind,
    ThresholdSource,
)

__all__ = ["COMPLETENESS"]

SHORTEST = 50
FEWEST_SENTENCES = 2
LEAST_COVERAGE = 0.5
_NEARLY = 0.99
"""The best score of an output that is still too short."""

_WORD = re.compile(r"[A-Za-z0-9_]+")


def _length(subject: Subject) -> RuleClaim:
    at_least = threshold(subject.case.settings, SHORTEST, "min_output_length", "min_length")
    return _enough("length", "chars", subject.length(subject.output), at_least.value, at_least.source)


def _enough(stat: str, unit: str, count: int, least: float, source: ThresholdSource) -> RuleClaim:
    inside = count >= least
    return held(
        inside,
        f"{count} {unit if count != 1 else unit[:-1]}, {'at least' if inside else 'fewer than'} {least:g}",
        score=1.0 if inside else min(count / least, _NEARLY),
        value=Value(stat, unit, count),
        evidence=[Count(stat, unit, count, least, source)],
    )


def _not_blank(subject: Subject) -> RuleClaim:
    length = subject.length(trimmed(subject.output))
    note = "The output holds text" if length else "The output is empty or white space"
    return held(length > 0, note, score=1.0 if length else 0.0, value=Value("length", "chars", length))


def _sentences(subject: Subject) -> RuleClaim:
    at_least = threshold(subject.case.settings, FEWEST_SENTENCES, "min_sentences")
    count = len(sentences(subject.output, with_a_letter=subject.has(Correction.SENTENCE_HAS_A_LETTER)))
    return _enough("sentences", "sentences", count, at_least.value, at_least.source)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) > 2}


def _coverage(subject: Subject) -> RuleClaim:
    expected = subject.case.expected
    if expected is None or not subject.given(expected):
        return skipped("no expected output was sent")
    wanted = _words(expected)
    if not wanted:
        return held(True, "The expected output has no word of three letters or more to look for", score=1.0)
    covered = len(wanted & _words(subject.output))
    ratio = covered / len(wanted)
    stat = "expected_terms_covered"
    return held(
        ratio >= LEAST_COVERAGE,
        f"{covered} of {len(wanted)} expected words are in the output",
        score=ratio,
        value=Value(stat, "ratio", ratio),
        evidence=[Count(stat, "ratio", ratio, LEAST_COVERAGE, ThresholdSource.RULE)],
    )


def _facts(name: str, weight: float, kind: RuleKind, need: Need | None, failure: FailureClass) -> RuleFacts:
    needs = (Need.OUTPUT,) if need is None else (Need.OUTPUT, need)
    return RuleFacts(name, Bundle.COMPLETENESS, weight, kind, Mechanism.FORMULA, needs, Question.COMPLETE, (failure,))


_FORMAT = FailureClass.FORMAT
_MEASURED = RuleKind.MEASUREMENT

COMPLETENESS = (
    Rule(_facts("min_output_length", 1.0, _MEASURED, None, _FORMAT), _length),
    Rule(_facts("non_empty_output", 2.0, RuleKind.POLICY, None, _FORMAT), _not_blank),
    Rule(_facts("sentence_count", 0.5, _MEASURED, None, _FORMAT), _sentences),
    Rule(_facts("expected_coverage", 1.5, _MEASURED, Need.EXPECTED, FailureClass.INCOMPLETE_ASK), _coverage),
)
