"""The project's gate on itself: what is counted blocks, what is timed is reported.

    python ci/self_gate.py                          against the first parent of HEAD
    LOOPLADDER_BASE=origin/main python ci/self_gate.py
    LOOPLADDER_DEPENDENCIES_MEANT=1 python ci/self_gate.py    for a change of dependencies, which has no base

Machines that run checks differ and are shared, so a timed row fails nothing here; it is printed. A count that got
worse fails, unless ``ci/accepted.toml`` says that it was meant, and how far; so does what could not be compared at
all. Refuses to pass in silence: where there is no earlier commit to compare with, it says so, and holds the counts
against HEAD itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.accepted import FILE, AcceptedError, read_accepted  # noqa: E402
from ci.against import against  # noqa: E402
from ci.counted import counted  # noqa: E402
from ci.decision import AGAIN, MEANT, Decision, decide  # noqa: E402
from harness.cli.exits import Exit  # noqa: E402
from harness.jobs.rows import project_catalog  # noqa: E402
from harness.project import load_project  # noqa: E402
from harness.subject import SubjectError  # noqa: E402
from kpis.terms.kpi import Gate  # noqa: E402

BUDGET = "120s"
"""For the timed rows, which only report here. The gate counts whatever a budget says."""


def self_gate(
    root: Path, revision: str | None, today: date, kpis: Sequence[str] = (), *, meant: bool = False
) -> Decision:
    """Gate the project at ``root`` and decide; ``kpis`` narrows to some. The gate prints its own page.

    ``meant``: a change of dependencies was, so that it may pass although its counts are compared with nothing.
    """
    catalog = project_catalog(load_project(root))
    file = root / FILE
    try:
        accepted = read_accepted(file.read_text(encoding="utf-8") if file.is_file() else "", catalog, today)
        base = against(root, revision)
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
        lost = base.why if base.lost and not meant else None
        return decide(json.loads(written.read_bytes()), catalog, accepted, today, partial(counted, root), lost=lost)


def main() -> int:
    """Gate this repository."""
    base, meant = os.environ.get("LOOPLADDER_BASE") or None, os.environ.get(MEANT) == "1"
    found = self_gate(ROOT, base, datetime.now(UTC).date(), meant=meant)
    print("\n".join(found.lines), file=sys.stderr if found.code else sys.stdout)
    return int(found.code)


if __name__ == "__main__":
    sys.exit(main())
