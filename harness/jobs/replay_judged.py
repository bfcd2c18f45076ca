"""Puts an evaluator's checks onto the runs that they name, in the place of what recordings say of themselves.

A check is on every attempt that it names: one by run on all attempts of the run, one by case on that case of any run.
An attempt succeeds if every check on it that applies passes, and one to which none applies is not judged. Its score is
that of the last check with one. A verdict or a score of which no check says anything stays as it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.formats.limits import printable
from harness.jobs.replay_attempts import Unit, unit_of, units_of
from harness.jobs.replay_oracles import Check, Oracles
from harness.record.replay import RunResult
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Issue, IssueCode, RunFacts, Severity

__all__ = ["judged", "matched", "none_matches", "unmatched"]


def judged(run: RecordedRun, oracles: Oracles) -> RecordedRun:
    """``run`` with what ``oracles`` say of it; as it is where they are silent."""
    named = oracles.get(("run", run.run_id), ())
    facts = _with_cases(run.facts, named)
    units = units_of(facts)
    checks = _checks(run.run_id, units, oracles)
    if len(units) <= 1:
        unit = units[0] if units else None
        facts = _replaced(facts, [check for check in checks if _is_on(check, unit)], range(len(facts)))
    else:
        for unit in units:
            mine = [check for check in checks if _is_on(check, unit)]
            # A score of the whole run is of none of its attempts.
            mine = [check if check.case is not None else replace(check, score=None) for check in mine]
            facts = _replaced(facts, mine, [at for at, each in enumerate(facts) if unit_of(each) == unit])
    return run if facts == run.facts else replace(run, facts=facts)


def _with_cases(facts: tuple[RunFacts, ...], named: Sequence[Check]) -> tuple[RunFacts, ...]:
    """``facts`` with the cases that checks by run give it, where the recording names none; and with replicates so."""
    given = [check for check in named if check.case is not None]
    if not given:
        return facts
    units = units_of(facts)
    if not units:
        finer = {check.case for check in given if check.replicate is not None}
        made = dict.fromkeys(
            (check.case, check.replicate) for check in given if check.replicate is not None or check.case not in finer
        )
        return (*facts, *(RunFacts(case_id=case, replicate=replicate) for case, replicate in made))
    told = {unit: {check.replicate for check in given if check.case == unit.case} - {None} for unit in units}
    lacking = {unit: next(iter(at)) for unit, at in told.items() if unit.replicate is None and len(at) == 1}
    return tuple(
        replace(each, replicate=lacking[unit]) if (unit := unit_of(each)) is not None and unit in lacking else each
        for each in facts
    )


def _checks(run_id: str, units: Iterable[Unit], oracles: Oracles) -> list[Check]:
    """The checks that may be on the run, in the order of their lines."""
    cases = dict.fromkeys(unit.case for unit in units)
    found = [*oracles.get(("run", run_id), ()), *(check for case in cases for check in oracles.get(("case", case), ()))]
    return sorted(found, key=lambda check: check.line)


def _is_on(check: Check, unit: Unit | None) -> bool:
    """Whether ``check``, whose run is the right one if it names any, is on ``unit``; None: a run without a case."""
    if unit is None:
        return check.case is None
    if check.arm not in (None, unit.arm) and (check.run is None or unit.arm is not None):
        return False
    return check.case in (unit.case, None) and check.replicate in (unit.replicate, None)


def _replaced(facts: tuple[RunFacts, ...], checks: Sequence[Check], own: Sequence[int]) -> tuple[RunFacts, ...]:
    """``facts`` with the verdict and the score that ``checks`` have, in those that are about the attempt."""
    told = [check.passed for check in checks if check.told]
    scores = [check.score for check in checks if check.score is not None]
    if not told and not scores:
        return facts
    first = next((at for at in own if facts[at].case_id is not None), own[0] if own else None)
    made = list(facts)
    for at in own:
        if told:
            made[at] = replace(made[at], success=None)
        if scores:
            made[at] = replace(made[at], score=None)
    said = [passed for passed in told if passed is not None]
    head = RunFacts() if first is None else made[first]
    if scores:
        head = replace(head, score=scores[-1])
    if told:
        head = replace(head, success=all(said) if said else None)
    if first is None:
        return (*made, head)
    made[first] = head
    return tuple(made)


def matched(oracles: Oracles, run: RunResult) -> set[int]:
    """The lines of ``oracles`` that are on ``run``, which was judged by them."""
    units = units_of(run.facts)
    return {
        check.line
        for check in _checks(run.run_id, units, oracles)
        if any(_is_on(check, unit) for unit in units or (None,))
    }


def none_matches(oracles: Oracles, runs: Iterable[RunResult]) -> bool:
    """Whether not one of ``oracles`` is on any of ``runs``."""
    return not any(matched(oracles, run) for run in runs)


def unmatched(oracles: Oracles, runs: Iterable[RunResult]) -> Issue | None:
    """How many of ``oracles`` are on none of ``runs``, or None where each is on one."""
    known = {line for run in runs for line in matched(oracles, run)}
    every = sorted((check for checks in oracles.values() for check in checks), key=lambda check: check.line)
    missed = [check for check in every if check.line not in known]
    if not missed:
        return None
    first = missed[0]
    which = ", ".join(
        f"{word} {printable(str(value)) or 'with an empty name'}"
        for word, value in (
            ("run", first.run),
            ("case", first.case),
            ("replicate", first.replicate),
            ("arm", first.arm),
        )
        if value is not None
    )
    many = f"verdict{'s' * (len(every) != 1)} match{'es' * (len(missed) == 1)}"
    said = f"{len(missed):,} of {len(every):,} {many} no run: the first is on {which}."
    return Issue(Severity.WARNING, IssueCode.W_UNMATCHED_VERDICT, said)
