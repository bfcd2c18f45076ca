"""An arm of recorded runs, ready to be paired: which attempts it holds, by case and replicate, and who was judged.

Attempts of a case without a replicate are numbered in the order in which they began. Two attempts of an arm with one
case and replicate pair with nothing, since nobody can say which of them is meant; they are counted. A run that only
shows again what another one holds is no attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from harness.jobs.replay_attempts import attempts_of
from harness.record.replay import Replayed, RunResult

__all__ = ["Arm", "CaseKey", "arm_of"]

CaseKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Arm:
    """``verdicts`` are of the attempts that can be paired, None where nobody judged.

    ``runs`` are the runs all of whose attempts can be, by these. ``repeated`` counts attempts that share case and
    replicate with another, ``caseless`` runs that name no case.
    """

    result: Replayed
    verdicts: Mapping[CaseKey, bool | None]
    runs: Mapping[frozenset[CaseKey], RunResult]
    repeated: int
    caseless: int

    @property
    def attempts(self) -> int:
        """All attempts, and each run without a case as one."""
        return len(self.verdicts) + self.repeated + self.caseless

    def tasks(self) -> tuple[dict[str, list[bool]], int]:
        """The verdicts by case, in the order of their replicates, of cases with all judged; and how many have not."""
        found: dict[str, list[bool | None]] = {}
        for (case, _), passed in sorted(self.verdicts.items(), key=lambda item: item[0]):
            found.setdefault(case, []).append(passed)
        whole = {case: [each is True for each in said] for case, said in found.items() if None not in said}
        return whole, len(found) - len(whole)


def arm_of(result: Replayed) -> Arm:
    """The arm that ``result`` is."""
    told = [(run, attempts_of(run.facts)) for run in result.runs if not _is_copy(run)]
    units = [attempt.unit for _, attempts in told for attempt in attempts]
    taken = {(unit.case, unit.replicate) for unit in units if unit.replicate is not None}
    numbers = {unit.case: count() for unit in units}

    def key(case: str, replicate: int | None) -> CaseKey:
        if replicate is not None:
            return case, replicate
        return case, next(at for at in numbers[case] if (case, at) not in taken)

    keyed = [(run, [(key(one.unit.case, one.unit.replicate), one.success) for one in many]) for run, many in told]
    seen = Counter(name for _, many in keyed for name, _ in many)
    return Arm(
        result,
        {name: passed for _, many in keyed for name, passed in many if seen[name] == 1},
        {
            frozenset(name for name, _ in many): run
            for run, many in keyed
            if many and all(seen[name] == 1 for name, _ in many)
        },
        sum(times for times in seen.values() if times > 1),
        sum(not many for _, many in keyed),
    )


def _is_copy(run: RunResult) -> bool:
    """Whether the run has requests and another one counts all of them."""
    return run.copied > 0 and not run.parts.tokens.sums.rows
