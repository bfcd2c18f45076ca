"""The project's gate on itself: what is counted blocks, what is timed is reported.

    python ci/self_gate.py                          against the first parent of HEAD
    LOOPLADDER_BASE=origin/main python ci/self_gate.py

Machines that run checks differ and are shared, so a timed row fails nothing here; it is printed. A count that got
worse fails, unless ``ci/accepted.toml`` says that it was meant; so does what could not be compared at all. Refuses to
pass in silence: where there is no earlier commit to compare with, it says so, and holds the counts against HEAD itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.accepted import FILE, Accepted, AcceptedError, read_accepted  # noqa: E402
from ci.against import against  # noqa: E402
from harness.cli.exits import Exit, highest  # noqa: E402
from harness.jobs.rows import project_catalog  # noqa: E402
from harness.project import load_project  # noqa: E402
from harness.record.gate import SCHEMA  # noqa: E402
from harness.subject import SubjectError  # noqa: E402
from kpis.registry import Catalog  # noqa: E402
from kpis.terms.comparison import State  # noqa: E402
from kpis.terms.kpi import Gate, Kpi  # noqa: E402
from kpis.terms.reading import Leg  # noqa: E402

BUDGET = "120s"
"""For the timed rows, which are tried after the counts: these are complete whatever it is."""

AGAIN = "python ci/self_gate.py"


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


def decide(file: Mapping[str, Any], catalog: Catalog, accepted: Sequence[Accepted], today: date) -> Decision:
    """What a gate file (``harness.gate/1``, parsed) means for this project.

    The estimand of a row's KPI says whether it is counted or timed. What reports and never gates fails nothing here
    either; nor do the legs beside the main one, which explain timed rows that moved. Pure: ``today`` is given.
    """
    if file.get("schema") != SCHEMA:
        return Decision({Exit.UNUSABLE}, [f"The gate file is of schema {file.get('schema')!r}, not {SCHEMA}: {AGAIN}"])
    found = Decision()
    held, used = 0, list[Accepted]()
    for row in file["rows"]:
        if Leg(row["leg"]) is not Leg.MAIN:
            continue
        state, kpi = State(row["state"]), catalog.get(row["kpi"]) if row["kpi"] in catalog else None
        name = _name(row, kpi)
        said = f"{name}: {'; '.join(row['evidence']) or state.value}"
        entry = next((each for each in accepted if each.covers(row["kpi"], row["params"])), None)
        look = f"Look with: python -m harness run --kpi {row['kpi']} --quick"
        if kpi is not None and kpi.gate is Gate.REPORT:
            if state is State.REGRESSED:
                found.say(f"reported only: {said}")
        elif state is State.REMOVED:
            hint = "Keep the old name in `aliases` of the KPI that replaces it" if kpi is None else look
            found.say(f"removed: {said}. {hint}", Exit.UNCOVERED)
        elif state is State.VOID:
            found.say(f"void: {said}. {look}", Exit.FAILED)
        elif state is State.NEW:
            found.say(f"new, nothing to compare with: {said}")
        elif kpi is not None and kpi.estimand.timed:
            if state in (State.REGRESSED, State.INCONCLUSIVE, State.NO_BASELINE):
                found.say(f"reported only: {name} is {state.value}{_ratio(row)}")
        elif state is State.REGRESSED and entry is not None:
            used.append(entry)
            found.say(f"accepted until {entry.until}: {said}. {entry.why}")
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
    found.say(f"Counts: {held} held, {len(used)} accepted. {'Passed' if not found.code else 'Failed'}.")
    return found


def _ended(accepted: Sequence[Accepted], used: Sequence[Accepted], today: date) -> Iterator[tuple[str, Exit]]:
    for entry in accepted:
        if entry.until < today:
            yield (
                f"{FILE}: the entry of {entry.kpi} ended on {entry.until}. Take it out, then run: {AGAIN}",
                Exit.FAILED,
            )
        elif entry not in used:
            yield f"{FILE}: no row needed the entry of {entry.kpi}; it may be taken out.", Exit.OK


def _name(row: Mapping[str, Any], kpi: Kpi | None) -> str:
    """As the gate's page has it: the parameters in the catalog's order, which a file with sorted keys does not keep."""
    known = () if kpi is None else kpi.params
    keys = [*(key for key in known if key in row["params"]), *(key for key in row["params"] if key not in known)]
    params = ",".join(f"{key}={row['params'][key]}" for key in keys)
    return f"{row['kpi']}[{params}]" if params else str(row["kpi"])


def _ratio(row: Mapping[str, Any]) -> str:
    return "" if row["ratio"] is None else f", {100 * (row['ratio'] - 1):+.1f} %"


def _paths(row: Mapping[str, Any]) -> str:
    return f" (changed: {', '.join(row['paths'][:5])})" if row["paths"] else ""


def self_gate(root: Path, named: str | None, today: date, kpis: Sequence[str] = ()) -> Decision:
    """Gate the project at ``root`` and decide; ``kpis`` narrows to some. The gate prints its own page."""
    catalog = project_catalog(load_project(root))
    file = root / FILE
    try:
        accepted = read_accepted(file.read_text(encoding="utf-8") if file.is_file() else "", catalog)
        base = against(root, named)
    except (AcceptedError, SubjectError) as error:
        return Decision({Exit.UNUSABLE}, [str(error)])
    words = ["--against", base.revision, "--budget", BUDGET]
    wanted = list(kpis)
    if base.why is not None:
        print(base.why, flush=True)
        counts = [kpi.id for kpi in catalog if kpi.gate is not Gate.REPORT and not kpi.estimand.timed]
        words, wanted = [*words, "--all"], [name for name in counts if not kpis or name in kpis]
    if wanted:
        words += ["--kpi", *wanted]
    with TemporaryDirectory() as folder:
        written = Path(folder) / "gate.json"
        command = [sys.executable, "-m", "harness", "gate", *words, "--json", str(written)]
        code = subprocess.run(command, cwd=root, check=False).returncode
        if not written.is_file():
            said = f"The gate ended with {code} before it had compared anything; mend what it said, then run: {AGAIN}"
            return Decision({Exit(code) if code in set(Exit) and code else Exit.FAILED}, [said])
        return decide(json.loads(written.read_bytes()), catalog, accepted, today)


def main() -> int:
    """Gate this repository."""
    found = self_gate(ROOT, os.environ.get("LOOPLADDER_BASE") or None, datetime.now(UTC).date())
    print("\n".join(found.lines), file=sys.stderr if found.code else sys.stdout)
    return int(found.code)


if __name__ == "__main__":
    sys.exit(main())
