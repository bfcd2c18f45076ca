"""The project's record on itself: counts and coverage block, and everything else is reported.

    python ci/own_record.py

Two runs are held against the record. The newest committed run of everything of each machine on record shows whether
the catalog, the record and the committed runs hold the same rows; that costs nothing, and a run of everything would
take minutes here. Then the counts are taken afresh, three processes each, because a count needs no quiet machine; what
``ci/self_gate.py`` counts is held against the base, and a slow drift passes every base.

Machines that run checks differ, and the record may be of another one: then nothing fresh is compared, which is printed
and blocks nothing (the ratchet's exit code 4). Measures counts, writes no record.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.decision import Decision  # noqa: E402
from harness.cli.exits import Exit  # noqa: E402
from harness.jobs.ratchet_conditions import RECORDED  # noqa: E402
from harness.jobs.rows import project_catalog  # noqa: E402
from harness.project import load_project  # noqa: E402
from harness.record.ratchet import SCHEMA  # noqa: E402
from harness.record.run import Run, RunFileError, decode  # noqa: E402
from harness.record.store import committed_runs  # noqa: E402
from kpis.errors import CatalogError  # noqa: E402
from kpis.terms.claim import VerdictState  # noqa: E402
from kpis.terms.comparison import State  # noqa: E402
from kpis.terms.kpi import Gate  # noqa: E402

AGAIN = "python ci/own_record.py"

COUNTED = (Gate.EXACT, Gate.INVARIANT)
"""The gates of rows that block; a timed row, on whatever machine this is, only reports."""

_GOOD = (State.OK, State.UNCHANGED, State.IMPROVED, State.WITHIN)


def decide(file: Mapping[str, Any], what: str) -> Decision:
    """What a ratchet file (``harness.ratchet/1``, parsed) means for this project; ``what`` is what was held.

    Whatever else the ratchet calls a failure, an ended waiver or a kind of rule that is not known here, blocks as well.
    """
    if file.get("schema") != SCHEMA:
        said = f"The ratchet file is of schema {file.get('schema')!r}, not {SCHEMA}: {AGAIN}"
        return Decision({Exit.UNUSABLE}, [said])
    found, held, spoken = Decision(), 0, set[str]()
    for row in file["rows"]:
        state, counted = State(row["state"]), Gate(row["gate"]) in COUNTED
        name = row["name"] if row["anchor"] == "record" else f"{row['name']} since {row['anchor']}"
        said = f"{name}: {'; '.join(row['evidence']) or state.value}"
        if not row["decides"] or state in _GOOD:
            held += counted and state in _GOOD
            continue
        if state in (State.REMOVED, State.NEW):
            found.say(f"{state.value}: {said}", Exit.UNCOVERED)
        elif counted and state in (State.REGRESSED, State.VOID):
            way = f"If it is meant: python -m harness ratchet accept {row['kpi']} --why TEXT"
            look = f"Look with: python -m harness run --kpi {row['kpi']} --quick"
            found.say(f"{state.value}: {said}. {way if state is State.REGRESSED else look}", Exit.FAILED)
        else:
            found.say(f"reported only: {state.value}: {said}")
        spoken.add(name)
    failed = VerdictState(file["verdict"]["state"]) is VerdictState.FAIL
    for rule in file["verdict"]["by"] if failed else ():
        if rule not in spoken:
            found.say(f"failed: {rule}. Look with: python -m harness ratchet check", Exit.FAILED)
    for note in file["notes"]:
        found.say(f"reported only: {note}")
    if not held:
        found.say(f"reported only: no count of {what} was held against a record, so nothing is known of it here.")
    found.say(f"Of {what}, {held} counts held. {'Passed' if not found.code else 'Failed'}.")
    return found


def newest_whole(root: Path) -> dict[str, Path]:
    """By machine on record, its newest committed run of everything; a machine without one is left out."""
    newest: dict[str, tuple[str, Path]] = {}
    for path in committed_runs(root):
        slug = path.parent.parent.name
        run = decode(path.read_bytes(), path.name)
        if run.machine.slug == slug and _whole(run):
            newest[slug] = max(newest.get(slug, ("", path)), (run.created, path))
    return {slug: path for slug, (_, path) in newest.items()}


def _whole(run: Run) -> bool:
    narrowed = run.selection.params or run.selection.workloads or run.selection.runtimes
    return run.complete and run.selection.all and run.mode in RECORDED and not narrowed


def _harness(root: Path, words: Sequence[str], *, quiet: bool = False) -> int:
    command = [sys.executable, "-m", "harness", *words]
    done = subprocess.run(command, cwd=root, check=False, capture_output=quiet, text=True)
    if quiet and done.returncode:
        print(done.stdout, done.stderr, sep="", end="")
    return done.returncode


def held_against_record(root: Path, run: Path, what: str) -> Decision:
    """Hold the run file ``run`` against the record of its machine, and decide. The ratchet prints its own page."""
    with TemporaryDirectory() as folder:
        written = Path(folder) / "ratchet.json"
        code = _harness(root, ["ratchet", "check", "--run", str(run), "--json", str(written)])
        if written.is_file():
            return decide(json.loads(written.read_bytes()), what)
    said = f"The ratchet ended with {code} before it had compared {what}; mend what it said, then run: {AGAIN}"
    return Decision({Exit(code) if code in set(Exit) and code else Exit.FAILED}, [said])


def _committed(root: Path) -> Iterator[Decision]:
    recorded = sorted({path.parent.name for path in (root / "baselines").glob("*/*.toml")})
    if not recorded:
        again = "Begin one: python -m harness run --all && python -m harness ratchet accept"
        yield Decision({Exit.UNCOVERED}, [f"There is no record under baselines. {again}"])
    whole = newest_whole(root)
    for slug in recorded:
        if slug in whole:
            yield held_against_record(root, whole[slug], f"the committed run of {slug}")
        else:
            said = f"No run of everything of {slug} is committed beside its record"
            yield Decision({Exit.UNCOVERED}, [f"{said}. Make one there: python -m harness run --all"])


def _fresh(root: Path, kpis: Sequence[str]) -> Decision:
    catalog = project_catalog(load_project(root), plugins=False)
    counts = [kpi.id for kpi in catalog if kpi.gate in COUNTED and not kpi.estimand.timed]
    wanted = [name for name in counts if not kpis or name in kpis]
    with TemporaryDirectory() as folder:
        written = Path(folder) / "run.json"
        code = _harness(root, ["run", "--quick", "--json", str(written), "--kpi", *wanted], quiet=True)
        if written.is_file():
            return held_against_record(root, written, "the counts as they are now")
    said = f"The counts were not taken, for the run ended with {code}; mend what it said, then run: {AGAIN}"
    return Decision({Exit.FAILED}, [said])


def own_record(root: Path, kpis: Sequence[str] = ()) -> Decision:
    """Hold the committed runs and the fresh counts of the project at ``root`` against its record.

    ``kpis`` narrows what is counted afresh to some.
    """
    found = Decision()
    try:
        for part in (*_committed(root), _fresh(root, kpis)):
            found.codes |= part.codes
            found.lines += part.lines
    except (CatalogError, RunFileError) as error:
        found.say(str(error), Exit.UNUSABLE)
    return found


def main() -> int:
    """Hold this repository."""
    found = own_record(ROOT)
    print("\n".join(found.lines), file=sys.stderr if found.code else sys.stdout)
    return int(found.code)


if __name__ == "__main__":
    sys.exit(main())
