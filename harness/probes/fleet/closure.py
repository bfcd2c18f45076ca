"""Probe of ``fleet/closure``: the rates of an audit over a real repository, whose authored work is known beforehand.

The same issues are audited twice: as main stands, and with main moved back to where nothing had been done, so that an
audit that takes a tracker's word, a local branch or its own last answer for a witness has to say the same again and is
found out. What is to be closed is asked for in a dry run, with commits among it that are none. Closing is never done.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes.fleet._closed_work import FREE, ISSUES, MAIN, build
from harness.probes.fleet._repository import Scratch
from kpis.formulas.fleet.closure import closure_rate, honest_close_rate
from seams.contract.fleet_closure import Audit, Bucket, Candidate, Closing, Closure, Finding, Outcome

__all__ = ["Probe"]

_CLOSED = (Bucket.TRUE_RESOLVED, Bucket.DATA_RESOLVED, Bucket.CLAIMED_CLOSED)


class Probe:
    """Opens both rates."""

    kpis: ClassVar[frozenset[str]] = frozenset({"closure_rate", "honest_close_rate"})

    def __init__(self) -> None:
        self._scratch: Scratch | None = None

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous audit, the coroutine that returns it."""
        return self._opened(runtime, lambda found: found[kpi])

    def open_all(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """By KPI what one audit says: both rates."""
        return self._opened(runtime, dict)

    def _opened(self, runtime: Any, chosen: Callable[[dict[str, Tally | Undefined]], Any]) -> Any:
        closure: Closure | None = runtime.offer("fleet/closure", "none")
        if closure is None:
            offered = Undefined("not-offered", f"The runtime {runtime.name} offers no audit of closed work.")
            return chosen(dict.fromkeys(self.kpis, offered))
        if shutil.which("git") is None:
            installed = Undefined("not-installed", "There is no program git, and so no repository to audit.")
            return chosen(dict.fromkeys(self.kpis, installed))
        scratch = self._scratch = build()

        async def opening() -> Any:
            return chosen(await _counted(closure, scratch))

        return finish(opening(), closure.audit, closure.candidates, closure.close)

    def close(self) -> None:
        """Remove the repository."""
        if self._scratch is not None:
            self._scratch.close()


async def _counted(closure: Closure, scratch: Scratch) -> dict[str, Tally | Undefined]:
    """Both rates, of one audit."""
    place, export = str(scratch.top), str(scratch.export)
    branches = scratch.git("for-each-ref")
    audit: Audit = await settled(closure.audit(place, export))
    _require(audit, scratch)
    closings = await _dry_run(closure, audit, scratch)
    scratch.point(MAIN, "root")
    before: Audit = await settled(closure.audit(place, export))
    scratch.point(MAIN, "measured")
    if scratch.git("for-each-ref") != branches or scratch.git("status", "--porcelain"):
        raise WorkNotDoneError("the audit changed the repository that it was to read")
    counts = Counter(row.bucket for row in audit.rows)
    resolved, by_data, claimed = (counts[each] for each in _CLOSED)
    earlier = Counter(row.bucket for row in before.rows)
    if earlier[Bucket.TRUE_RESOLVED] or earlier[Bucket.DATA_RESOLVED] or earlier[Bucket.OPEN_WITNESSED]:
        raise WorkNotDoneError("main is back where nothing had been done, and the audit still finds work borne out")
    witnessed = {"closure_rate": resolved, "honest_close_rate": resolved + by_data}
    return {
        kpi: Tally(
            numerator,
            numerator + claimed,
            reasons={each.value: counts[each] for each in Bucket},
            excluded=len(audit.rows) - numerator - claimed,
            source="synthetic",
            evidence=_evidence(audit, before, (resolved, by_data, claimed), closings),
        )
        for kpi, numerator in witnessed.items()
    }


def _require(audit: Audit, scratch: Scratch) -> None:
    """Hold an audit against what is known of the work.

    Raises:
        WorkNotDoneError: an issue is missing or falls elsewhere, commits were left out or taken from another branch,
            or what was found is not said.
    """
    found = {row.number: row for row in audit.rows}
    if sorted(found) != [each.number for each in ISSUES] or len(found) != len(audit.rows):
        raise WorkNotDoneError(f"{len(ISSUES)} issues are in the export, and the audit has {len(audit.rows)}")
    for work in ISSUES:
        came = found[work.number].bucket
        if came not in work.due:
            due = " or ".join(each.value for each in work.due)
            raise WorkNotDoneError(f"issue {work.number} is {due}, and the audit says {came.value}")
    reached = int(scratch.git("rev-list", "--count", MAIN))
    all_of_them = int(scratch.git("rev-list", "--count", "--all"))
    coverage, reach = audit.coverage, audit.reach
    if (coverage.issues, coverage.commits, coverage.commits_in_all) != (len(ISSUES), reached, reached):
        raise WorkNotDoneError(f"main reaches {reached} commits, and the audit read {coverage.commits} of them")
    if (reach.commit, reach.local_only) != (scratch.ids["measured"], all_of_them - reached):
        raise WorkNotDoneError("the audit took another branch for main, or has others' commits in its count")
    if audit.finding is not Finding.CLAIMED_CLOSED or audit.coverage.gaps:
        raise WorkNotDoneError(f"work is claimed that nothing bears out, and the audit comes to {audit.finding.value}")


async def _dry_run(closure: Closure, audit: Audit, scratch: Scratch) -> Sequence[Closing]:
    """Ask again before closing: of the candidates, and of two that are none."""
    candidates = list(await settled(closure.candidates(audit)))
    if Candidate(9, scratch.ids["early"]) not in candidates:
        raise WorkNotDoneError("issue 9 is open and its work is done, and it is not up to be closed")
    stale = [Candidate(11, scratch.ids["elsewhere"]), Candidate(10, scratch.ids["nothing"])]
    closings: Sequence[Closing] = await settled(closure.close(str(scratch.top), [*candidates, *stale]))
    outcomes = {each.number: each.outcome for each in closings}
    wanted = {11: Outcome.SKIP_UNPUSHED, 10: Outcome.SKIP_UNWITNESSED, 9: Outcome.WOULD_CLOSE}
    if wrong := [number for number, outcome in wanted.items() if outcomes.get(number) is not outcome]:
        raise WorkNotDoneError(f"when it was asked again of issue {wrong[0]} the audit did not look at its commit")
    return closings


def _evidence(
    audit: Audit, before: Audit, counts: tuple[int, int, int], closings: Sequence[Closing]
) -> tuple[str, ...]:
    resolved, by_data, claimed = counts
    coverage, reach = audit.coverage, audit.reach
    outcomes = Counter(each.outcome.value for each in closings)
    at_root = Counter(row.bucket for row in before.rows)
    told = ", ".join(f"{outcomes[each]} {each}" for each in sorted(outcomes))
    return (
        f"of closed issues {resolved} are borne out by a diff, {by_data} by data alone, {claimed} by nothing: "
        f"{closure_rate(resolved, claimed)}, with data {honest_close_rate(resolved, by_data, claimed)}",
        f"on {' and '.join(f'#{number}' for number in FREE)} audits may differ, and each moves the number: a change of "
        "another kind than is claimed, and a fix that was taken back",
        f"coverage: {coverage.issues} issues of the export, {coverage.commits} of {coverage.commits_in_all} commits "
        f"that {reach.main} reaches; {'; '.join(coverage.gaps) or 'nothing was left out'}",
        f"reach: {reach.local_only} commits of other branches count for nothing, though they say that they resolve "
        f"{', '.join(f'#{number}' for number in reach.local_claims) or 'nothing'}",
        f"with main where nothing had been done nothing bears out {at_root[Bucket.CLAIMED_CLOSED]} of them",
        f"asked again before closing, in a dry run: {told}",
    )
