"""How ``run`` ends: the run file where it was asked for, the page, what went wrong or reads no, and the exit code.

The run is stored in the project by then. Nothing that happens to an output here may cost another one.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.exits import Exit, highest
from harness.cli.streams import lost, note, say, silence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.jobs.run import Finished
    from harness.project import Project
    from kpis.registry import Catalog
    from kpis.terms.reading import Reading

__all__ = ["out_of_room", "show"]


def show(json: str | None, catalog: Catalog, finished: Finished, codes: list[Exit], *, verbose: bool = False) -> Exit:
    """Write and print what was measured; ``json`` is where the run file goes too, ``codes`` is what happened before.

    ``verbose`` spells out what a page of the project's own KPIs would only count.
    """
    from harness.record.run import encode
    from harness.record.store import write_atomic
    from harness.report.brief import not_offered

    blob = encode(finished.run)
    to_stdout = json == "-"
    kept = "" if finished.path is None else f" The run is kept at {finished.path}."
    said: list[tuple[str, Exit]] = []
    if finished.trouble is not None:
        said.append((f"Not everything could be stored: {finished.trouble}", Exit.INTERNAL))
    if finished.stopped_by is not None:
        code = Exit.INTERRUPTED if finished.stopped_by == signal.SIGINT else Exit.TERMINATED
        said.append(("Stopped; what was measured is kept. Go on with the same command and --resume.", code))
    if json is not None and not to_stdout:
        # Before the page: a reader of the page that goes away must not cost the file.
        try:
            write_atomic(Path(json), blob)
        except OSError as error:
            said.append((f"{error}{kept}", Exit.INTERNAL))
    try:
        _put(finished, catalog, blob if to_stdout else None, verbose)
    except OSError as error:
        silence(sys.stdout)
        said.append((lost(error) + kept, Exit.INTERNAL))
    for sentence, code in said:
        say(sentence)
        codes.append(code)
    for sentence in _broken(finished.run.readings):
        note(sentence)
    undefined = [reading.undefined for reading in finished.run.readings if reading.undefined is not None]
    # A row that is computed from what the runtime does not offer is as little at fault as its inputs.
    blameless = not_offered(finished.run.readings, catalog)
    void = [
        reading
        for reading in finished.run.readings
        if reading.undefined is not None and reading.undefined.reason.void and reading.kpi not in blameless
    ]
    if void or len(undefined) == len(finished.run.readings):
        codes.append(Exit.UNKNOWN)
    return highest(codes)


def _broken(readings: Sequence[Reading]) -> list[str]:
    """A warning for each invariant that does not hold, with what judges it: measuring it is no failure of a run."""
    from harness.jobs.plan import named
    from kpis.terms.kpi import Gate
    from kpis.terms.reading import ReadingKind

    several = len({reading.runtime for reading in readings}) > 1
    found = []
    for reading in readings:
        if reading.kind is not ReadingKind.INVARIANT or reading.value != 0:
            continue
        judged = (
            "it never gates, so nothing fails on it"
            if reading.gate is Gate.REPORT
            else "a run only measures; `python -m harness gate` fails on it, and where it is on record "
            "`python -m harness ratchet check` does"
        )
        row = named(reading.kpi, reading.params) + (f" runtime={reading.runtime}" if several else "")
        critical = ", which is critical," if reading.critical else ""
        found.append(
            f"warning: {row}{critical} reads no: {judged}. What it states: python -m harness explain {reading.kpi}"
        )
    return found


def _put(finished: Finished, catalog: Catalog, blob: bytes | None, verbose: bool) -> None:
    """The page on standard output; or ``blob`` there, and the page on standard error if that takes it.

    Raises:
        OSError: standard output does not take it.
    """
    from harness.report.page import console_on
    from harness.report.table import render_run

    if blob is None:
        render_run(finished.run, catalog, console_on(sys.stdout), path=finished.path, verbose=verbose)
    else:
        with contextlib.suppress(OSError):
            render_run(finished.run, catalog, console_on(sys.stderr), path=finished.path, verbose=verbose)
        sys.stdout.buffer.write(blob)
    sys.stdout.flush()


def out_of_room(error: OSError, project: Project) -> str:
    """Why measuring could not begin or go on; what is in the journal by then is kept."""
    import errno
    import tempfile

    from harness.report.naming import typed

    again = "give the same command again"
    if any((project.root / ".harness" / "runs").glob("*.journal")):
        again += " with --resume, since what was measured is kept"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"Too many files are open for one more: raise the limit with `ulimit -n 1024`, then {again}."
    try:
        folder = tempfile.gettempdir()
    except OSError:
        return f"There is no folder for temporary files: set TMPDIR to one that can be written, then {again}."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        full = f"The folder for temporary files, {folder}, is full; see `df -h {typed(folder)}`"
        return f"{full}. Make room or set TMPDIR to another folder, then {again}."
    what = f" at {error.filename}" if error.filename else ""
    return f"It cannot be measured: {error.strerror or error}{what}. Mend that, then {again}."
