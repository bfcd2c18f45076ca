"""Copies the newest complete run of everything to baselines/<machine>/runs/, named by its content hash.

    python -m harness run --all && python ci/record_run.py

The committed run is what the statuses in KPI-CATALOG.md are derived from on a machine that has measured nothing yet.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from harness.record.run import Mode, decode, encode  # noqa: E402
from harness.record.store import runs, write_atomic  # noqa: E402


def main() -> int:
    """Record the newest run that is complete, covers everything and was not a quick one."""
    for path in runs(ROOT):
        run = decode(path.read_bytes(), path.name)
        if run.complete and run.selection.all and run.mode is not Mode.QUICK and not run.selection.workloads:
            blob = encode(run)
            target = ROOT / "baselines" / run.machine.slug / "runs" / f"{hashlib.sha256(blob).hexdigest()[:16]}.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, blob)
            print(target.relative_to(ROOT).as_posix())
            return 0
    print("There is no complete run of everything. Make one: python -m harness run --all", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
