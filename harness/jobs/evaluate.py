"""Evaluate cases: each line becomes an answer or says why it could not, in order, one at a time.

Nothing is kept from one case to the next but counts, the intervals that were drawn and a few answers, so that a stream
of any length runs in the same memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from harness.formats.case_lines import Line, bounded_lines
from harness.formats.evaluation_case import read_case
from harness.formats.limits import FormatError, Limits
from harness.jobs.evaluate_config import Deployment
from harness.jobs.evaluate_ident import ENGINE, ID_LENGTH, judged_by
from harness.jobs.evaluate_once import Once
from harness.judge.evaluation.judge import Evaluation, judge
from harness.record.evaluation_result import NotFiniteError
from harness.record.evaluation_write import addressed
from kpis.rules.criticality import CriticalityError
from kpis.rules.presence import present
from kpis.rules.run import findings
from kpis.terms.claim import VerdictState
from kpis.terms.evaluation_case import Case
from kpis.terms.evaluation_words import Need

__all__ = ["STDIN", "Answer", "Judgement", "broken", "carried", "evaluate", "evaluate_stream"]

STDIN = "standard input"
"""How cases that came through a pipe are known; a command calls it ``-``."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A case and what became of it."""

    case: Case
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in the place of one line. ``judgement`` is None where the line could not be read.

    ``fault`` is what broke in this package where nothing is wrong with the line, as far as is known.
    """

    line: Line
    document: dict[str, Any]
    judgement: Judgement | None
    fault: Exception | None = None

    @property
    def state(self) -> VerdictState | None:
        """Pass, fail or unknown; None where there was nothing to judge."""
        return None if self.judgement is None else self.judgement.evaluation.verdict.state


_Evaluated = tuple[Judgement, dict[str, Any]]


def evaluate(case: Case, deployment: Deployment) -> Evaluation:
    """One case, judged.

    Raises:
        CriticalityError: the lists of critical rules cannot be used.
    """
    return judge(findings(case), carried(case), case.settings, deployment.table, case.eval_type)


def carried(case: Case) -> frozenset[Need]:
    """What the case carried."""
    return frozenset(need for need, there in present(case).items() if there)


def _evaluated(
    body: bytes, once: Once, deployment: Deployment, made_by: bytes, judged_at: str, limits: Limits
) -> _Evaluated:
    """The judgement of the case in ``body``, and the answer as plain values.

    The id follows from the case and from what it was judged by, ``made_by``: the same question has the same one.

    Raises:
        FormatError: it is no case. CriticalityError: its lists of critical rules cannot be used.
        NotFiniteError: its numbers lead to one that JSON cannot hold.
    """
    case = read_case(body, deployment.settings, deployment.rules, limits)
    evaluation, document = once.answered(case, findings(case), carried(case))
    ident = hashlib.sha256(made_by + body).hexdigest()[:ID_LENGTH]
    return Judgement(case, evaluation), addressed(document, ident=ident, case=case.id, judged_at=judged_at)


def evaluate_stream(
    stream: BinaryIO, name: str, deployment: Deployment, now: Callable[[], str], limits: Limits | None = None
) -> Iterator[Answer]:
    """An answer for each line of ``stream`` that holds something; ``name`` is how its reader knows it."""
    limits = limits or Limits()
    once, made_by = Once(deployment, ENGINE), judged_by(deployment)
    for line in bounded_lines(stream, limits):
        if line.body is None:
            yield _bad(line, name, f"The case is longer than {limits.max_line:,} bytes")
            continue
        try:
            judgement, document = _evaluated(line.body, once, deployment, made_by, now(), limits)
        except (FormatError, CriticalityError, NotFiniteError) as error:
            yield _bad(line, name, str(error))
        except Exception as error:  # whatever it is, the lines behind this one have a right to their answers
            yield broken(line, name, error)
        else:
            yield Answer(line, document, judgement)


def broken(line: Line, name: str, fault: Exception) -> Answer:
    """What stands in the place of a line for which this package itself broke."""
    sentence = (
        f"{name}, line {line.number}: This is a fault of loopladder itself, not of the line "
        f"({type(fault).__name__}). Leave the line out, and report it with what standard error says."
    )
    return Answer(line, {"line": line.number, "error": sentence}, None, fault)


def _bad(line: Line, name: str, why: str) -> Answer:
    sentence = (
        f"{name}, line {line.number}: {why.rstrip('.')}. "
        f"Correct the line, then run again: python -m harness evaluate {'-' if name == STDIN else name}"
    )
    return Answer(line, {"line": line.number, "error": sentence}, None)
