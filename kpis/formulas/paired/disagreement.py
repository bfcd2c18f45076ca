"""The two-by-two table of pass and fail on the same cases: where two arms disagree, and in whose favour.

Pairs are formed by case and replicate, never by totals: with equal totals a candidate may still break what the
reference got right. What has no partner, or more than one, is counted as unpaired and compared with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kpis.formulas.context.values import Mode

__all__ = ["Disagreement", "PassedRun", "disagreement"]


@dataclass(frozen=True, slots=True)
class PassedRun:
    """Whether one replicate of a case passed in one arm."""

    case: str
    replicate: int
    passed: bool

    @property
    def key(self) -> tuple[str, int]:
        """What pairs it with its twin in another arm."""
        return self.case, self.replicate


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Pairs in the four cells, and runs outside of them."""

    both_pass: int
    reference_only: int
    candidate_only: int
    both_fail: int
    unpaired: int

    @property
    def pairs(self) -> int:
        """All pairs that could be formed."""
        return self.both_pass + self.reference_only + self.candidate_only + self.both_fail

    @property
    def net_wins(self) -> int:
        """Pairs that only the candidate passed, less those that only the reference did."""
        return self.candidate_only - self.reference_only


def disagreement(
    candidate: Sequence[PassedRun], reference: Sequence[PassedRun], mode: Mode = Mode.STRICT
) -> Disagreement:
    """Pair two arms. Of runs with one key the reference implementation pairs each of the candidate's with the last."""
    strict = mode is Mode.STRICT
    repeated = (_repeated(candidate) | _repeated(reference)) if strict else set()
    theirs = {run.key: run.passed for run in reference if run.key not in repeated}
    ours = [run for run in candidate if run.key in theirs and run.key not in repeated]
    cells = Counter((run.passed, theirs[run.key]) for run in ours)
    paired = {run.key for run in ours}
    alone = len(candidate) - len(ours) + sum(run.key not in paired for run in reference)
    return Disagreement(
        cells[True, True],
        cells[False, True],
        cells[True, False],
        cells[False, False],
        alone,
    )


def _repeated(runs: Iterable[PassedRun]) -> set[tuple[str, int]]:
    return {key for key, count in Counter(run.key for run in runs).items() if count > 1}
