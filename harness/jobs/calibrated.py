"""What the base of a gate says of this machine's false alarms: its committed calibration, as git holds it.

Refuses to read the working tree: whoever is measured there could have changed the file.
"""

from __future__ import annotations

from pathlib import Path

from harness.record.floors import calibration_path
from harness.record.gate import GateFile
from harness.record.observed import observed
from harness.subject.git import find

__all__ = ["observed_at"]


def observed_at(root: Path, file: GateFile) -> str:
    """The sentence of the gate ``file`` of the project at ``root``.

    Raises:
        SubjectError: there is no repository.
    """
    repository = find(root)
    within = calibration_path(root, file.machine.slug).resolve().relative_to(repository.top.resolve())
    code, blob, _ = repository.store("cat-file", "blob", f"{file.base.commit}:{within.as_posix()}")
    return observed(blob if code == 0 else None, file.machine.fingerprint)
