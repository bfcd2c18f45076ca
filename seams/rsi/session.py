"""One loop from its pinned commit to its last row: try, decide, keep or revert, write it down.

Each candidate is tried in a fresh tree on top of what was kept so far. A decision is made of :class:`Signals` and of
nothing else; what the observer does reaches none, and a profile that a change claims is its own only as far as what it
touched bears it out.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from seams.contract.rsi_breaker import Decision, Profile, Signals
from seams.contract.rsi_loop import Candidate, Charge, Observer, Result, Row
from seams.rsi.attempt import attempted
from seams.rsi.breaker import CountingBreaker, improved, proven
from seams.rsi.commits import NOTHING, commit, move, require_unmoved
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
            LoopError: the loop is over; or a commit, the journal or the branch cannot be written, which ends it. They
                are written in this order, so that nothing is kept of which there is no row.
        """
        if self.over:
            raise LoopError("This loop has ended. Read its journal, then begin another: git log --oneline --all -10")
        number = len(self._rows) + 1
        if self._observer is not None:
            with suppress(Exception):  # telemetry: whatever befalls it, the cycle goes on
                self._observer.proposed(number)
        try:
            row = self._tried(number, candidate)
            self._pinned.journal.append(row)
            self._rows.append(row)
            if row.commit is not None:
                self._kept(row, row.commit)
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
            name, claimed = _claims(candidate)
            profile = proven(claimed, attempt.touched)
            notes = attempt.notes
            if profile is not claimed:
                claim = str(getattr(claimed, "value", claimed))[:40]
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
                candidate=name,
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
                row = replace(row, commit=self._committed(row, tree, candidate))
        self._halted = attempt.harm
        if (stays := pinned.scratch.stays) is not None:
            row = replace(row, note="; ".join((*notes, f"its tree {stays} stays, since it cannot be removed")))
            self._halted = self._halted or (
                f"The tree of {name!r} cannot be removed and stays at {stays}. "
                f"Look with: ls -la {shlex.quote(str(stays))}"
            )
        return row

    @property
    def _stands(self) -> str:
        """What the branch names: nothing before the first commit."""
        return NOTHING if self._tip == self._pinned.commit else self._tip

    def _committed(self, row: Row, tree: Path, candidate: Candidate) -> str:
        """The commit of a candidate that is to stay; the branch is where this loop left it and does not move yet."""
        pinned = self._pinned
        # A name may be anything, and a subject is one line that is shown in terminals.
        subject = " ".join("".join(sign if sign.isprintable() else " " for sign in row.candidate).split())
        message = (
            f"{subject or f'candidate {row.cycle}'}\n\n"
            f"{row.metric_name}: {row.baseline!r} -> {row.candidate_metric!r}\n\n"
            f"Loop-Cycle: {row.cycle}\nLoop-Baseline: {row.baseline_ref}\n"
        )
        new = commit(pinned.repository, tree, self._tip, candidate, pinned.index, message)
        require_unmoved(pinned.repository, pinned.branch, self._stands, new)
        return new

    def _kept(self, row: Row, new: str) -> None:
        """Let the branch name the commit of a row that is written down, and measure what follows against it."""
        move(self._pinned.repository, self._pinned.branch, new, self._stands, new)
        self._tip = new
        self._bar = self._bar if row.candidate_metric is None else row.candidate_metric

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


def _claims(candidate: object) -> tuple[str, Profile]:
    """The name and the profile that it gives itself; of what is no candidate the name of its type."""
    name: object = getattr(candidate, "name", None)
    profile: Profile = getattr(candidate, "profile", Profile.FULL)
    return (name if isinstance(name, str) else type(candidate if name is None else name).__name__), profile
