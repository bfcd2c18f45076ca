"""What a gate's file means for this project: what fails it, what is only reported, and what was accepted.

A timed row fails nothing; a count that got worse does, unless an entry of ``ci/accepted.toml`` covers it and bounds it,
and so does what could not be compared. Refuses to pass where no count was compared. Runs nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ci.accepted import FILE, Accepted, Count, shown_count
from harness.cli.exits import Exit, highest
from harness.jobs.plan import named
from harness.record.gate import SCHEMA
from kpis.registry import Catalog
from kpis.terms.comparison import State
from kpis.terms.kpi import Gate, Kpi
from kpis.terms.reading import Leg

__all__ = ["AGAIN", "MEANT", "CountOf", "Decision", "decide"]

AGAIN = "python ci/self_gate.py"

MEANT = "LOOPLADDER_DEPENDENCIES_MEANT"
"""Set to 1 by whoever means a change of dependencies, and knows that its counts are compared with nothing."""

CountOf = Callable[[str, Mapping[str, str]], Count | None]
"""What the head counts of a KPI at a point, by its parameters."""


@dataclass(slots=True)
class Decision:
    """The exit code, and the sentences that say why."""

    codes: set[Exit] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    @property
    def code(self) -> Exit:
        """The one that applies."""
        return highest(self.codes)

    def say(self, line: str, code: Exit = Exit.OK) -> None:
        """Add a sentence, and what it means for the exit code."""
        self.lines.append(line)
        self.codes.add(code)


def decide(
    file: Mapping[str, Any],
    catalog: Catalog,
    accepted: Sequence[Accepted],
    today: date,
    count_of: CountOf,
    *,
    lost: str | None = None,
) -> Decision:
    """What a gate file (``harness.gate/1``, parsed) means for this project.

    The estimand of a row's KPI says whether it is counted or timed. What reports and never gates fails nothing here
    either; nor do the legs beside the main one, which explain timed rows that moved. Pure but for ``count_of``, which
    is asked where an entry of ``accepted`` covers a count that got worse. ``lost`` says why a change was not compared,
    where nobody said that this was meant.
    """
    if file.get("schema") != SCHEMA:
        return Decision({Exit.UNUSABLE}, [f"The gate file is of schema {file.get('schema')!r}, not {SCHEMA}: {AGAIN}"])
    found = Decision()
    if lost is not None:
        again = f"If it is meant, look at the counts yourself, then run: {MEANT}=1 {AGAIN}"
        found.say(f"{lost} {again}", Exit.UNCOVERED)
    valid = [entry for entry in accepted if entry.until >= today]
    held, passed, used = 0, 0, list[Accepted]()
    for row in file["rows"]:
        if Leg(row["leg"]) is not Leg.MAIN:
            continue
        state, kpi = State(row["state"]), catalog.get(row["kpi"]) if row["kpi"] in catalog else None
        name = _name(row, kpi)
        said = f"{name}: {'; '.join(row['evidence']) or state.value}"
        entry = next((each for each in valid if each.covers(row["kpi"], row["params"])), None)
        look = f"Look with: python -m harness run --kpi {row['kpi']} --quick"
        if state is State.REMOVED:  # first: a count that only reports from now on is no longer compared
            hint = "Keep the old name in `aliases` of the KPI that replaces it" if kpi is None else look
            found.say(f"removed: {said}. {hint}", Exit.UNCOVERED)
        elif kpi is not None and kpi.gate is Gate.REPORT:
            if state is State.REGRESSED:
                found.say(f"reported only: {said}")
        elif state is State.VOID:
            found.say(f"void: {said}. {look}", Exit.FAILED)
        elif state is State.NEW:
            found.say(f"new, nothing to compare with: {said}")
        elif kpi is not None and kpi.estimand.timed and kpi.gate is not Gate.INSTRUCTIONS:
            if state in (State.REGRESSED, State.INCONCLUSIVE, State.NO_BASELINE):
                found.say(f"reported only: {name} is {state.value}{_ratio(row)}")
        elif state is State.REGRESSED and entry is not None:
            used.append(entry)
            beyond = _beyond(entry, count_of(row["kpi"], row["params"]))
            passed += beyond is None
            if beyond is None:
                found.say(f"accepted until {entry.until}: {said}. {entry.why}")
            else:
                found.say(f"regressed: {said}{_paths(row)}. {beyond}", Exit.FAILED)
        elif not state.decided or state is State.REGRESSED:
            regressed = state is State.REGRESSED
            way_in = (
                f"If it is meant, say why in {FILE}, then run: {AGAIN}" if regressed else f"It is not known. {look}"
            )
            found.say(f"{state.value}: {said}{_paths(row)}. {way_in}", Exit.FAILED)
        else:
            held += 1
    if not held and not used and found.code is not Exit.FAILED:
        found.say("No count was compared, so nothing is known. Look with: python -m harness list", Exit.UNCOVERED)
    for line, code in _ended(accepted, used, today):
        found.say(line, code)
    found.say(f"Counts: {held} held, {passed} accepted. {'Passed' if not found.code else 'Failed'}.")
    return found


def _beyond(entry: Accepted, counted: Count | None) -> str | None:
    """Why the entry does not accept what the head counts; None where it does."""
    if counted is not None and entry.admits(counted):
        return None
    shown = "no number" if counted is None else shown_count(counted)
    limit = f"{entry.bound.replace('_', ' ')} {shown_count(entry.limit)}"
    return f"{FILE} accepts {limit}, and the head counts {shown}. Mend one of them, then run: {AGAIN}"


def _ended(accepted: Sequence[Accepted], used: Sequence[Accepted], today: date) -> Iterator[tuple[str, Exit]]:
    for entry in accepted:
        if entry.until < today:
            yield (
                f"{FILE}: the entry of {entry.kpi} ended on {entry.until}. Take it out, then run: {AGAIN}",
                Exit.FAILED,
            )
        elif entry not in used:
            yield f"{FILE}: stale: no row of this change needed the entry of {entry.kpi}; take it out.", Exit.OK


def _name(row: Mapping[str, Any], kpi: Kpi | None) -> str:
    """As the gate's page has it: the parameters in the catalog's order, which a file with sorted keys does not keep."""
    known = () if kpi is None else kpi.params
    keys = [*(key for key in known if key in row["params"]), *(key for key in row["params"] if key not in known)]
    return named(row["kpi"], {key: row["params"][key] for key in keys})


def _ratio(row: Mapping[str, Any]) -> str:
    return "" if row["ratio"] is None else f", {100 * (row['ratio'] - 1):+.1f} %"


def _paths(row: Mapping[str, Any]) -> str:
    return f" (changed: {', '.join(row['paths'][:5])})" if row["paths"] else ""
