"""Scores the rules on synthetic and recorded streams, and writes what comes of it into docs/gate.md.

    python ci/gatebench/score.py               print the section
    python ci/gatebench/score.py --markdown    write it between its marks
    python ci/gatebench/score.py --check       fail where the page or a committed calibration says anything else
    python ci/gatebench/score.py --floors      write each machine's calibration.json

``--streams DIR`` scores other recordings. It measures nothing: the same streams give the same bytes. Trials that do not
state their machine give floors that no gate takes, and ``--floors`` says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.gatebench.page import section  # noqa: E402
from ci.marks import MarksError, with_section  # noqa: E402
from harness.jobs.calibrate_summary import calibration_of  # noqa: E402
from harness.record.atomic import write_atomic  # noqa: E402
from harness.record.edit_floors import by_machine  # noqa: E402
from harness.record.floors import calibration_path  # noqa: E402
from harness.record.streams import read  # noqa: E402
from harness.record.trials import Trial, TrialError  # noqa: E402

SECTION = "gatebench"
PAGE = ROOT / "docs" / "gate.md"
STREAMS = "baselines/*/streams"


def committed() -> list[Trial]:
    """What is committed of every machine."""
    return [trial for folder in sorted(ROOT.glob(STREAMS)) for trial in read(folder)]


def write_all(trials: Sequence[Trial]) -> None:
    """Write the calibration of each machine, and say where nobody knows which machine that is."""
    for slug, mine in sorted(by_machine(trials).items()):
        blob = calibration_of(slug, mine)
        file = calibration_path(ROOT, slug)
        write_atomic(file, blob)
        print(file.relative_to(ROOT))
        if json.loads(blob)["fingerprint"] is None:
            print(
                f"{slug}: the last trial does not say which machine that is, so no gate takes these floors.",
                file=sys.stderr,
            )


def stale(trials: Sequence[Trial]) -> str | None:
    """The sentence about the first machine whose committed calibration is not what the streams say."""
    machines = by_machine(trials)
    here = {file.parent.name for file in ROOT.glob("baselines/*/calibration.json")}
    for slug in sorted(here | machines.keys()):
        file = calibration_path(ROOT, slug)
        name = file.relative_to(ROOT)
        if slug not in machines:
            return f"{name} rests on no stream; type: git rm {name}"
        wanted = calibration_of(slug, machines[slug])
        if not file.is_file() or file.read_bytes() != wanted:
            return f"{name} is not what the streams say; type: python ci/gatebench/score.py --floors"
    return None


def main(argv: Sequence[str]) -> int:
    """Read the command line, score, and print, write or compare."""
    parser = argparse.ArgumentParser(description="Score the gate's rule and five others on streams of known truth.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--markdown", action="store_true", help="write the section into docs/gate.md")
    what.add_argument("--check", action="store_true", help="exit 1 if docs/gate.md or a floor is another")
    what.add_argument("--floors", action="store_true", help="write each machine's calibration.json")
    parser.add_argument("--streams", type=Path, help=f"a folder of recorded trials (default: {STREAMS})")
    given = parser.parse_args(argv)
    try:
        trials = committed() if given.streams is None else list(read(given.streams))
        if given.floors:
            write_all(trials)
            return 0
        if given.check and (said := stale(trials)) is not None:
            print(said, file=sys.stderr)
            return 1
        text = section(trials)
        if not (given.markdown or given.check):
            print(text)
            return 0
        page = PAGE.read_text(encoding="utf-8")
        wanted = with_section(page, SECTION, text)
    except (TrialError, MarksError) as error:
        print(error, file=sys.stderr)
        return 2
    if given.check and wanted != page:
        print(
            "docs/gate.md is not what the streams say; type: python ci/gatebench/score.py --markdown", file=sys.stderr
        )
        return 1
    if given.markdown:
        write_atomic(PAGE, wanted.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
