"""How many spans a session makes the planner score, counted and held against closed forms.

The planner's own count has to be the number of candidates that came back. A full scan scores everything it holds; a
bounded one has to score what the turn is about: the pins, the rows that share a word with the intents, and the newest
ones, as far as its cap goes. What this cannot see is a span that is scored and then kept quiet about, and the work by
which an index finds its rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from harness.measure.clock import Tally, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.turn._outlook import forecast_of, outlook_of, words_of
from harness.probes.turn._replay import Session, verified
from kpis.formulas.turn.planner import CAP, full_scan, scan_of
from kpis.formulas.turn.scaling import bounded_scan_charged
from seams.contract.turn import Candidate, Outlook, Planner

__all__ = ["NEWEST", "counted", "scored", "verify_scored"]

NEWEST = 32
"""The newest rows, which a bounded scan has to score whatever they say, where its cap has room for them."""


def verify_scored(outlook: Outlook, cap: int | None, scored: Sequence[Candidate]) -> None:
    """Hold ``scored`` against what :meth:`Planner.candidates` was given.

    Raises:
        WorkNotDoneError: a candidate is no span of the outlook, comes twice or is worth no finite number; or one is
            missing: any without a ``cap``; with it a pinned one, or one that shares a word with the intents or is among
            the newest while there was room for it.
    """
    given = {span.id for span in outlook.spans}
    found = Counter(each.cell.id for each in scored)
    if found.keys() - given or len(found) < len(scored):
        raise WorkNotDoneError(f"{len(scored)} scored candidates are not as many of the {len(given)} spans given")
    missing = (given if cap is None else given.intersection(outlook.forecast.pins)) - found.keys()
    if missing:
        what = "spans" if cap is None else "pinned spans"
        raise WorkNotDoneError(f"{len(missing)} {what} out of {len(given)} given were not scored")
    if cap is not None:
        _verify_bounded(outlook, cap, set(found))
    if not all(math.isfinite(each.benefit) for each in scored):
        raise WorkNotDoneError("a candidate was scored with a benefit that is no finite number")


def _verify_bounded(outlook: Outlook, cap: int, found: set[str]) -> None:
    spans, forecast = outlook
    asked = words_of(*forecast.intents)
    about = {span.id for span in spans if asked & words_of(span.role, span.descriptor)}
    wanted = about | {span.id for span in spans[-NEWEST:]} | {span.id for span in spans}.intersection(forecast.pins)
    what = "that are pinned, asked about or among the newest"
    if len(wanted) <= cap:
        missing = wanted - found
        if missing:
            raise WorkNotDoneError(f"of {len(wanted)} spans {what} {len(missing)} were not scored")
    elif len(found) < cap or not found <= wanted:
        raise WorkNotDoneError(
            f"of {len(wanted)} spans {what} {len(found & wanted)} were scored, where there is room for {cap}"
        )


async def scored(planner: Planner, outlook: Outlook, cap: int | None) -> list[Candidate]:
    """What the planner scored of ``outlook``, held against it."""
    found: list[Candidate] = await settled(planner.candidates(outlook.spans, outlook.forecast, cap))
    verified(lambda given, came: verify_scored(given, cap, came), outlook, found)
    return found


async def counted(planner: Planner, session: Session, *, bounded: bool, whole: bool) -> Tally:
    """Replay every turn and count; the ``whole`` session's scorings, or those of its last turn."""
    cap = CAP if bounded else None
    spans = outlook_of(session.messages).spans
    counts: list[int] = []
    for seen in session.seen:
        outlook = Outlook(spans[:seen], forecast_of(session.messages[:seen]))
        before = planner.scorings
        came = await scored(planner, outlook, cap)
        counts.append(planner.scorings - before)
        _verify_count(counts[-1], len(came), seen, cap)
    held = session.seen if whole else session.seen[-1:]
    over = f"summed over {len(held)} turns" if whole else "at the last turn"
    form = "closed form: i" if cap is None else f"bound: min(i, {cap})"
    evidence = [f"{form} {over}, i spans held, is {scan_of(held, cap)}"]
    if whole:
        turns = len(held)
        usual = full_scan(turns) if cap is None else bounded_scan_charged(turns, cap)
        name = "n(n+1)/2, one span a turn" if cap is None else f"{cap} n, charged before there are as many spans"
        evidence.append(f"as modeled over n = {turns} turns: {name}, is {usual}")
    return Tally(numerator=sum(counts) if whole else counts[-1], evidence=tuple(evidence))


def _verify_count(counted: int, returned: int, seen: int, cap: int | None) -> None:
    if counted != returned:
        raise WorkNotDoneError(f"of {seen} spans {counted} were counted as scored and {returned} came back")
    # An index may need fewer than its bound; it may not score nothing.
    bound = scan_of([seen], cap)
    if not 0 < counted <= bound or (cap is None and counted != bound):
        raise WorkNotDoneError(f"of {seen} spans {counted} were scored, where the closed form is {bound}")
