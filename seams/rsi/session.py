"""One loop from its pinned commit to its last row: try, decide, keep or revert, write it down.

Each candidate is tried in a fresh tree on top of what was kept so far. A decision is made of :class:`Signals` and of
nothing else; what the observer does reaches none, and a profile that a change claims is its own only as far as what it
touched bears it out.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from seams.contract.rsi_breaker import Decision, Signals
from seams.contract.rsi_loop import Candidate, Charge, Observer, Result, Row
from seams.rsi.attempt import attempted
from seams.rsi.breaker import CountingBreaker, improved, proven
from seams.rsi.commits import NOTHING, commit, move
from seams.rsi.errors import LoopError
from seams.rsi.pinned import Pinned

__all__ = ["LoopSession"]


class LoopSession:
    """A loop that has begun. ``confine`` is whether the kernel is asked to keep candidates in their trees.

    Raises:
        LoopError: it cannot begin: see :class:`Pinned`; or the pinned commit cannot be measured, or its suite is red.
    """

    def __init__(self, charge: Charge, observer: Observer | None = None, *, confine: bool = True) -> None:
        self._charge = charge
        self._observer = observer
        self._confine = confine
        self._pinned = Pinned(charge, keeps=True)
        try:
            self._bar = self._tip_bar()
        except BaseException:
            self._pinned.close()
            raise
        self._first = self._bar
        self._tip = self._pinned.commit
        self._breaker = CountingBreaker(charge.k)
        self._rows: list[Row] = []
        self._halted: str | None = None
        self._closed = False

    @property
    def over(self) -> bool:
        """Whether another cycle would be refused: it was closed, halted, or handed over to a person."""
        return self._closed or self._halted is not None or self._escalated

    @property
    def _escalated(self) -> bool:
        return bool(self._rows) and self._rows[-1].decision == Decision.ESCALATE.value

    def _tip_bar(self) -> float:
        trial = self._pinned.baseline(confine=self._confine)
        if trial.metric is None or not trial.suite_green:
            what = "cannot be measured" if trial.metric is None else "has a red suite"
            raise LoopError(
                f"The pinned commit {self._pinned.commit[:12]} {what}, before any candidate: {trial.note}. "
                f"Look with: git show {self._pinned.commit[:12]}"
            )
        return trial.metric

    def cycle(self, candidate: Candidate) -> Row:
        """Try one candidate and write its row.

        Raises:
            LoopError: the loop is over; or a commit, the branch or the journal cannot be written, which ends it.
        """
        if self.over:
            raise LoopError("This loop has ended. Read its journal, then begin another: git log --oneline --all -10")
        number = len(self._rows) + 1
        if self._observer is not None:
            with suppress(Exception):  # telemetry: whatever befalls it, the cycle goes on
                self._observer.proposed(number)
        try:
            row = self._tried(number, candidate)
            self._rows.append(row)  # what was decided and done is true, whether or not it can be written down
            self._pinned.journal.append(row)
        except LoopError as error:
            self._halted = str(error)
            raise
        if self._observer is not None:
            with suppress(Exception):
                self._observer.decided(number)
        return row

    def _tried(self, number: int, candidate: Candidate) -> Row:
        pinned, charge = self._pinned, self._charge
        with pinned.scratch.tree(self._tip) as tree:
            attempt = attempted(pinned, tree, self._tip, candidate, confine=self._confine)
            profile = proven(candidate.profile, attempt.touched)
            notes = attempt.notes
            if profile is not candidate.profile:
                claim = str(getattr(candidate.profile, "value", candidate.profile))[:40]
                notes += (f"it claimed {claim} and was held to {profile.value}: it did not touch documents alone",)
            signals = Signals(
                before=self._bar,
                after=attempt.metric,
                suite_green=attempt.suite_green,
                truth_clean=attempt.truth_clean,
                lower_better=charge.lower_better,
                profile=profile,
            )
            ruling = self._breaker.record(signals)
            row = Row(
                cycle=number,
                mode="improve",
                candidate=str(candidate.name),
                metric_name=charge.metric_name,
                baseline=self._bar,
                candidate_metric=attempt.metric,
                measured=attempt.metric is not None,
                lower_better=charge.lower_better,
                improved=improved(signals),
                suite_green=attempt.suite_green,
                truth_clean=attempt.truth_clean,
                profile=profile.value,
                decision=ruling.decision.value,
                kept=ruling.decision is Decision.KEEP,
                breaker_nonkeeps=ruling.nonkeeps,
                baseline_ref=pinned.commit,
                ref_name=charge.reference,
                tip=self._tip,
                note="; ".join(notes) or None,
            )
            if ruling.decision is Decision.KEEP:
                row = self._kept(row, tree, candidate)
        self._halted = attempt.harm
        return row

    def _kept(self, row: Row, tree: Path, candidate: Candidate) -> Row:
        """The row of a candidate that stays, once the branch holds it."""
        pinned, old = self._pinned, self._tip
        began = old == pinned.commit
        message = (
            f"{candidate.name}\n\n{row.metric_name}: {row.baseline!r} -> {row.candidate_metric!r}\n\n"
            f"Loop-Cycle: {row.cycle}\nLoop-Baseline: {row.baseline_ref}\n"
        )
        new = commit(pinned.repository, tree, old, candidate, pinned.index, message)
        move(pinned.repository, pinned.branch, new, NOTHING if began else old, new)
        self._tip = new
        self._bar = self._bar if row.candidate_metric is None else row.candidate_metric
        return replace(row, commit=new)

    def close(self) -> Result:
        """End it and remove what it made, but for the branch and the journal; safe to call twice."""
        self._closed = True
        self._pinned.close()
        rows = tuple(self._rows)
        return Result(
            cycles=len(rows),
            kept=sum(1 for row in rows if row.kept),
            final=self._bar,
            final_baseline=self._first,
            baseline_ref=self._pinned.commit,
            escalated=self._escalated,
            rows=rows,
            tip=self._tip,
            halted=self._halted,
        )
