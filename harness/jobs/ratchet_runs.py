"""Which run is held against a record: the one that was named, else the newest of everything on this machine.

Refuses a run that was cut off, whatever it holds, and a file that is none.
"""

from __future__ import annotations

from pathlib import Path

from harness.formats.limits import regular_bytes
from harness.jobs.ratchet_conditions import RECORDED
from harness.record.baseline_read import BaselineError
from harness.record.run import Run, RunFileError, decode
from harness.record.store import runs
from harness.report.naming import typed

__all__ = ["newest_run", "read_run", "require_recordable"]


def read_run(path: Path) -> Run:
    """The complete run in the file at ``path``.

    Raises:
        BaselineError: it cannot be read, or it was cut off.
        RunFileError: it is no run file.
    """
    try:
        run = decode(regular_bytes(path), str(path))
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}; see `ls -l {typed(str(path))}`.") from None
    if not run.complete:
        raise BaselineError(
            f"The run {run.id} was cut off, so it is no whole to hold against a record; go on with its own command and "
            f"--resume: `python -m harness {' '.join(map(typed, run.argv))} --resume`."
        )
    return run


def newest_run(root: Path, slug: str) -> Run:
    """The newest complete run of everything, of the default effort or more, on the machine ``slug``.

    Raises:
        BaselineError: there is none.
    """
    for path in runs(root):
        try:
            run = decode(regular_bytes(path), path.name)
        except (OSError, RunFileError):
            continue  # an older one may do; what is wrong with this one is the business of who reads it by name
        whole = run.selection.all and not (run.selection.params or run.selection.workloads or run.selection.runtimes)
        if run.complete and whole and run.mode in RECORDED and run.machine.slug == slug:
            return run
    raise BaselineError(
        f"There is no complete run of everything on this machine ({slug}) in .harness/runs; make one with "
        "`python -m harness run --all`, or name a run file with --run FILE."
    )


def require_recordable(run: Run) -> None:
    """Require that a record may be made of ``run``.

    Raises:
        BaselineError: it was a quick one or ran under a budget.
    """
    if run.mode not in RECORDED:
        raise BaselineError(
            f"The run {run.id} was taken with --{run.mode.value}, and a record needs a default or full run; make one "
            "with `python -m harness run --all`."
        )
