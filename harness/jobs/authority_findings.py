"""What the check of the authority can find, each a kind and one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import zip_longest

__all__ = ["Fault", "Finding", "differs", "told_once"]


class Fault(Enum):
    """The kinds of findings. A stale number fails a strict check only."""

    HAND_EDIT = "hand-edit"
    MISSING = "missing-artifact"
    HASH = "wrong-hash"
    CLASS = "wrong-class"
    ARM = "swapped-arm"
    TOMBSTONE = "revived-tombstone"
    FREE = "free-number"
    MARK = "broken-mark"
    VANISHED = "vanished-kpi"
    CALIBRATION = "unusable-calibration"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be; the sentence names where and ends with what to type.

    Findings of one fault that have a ``cause`` in common are told once; ``row`` is where each of them stands.
    """

    fault: Fault
    sentence: str
    cause: str = ""
    row: str = ""


def told_once(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in their order, of those with one cause the first alone, with the number of rows."""
    firsts: dict[tuple[Fault, str], Finding] = {}
    rows: dict[tuple[Fault, str], set[str]] = {}
    for finding in findings:
        key = (finding.fault, finding.cause or finding.sentence)
        firsts.setdefault(key, finding)
        rows.setdefault(key, set()).add(finding.row)
    return [
        replace(first, sentence=f"{len(rows[key])} rows, the first: {first.sentence}") if len(rows[key]) > 1 else first
        for key, first in firsts.items()
    ]


def differs(name: str, found: str, wanted: str, again: str) -> Finding:
    """Where ``found`` first differs from what would be generated; they do differ."""
    lines = zip_longest(found.splitlines(), wanted.splitlines())
    for number, (is_now, should_be) in enumerate(lines, start=1):
        if is_now != should_be:
            at, said = _apart(is_now or "", should_be or "")
            what = f"reads {at} where {said} would be generated"
            return Finding(Fault.HAND_EDIT, f"{name}, line {number}, {what}; {again}")
    return Finding(Fault.HAND_EDIT, f"{name} differs in its line endings from what would be generated; {again}")


_AROUND = 60


def _apart(one: str, other: str) -> tuple[str, str]:
    """Both lines from shortly before the first character in which they differ."""
    same = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), None)
    begin = max(0, (min(len(one), len(other)) if same is None else same) - _AROUND // 3)
    return _cut(one, begin), _cut(other, begin)


def _cut(line: str, begin: int) -> str:
    if not line[begin:]:
        return "nothing" if not begin else "its end"
    end = "..." if len(line) > begin + _AROUND else ""
    return repr(f"{'...' if begin else ''}{line[begin : begin + _AROUND]}{end}")
