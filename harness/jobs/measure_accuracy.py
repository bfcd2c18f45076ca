"""Measure our detectors on a labelled corpus: each on its own cases, as ``evaluate`` runs it without any setting.

Refuses to leave a case out: where a detector gives no answer, the corpus does not fit it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.formats.labelled import Corpus, RuleCases, read_corpus
from harness.formats.limits import FormatError, printable
from harness.judge.evaluation.accuracy import AccuracyTable, Counts, Labelling
from harness.judge.evaluation.calibration import Bin, Outcome, brier, counts_of, held_out, reliability
from harness.record.accuracy import decode, encode
from kpis.errors import did_you_mean
from kpis.rules.catalogue import BUILT_IN
from kpis.rules.subject import Rule, Subject
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation_words import RuleKind

__all__ = ["DETECTORS", "Measured", "Measurement", "differing", "measure"]

DETECTORS = {rule.facts.name: rule for rule in BUILT_IN if rule.facts.kind in (RuleKind.DETECTION, RuleKind.INFERENCE)}
"""The built-in rules that may be wrong at a rate, by name."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How one detector did; ``brier`` is of chances stated from the other families of its cases.

    It is None where there are no bad or no good cases: the detector is unmeasured.
    """

    rule: str
    version: int
    counts: Counts
    brier: float | None


@dataclass(frozen=True, slots=True)
class Measurement:
    """How all did, and the table file that says so.

    ``brier`` and ``bins`` are of all cases of the detectors that are measured; None and empty where none is.
    """

    rules: tuple[Measured, ...]
    brier: float | None
    bins: tuple[Bin, ...]
    body: bytes
    table: AccuracyTable


def measure(path: Path, name: str) -> Measurement:
    """The accuracy of the detectors on the corpus at ``path``; ``name`` is that of the table.

    Raises:
        FormatError: the corpus cannot be read, or a case of it does not fit its detector.
    """
    corpus = read_corpus(path)
    labelling = _labelling(corpus, path)
    chances: list[float] = []
    bad: list[bool] = []
    rules: list[Measured] = []
    for cases in corpus.rules:
        rule = _detector(cases.rule, path)
        outcomes = _outcomes(rule, cases, path)
        counts = counts_of(outcomes)
        stated, labels = (held_out(outcomes), [one.bad for one in outcomes]) if counts.measured else ([], [])
        rules.append(Measured(cases.rule, rule.facts.version, counts, brier(stated, labels) if stated else None))
        chances += stated
        bad += labels
    body = encode(
        {one.rule: one.counts for one in rules},
        {one.rule: one.version for one in rules},
        corpus.sha256,
        f"loopladder {__version__}",
        labelling,
    )
    bins = tuple(reliability(chances, bad))
    overall = brier(chances, bad) if chances else None
    return Measurement(tuple(rules), overall, bins, body, decode(body, name))


def differing(measured: AccuracyTable, kept: AccuracyTable) -> list[str]:
    """The rules whose counts are not the same in both tables, in the order of their names."""
    rules = sorted({*measured.rows, *kept.rows})
    return [rule for rule in rules if measured.rows.get(rule) != kept.rows.get(rule)]


def _labelling(corpus: Corpus, path: Path) -> Labelling:
    worded = sorted({cases.labelling for cases in corpus.rules})
    known = [each.value for each in Labelling]
    if len(worded) > 1 or worded[0] not in known:
        raise FormatError(
            f"{path} is labelled {' and '.join(map(printable, worded))}; "
            f"all files have to say the same one of {', '.join(known)}. "
            f"Correct the first lines, then run: python -m harness evaluate --measure {path}"
        )
    return Labelling(worded[0])


def _detector(name: str, path: Path) -> Rule:
    if name not in DETECTORS:
        raise FormatError(
            f"{path}: {printable(name)} is no detector{did_you_mean(name, DETECTORS)}. "
            f"Correct the first line, then run: python -m harness evaluate --measure {path}"
        )
    return DETECTORS[name]


def _outcomes(rule: Rule, cases: RuleCases, path: Path) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for one in cases.cases:
        claim = rule.evaluate(Subject(one.case))
        if claim.skip is not None:
            raise FormatError(
                f"{path}: {rule.facts.name} gives no answer to {one.id}: {claim.skip.reason}. "
                f"Correct the case, then run: python -m harness evaluate --measure {path}"
            )
        outcomes.append(Outcome(one.family, one.bad, claim.state is ClaimState.FIRED))
    return outcomes
