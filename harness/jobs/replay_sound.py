"""What a recording says that cannot be: scores and times beyond any real one, and an end before its start.

Each is a fault that is told, and unknown from then on, as a token count beyond any real one is. So is a file that holds
nothing of the format that was named for it.

A time is held against the others of its run, because a recording has no other clock. This module refuses to mend.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from harness.formats.limits import printable
from kpis.formulas.recorded.efficiency import LARGEST_SCORE
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["LONGEST_RUN_MS", "sound"]

LONGEST_RUN_MS = 2 * 366 * 86_400_000
"""Two years: a time that lies further from the others of its run is of a broken clock, and so is such a duration."""

_SKEW_MS = 1_000
"""Two clocks of one recording may differ by this: many write whole seconds."""

_SPANS = (("recordings", "t_start", "t_end"), ("turns", "t_start", "t_end"), ("requests", "t_first", "t_last"),
          ("calls", "t_start", "t_end"), ("events", "t", "t"))  # fmt: skip
_CLOCKED = frozenset(("requests", "calls", "events"))


def sound(run: RecordedRun) -> RecordedRun:
    """``run`` without what cannot be, with an issue for each kind of it and file."""
    return _known(_timed(_scored(run)))


def _scored(run: RecordedRun) -> RecordedRun:
    bad = [facts for facts in run.facts if facts.score is not None and not abs(facts.score) <= LARGEST_SCORE]
    if not bad:
        return run
    said = f"A score beyond {LARGEST_SCORE:,} is none and was left out."
    issues = [Issue(Severity.ERROR, IssueCode.E_BAD_NUMBER, said, file=facts.file) for facts in bad]
    kept = tuple(replace(facts, score=None) if facts in bad else facts for facts in run.facts)
    return replace(run, facts=kept, issues=(*run.issues, *issues))


def _timed(run: RecordedRun) -> RecordedRun:
    """A pass over all times first, since nearly every run is sound and is then handed on as it is."""
    low, high = _believed(run)
    first = next((each.file for each in run.recordings), None)
    wrong: dict[tuple[str, str | None], list[int | None]] = {}
    changed: dict[str, Any] = {}
    for name, start, end in _SPANS:
        held = getattr(run, name)
        clocked, times = name in _CLOCKED, attrgetter(start, end)
        odd: dict[int, dict[str, None]] = {}
        for at, each in enumerate(held):
            a, b = times(each)
            within = (a is None or low <= a <= high) and (b is None or low <= b <= high)
            if within and (a is None or b is None or b >= a - _SKEW_MS) and not (clocked and each.duration_ms):
                continue
            far = {key: None for key, t in ((start, a), (end, b)) if t is not None and not low <= t <= high}
            if clocked and each.duration_ms is not None and each.duration_ms > LONGEST_RUN_MS:
                far["duration_ms"] = None
            if far:
                odd[at] = far
                wrong.setdefault((_FAR, getattr(each, "file", None) or first), []).append(getattr(each, "line", None))
            elif a is not None and b is not None and b < a - _SKEW_MS:
                odd[at] = {start: None, end: None}
                wrong.setdefault((_BACK, getattr(each, "file", None) or first), []).append(getattr(each, "line", None))
        if odd:
            changed[name] = tuple(replace(each, **odd[at]) if at in odd else each for at, each in enumerate(held))
    if not wrong:
        return run
    return replace(run, **changed, issues=(*run.issues, *_told(wrong)))


_FAR = "{n} of a time or a duration years from all others of the run. It was left out."
_BACK = "{n} that ends before it starts. Both times were left out."


def _told(wrong: dict[tuple[str, str | None], list[int | None]]) -> Iterator[Issue]:
    for (said, file), lines in wrong.items():
        n = "A record" if len(lines) == 1 else f"{len(lines):,} records"
        line = min((line for line in lines if line is not None), default=None)
        yield Issue(Severity.ERROR, IssueCode.E_BAD_NUMBER, said.format(n=n), line, file)


def _believed(run: RecordedRun) -> tuple[float, float]:
    """The earliest and latest time that is believed: as far as may be from the middle ones.

    Where half of the times lie years from the other half nobody knows which are right, and none is believed.
    """
    low, high = float("inf"), float("-inf")
    for t in _times(run):
        low, high = min(low, t), max(high, t)
    if high - low <= LONGEST_RUN_MS:
        return low, high
    times = sorted(_times(run))
    return times[len(times) // 2] - LONGEST_RUN_MS, times[(len(times) - 1) // 2] + LONGEST_RUN_MS


def _times(run: RecordedRun) -> Iterator[int]:
    for name, start, end in _SPANS:
        for pair in map(attrgetter(start, end), getattr(run, name)):
            for t in pair:
                if t is not None:
                    yield t


def _known(run: RecordedRun) -> RecordedRun:
    """A run none of whose lines its format knows is no recording: nothing of it is shown as one."""
    if any((run.turns, run.requests, run.calls, run.events, run.facts, run.contexts)):
        return run
    strange = [
        each
        for each in run.recordings
        if each.lines and sum(each.unknown_kinds.values()) + each.bad_lines >= each.lines
    ]
    if not strange or len(strange) < len(run.recordings):
        return run
    issues = [
        Issue(
            Severity.ERROR,
            IssueCode.E_UNKNOWN_FORMAT,
            f"{printable(each.file or run.run_id, 200)} holds nothing that the format {run.source_format} writes.",
            file=each.file,
        )
        for each in strange
    ]
    return replace(run, threads=(), issues=(*issues, *run.issues))
