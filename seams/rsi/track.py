"""Track mode: what a reference names now is measured once and held against the last time it was.

Only a strictly worse value of the same metric under the same name is a regression; another reference has no verdict,
and a first point is nothing to hold against. What was found becomes the next bar, a worse one too: whoever is told of
a regression is told once. Decides nothing and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract.rsi_loop import Charge, Row, Tracked, Trend
from seams.rsi.journal import read
from seams.rsi.pinned import Pinned

__all__ = ["last_track", "track", "trend"]


def last_track(rows: Sequence[Row]) -> Row | None:
    """The last track row that holds a value; None where there is none."""
    return next((row for row in reversed(rows) if row.mode == "track" and row.candidate_metric is not None), None)


def track(charge: Charge, *, confine: bool = True) -> Tracked:
    """Measure what the charge's reference names now, append a track row and say what it shows.

    Raises:
        LoopError: the repository cannot be worked in, or the journal not be written.
    """
    pinned = Pinned(charge, keeps=False)
    try:
        trial = pinned.baseline(confine=confine)
        rows = read(charge.journal).rows
        previous = last_track(rows)
        row = Row(
            cycle=sum(1 for each in rows if each.mode == "track") + 1,
            mode="track",
            candidate="",
            metric_name=charge.metric_name,
            baseline=None if previous is None else previous.candidate_metric,
            candidate_metric=trial.metric,
            measured=trial.metric is not None,
            lower_better=charge.lower_better,
            improved=False,
            suite_green=trial.suite_green,
            truth_clean=True,
            profile="full",
            decision=None,
            kept=None,
            breaker_nonkeeps=0,
            baseline_ref=pinned.commit,
            ref_name=charge.reference,
            tip=pinned.commit,
            note=trial.note,
        )
        pinned.journal.append(row)
    finally:
        pinned.close()
    found, detail = trend(row, previous)
    return Tracked(found, row, previous, detail)


def trend(row: Row, previous: Row | None) -> tuple[Trend, str]:
    """What ``row`` is against ``previous``, and a sentence."""
    at = f"{row.ref_name} at {row.baseline_ref[:12]}"
    now = row.candidate_metric
    if now is None:
        return Trend.UNMEASURED, f"{at} cannot be measured: {row.note}"
    if not row.suite_green:
        return Trend.RED, f"the suite is red for {at}: {row.note}"
    if previous is None or previous.candidate_metric is None:
        return Trend.FIRST, f"{row.metric_name} is {now!r} for {at}, the first point"
    then = previous.candidate_metric
    told = f"{row.metric_name} was {then!r} for {previous.ref_name} at {previous.baseline_ref[:12]}, {now!r} for {at}"
    mine, other = ((each.ref_name, each.metric_name, each.lower_better) for each in (row, previous))
    if mine != other:
        return Trend.NO_VERDICT, f"{told}: not the same reference and metric"
    worse = now > then if row.lower_better else now < then
    return (Trend.REGRESSED if worse else Trend.OK), told
