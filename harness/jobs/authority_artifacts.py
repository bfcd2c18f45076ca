"""The committed run files of a project, each held against the hash that is its name.

A file whose bytes are not what its name says, or that is no run file, or that lies with another machine's, gives a
finding and no number. Nothing is repaired here.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from harness.formats.limits import regular_bytes
from harness.jobs.authority_findings import Fault, Finding
from harness.record.run import RunFileError, decode
from harness.record.store import committed_runs
from harness.report.authority_numbers import Artifact
from harness.report.naming import typed

__all__ = ["artifacts_of"]

_HASH = re.compile(r"[0-9a-f]{16}")


def artifacts_of(root: Path) -> tuple[list[Artifact], list[Finding]]:
    """The run files under ``baselines/<slug>/runs`` that are what their names say, in order of their path."""
    found: list[Artifact] = []
    faults: list[Finding] = []
    for path in committed_runs(root):
        name = path.relative_to(root).as_posix()
        read = _read(path, name)
        if isinstance(read, Artifact):
            found.append(read)
        else:
            faults.append(read)
    return found, faults


def _read(path: Path, name: str) -> Artifact | Finding:
    back = f"bring it back with `git checkout -- {typed(name)}`, or record another with `python -m harness run --all`."
    try:
        blob = regular_bytes(path)
    except (OSError, ValueError) as error:
        return Finding(Fault.HASH, f"{name} cannot be read ({str(error).rstrip('.')}); {back}", cause=name)
    begins = hashlib.sha256(blob).hexdigest()[:16]
    if begins != path.stem or not _HASH.fullmatch(path.stem):
        said = f"{name} is not what its name says: its sha256 begins with {begins}"
        return Finding(Fault.HASH, f"{said}; {back}", cause=name)
    try:
        run = decode(blob, name)
        document = json.loads(blob)
    except (RunFileError, ValueError, RecursionError, MemoryError) as error:
        said = str(error) if isinstance(error, RunFileError) else f"{name} is no run file; {back}"
        return Finding(Fault.HASH, said, cause=name)
    slug = path.parent.parent.name
    if run.machine.slug != slug:
        move = f"move it to baselines/{run.machine.slug}/runs with `git mv`"
        said = f"{name} is of the machine {run.machine.slug}, and lies with those of {slug}"
        return Finding(Fault.HASH, f"{said}; {move}.", cause=name)
    return Artifact(name, document, run)
