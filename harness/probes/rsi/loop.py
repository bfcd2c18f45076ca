"""Drives the loop over a real repository of the probe's own, and reads its journal, its branch and its leavings.

The loop's word is not taken: each row is held against what the formulas say of its candidate, the journal on the disk
against the rows, and the branch has to hold exactly the kept candidates, each as one commit of one file. What this
cannot see is a loop that knows these nine candidates and tries none of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes.rsi._plan import Expected, K, Step, expected, planned
from harness.probes.rsi._scratch import LEASE, REFERENCE, Scratch, without_git
from seams.contract.rsi_loop import Freshness, Loop, Result, Row

__all__ = ["Probe", "require_rows"]

_BITS = ("suite_green", "truth_clean")


class Probe:
    """Opens the KPIs of ``rsi/loop``."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"keep_rate", "suite_green_rate", "truth_clean_rate", "vs_main_freshness"}
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous loop, the coroutine that returns it."""
        return self._opened(kpi, runtime, lambda found: found[kpi])

    def open_all(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """By KPI what one run of the loop says: each of the rates, where ``kpi`` is one of them."""
        return self._opened(kpi, runtime, dict)

    def _opened(self, kpi: str, runtime: Any, chosen: Callable[[dict[str, Tally | Undefined]], Any]) -> Any:
        loop: Loop | None = runtime.offer("rsi/loop", "none")
        if loop is None:
            missing = Undefined("not-offered", f"The runtime {runtime.name} offers no loop over a repository.")
            return chosen(dict.fromkeys(self.kpis, missing))
        if (unmade := without_git()) is not None:
            return chosen(dict.fromkeys(self.kpis, unmade))

        async def opening() -> Any:
            return chosen({kpi: await _fresh(loop)} if kpi == "vs_main_freshness" else await _rated(loop))

        return finish(opening(), loop.run, loop.freshness)


async def _rated(loop: Loop) -> dict[str, Tally | Undefined]:
    """Every rate, of one run of the loop."""
    steps = planned()
    wanted = expected(steps, K)
    scratch = Scratch()
    try:
        given = [step.candidate for step in steps]
        result: Result = await settled(loop.run(scratch.charge(k=K), given))
        require_rows(result, steps, wanted)
        _require_journal(scratch, result.rows)
        _require_branch(scratch, result, steps, wanted)
        scratch.require_untouched()
    finally:
        scratch.close()
    rows, cycles = result.rows, len(result.rows)
    measured = sum(1 for row in rows if row.measured)
    decisions = dict(Counter(str(row.decision) for row in rows))
    gains = f"{result.final_baseline!r} -> {result.final!r} at the pinned {result.baseline_ref[:12]}"
    evidence = (
        f"{cycles} cycles over a scratch repository: {result.kept} kept, {measured} measured; lru_value {gains}",
        "; ".join(f"{row.candidate}: {row.decision}" for row in rows),
    )
    found: dict[str, Tally | Undefined] = {
        "keep_rate": Tally(result.kept, cycles, reasons=decisions, source="synthetic", evidence=evidence)
    }
    for bit, otherwise in (("suite_green", "red"), ("truth_clean", "dirty")):
        held = sum(1 for row in rows if getattr(row, bit))
        reasons = {bit: held, "unmeasured": cycles - measured, otherwise: measured - held}
        found[f"{bit}_rate"] = Tally(held, cycles, reasons=reasons, source="synthetic", evidence=evidence)
    return found


def require_rows(result: Result, steps: Sequence[Step], wanted: Sequence[Expected]) -> None:
    """Hold every row against its expectation.

    Raises:
        WorkNotDoneError: there are more or fewer, or one says something else.
    """
    if len(result.rows) != len(wanted) or result.cycles != len(wanted):
        raise WorkNotDoneError(f"the loop made {len(result.rows)} rows of {len(wanted)} cycles: {result.halted}")
    for number, (row, step, want) in enumerate(zip(result.rows, steps, wanted, strict=False), start=1):
        said = (row.candidate_metric, row.baseline, row.suite_green, row.truth_clean, row.decision)
        due = (want.metric, want.baseline, want.suite_green, want.truth_clean, want.decision)
        named = (row.cycle, row.mode, row.candidate, row.measured, row.kept, row.breaker_nonkeeps)
        right = (number, "improve", step.candidate.name, want.metric is not None, want.kept, want.nonkeeps)
        if said != due or named != right:
            raise WorkNotDoneError(f"row {number} says {(*named, *said)} where {(*right, *due)} is due: {row.note}")
    kept = [want.metric for want in wanted if want.kept]
    if (result.kept, result.final) != (len(kept), kept[-1]):
        raise WorkNotDoneError(f"the loop says that it kept {result.kept} and ended at {result.final!r}")
    if result.escalated != (wanted[-1].decision == "ESCALATE"):
        raise WorkNotDoneError("the loop does not say whether it handed over")


def _require_journal(scratch: Scratch, rows: Sequence[Row]) -> None:
    """The file holds the rows, one JSON object a line, and no time in them."""
    lines = scratch.journal.read_text(encoding="utf-8").splitlines()
    if len(lines) != len(rows):
        raise WorkNotDoneError(f"the journal holds {len(lines)} lines and {len(rows)} rows were made")
    for line, row in zip(lines, rows, strict=True):
        held = json.loads(line)
        if any(held.get(name) != getattr(row, name) for name in ("cycle", "candidate_metric", "decision", "commit")):
            raise WorkNotDoneError(f"the journal says something else of cycle {row.cycle} than its row")


def _require_branch(scratch: Scratch, result: Result, steps: Sequence[Step], wanted: Sequence[Expected]) -> None:
    """The branch is the pinned commit and, above it, each kept candidate as one commit of the declared file alone."""
    commits = scratch.git("rev-list", "--reverse", f"{scratch.base}..refs/heads/rsi").splitlines()
    if commits != [row.commit for row in result.rows if row.kept] or result.tip != commits[-1]:
        raise WorkNotDoneError("the branch does not hold the commits of the kept rows")
    kept = [step.candidate for step, want in zip(steps, wanted, strict=False) if want.kept]
    parent = scratch.base
    for commit, candidate in zip(commits, kept, strict=True):
        if scratch.git("diff-tree", "-r", "--name-only", parent, commit) != LEASE:
            raise WorkNotDoneError(f"{commit[:12]} changes something else than {LEASE}")
        content = candidate.edits[LEASE] or b""
        if scratch.git("rev-parse", f"{commit}:{LEASE}") != scratch.git("hash-object", "--stdin", feed=content):
            raise WorkNotDoneError(f"{commit[:12]} is not what {candidate.name!r} proposed")
        parent = commit


async def _fresh(loop: Loop) -> Tally:
    """Keep one candidate, ask; let the reference move on, and be rewritten, and ask again: only the first is fresh."""
    scratch = Scratch()
    try:
        step = planned()[0]
        result: Result = await settled(loop.run(scratch.charge(), [step.candidate]))
        require_rows(result, [step], expected([step]))
        base, told = result.rows[0].baseline_ref, []
        for moves in (0, 1, 2):
            tip = scratch.git("rev-parse", f"refs/heads/{REFERENCE}")
            if moves:
                tip = scratch.commit({"note": f"{moves}\n"}, parent=tip)
                scratch.git("update-ref", f"refs/heads/{REFERENCE}", tip)
            told.append(await _asked(loop, scratch, base, (moves == 0, tip, moves, 0)))
        other = scratch.commit({"note": "another beginning\n"})
        scratch.git("update-ref", f"refs/heads/{REFERENCE}", other)
        told.append(await _asked(loop, scratch, base, (False, other, 1, 1)))
    finally:
        scratch.close()
    behind = ", ".join(str(each.behind) for each in told[1:])
    return Tally(
        int(told[0].fresh),
        source="synthetic",
        evidence=(
            f"asked when reported: {told[0].behind} commits behind {REFERENCE} at {base[:12]}",
            f"asked again after {REFERENCE} moved twice and was then rewritten: not fresh, {behind} behind",
        ),
    )


async def _asked(loop: Loop, scratch: Scratch, base: str, due: tuple[bool, str, int, int]) -> Freshness:
    found: Freshness = await settled(loop.freshness(scratch.top, base, REFERENCE))
    if tuple(found[:4]) != due:
        raise WorkNotDoneError(f"asked how far {REFERENCE} has moved, it says {tuple(found[:4])} where {due} is due")
    return found
