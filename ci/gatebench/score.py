"""Scores the rules on synthetic and recorded streams, and writes what comes of it into docs/gate.md.

    python ci/gatebench/score.py               print the section
    python ci/gatebench/score.py --markdown    write it between its marks
    python ci/gatebench/score.py --check       fail where the page or the committed floors say anything else
    python ci/gatebench/score.py --floors      write each machine's floors into baselines/

``--streams DIR`` scores other recordings. It measures nothing: the same streams give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.gatebench.page import floors, section  # noqa: E402
from ci.gatebench.trials import Trial, TrialError, read  # noqa: E402
from harness.record.atomic import write_atomic  # noqa: E402
from harness.record.floors import calibration, calibration_path, write_floors  # noqa: E402

BEGIN, END = "<!-- gatebench:begin -->", "<!-- gatebench:end -->"
PAGE = ROOT / "docs" / "gate.md"
STREAMS = Path(__file__).resolve().parent / "streams"


class MarksError(ValueError):
    """The page has no place for the section."""


def with_section(page: str, text: str) -> str:
    """``page`` with ``text`` between its marks.

    Raises:
        MarksError: the marks are missing, or not in order.
    """
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (begun and ended):
        raise MarksError(f"The page needs a line {BEGIN} and after it a line {END}; then run this again.")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def by_machine(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """The trials of each machine."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.machine, []).append(trial)
    return found


def main(argv: Sequence[str]) -> int:
    """Read the command line, score, and print, write or compare."""
    parser = argparse.ArgumentParser(description="Score the gate's rule and five others on streams of known truth.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--markdown", action="store_true", help="write the section into docs/gate.md")
    what.add_argument("--check", action="store_true", help="exit 1 if docs/gate.md or a floor is another")
    what.add_argument("--floors", action="store_true", help="write the floors into baselines/<machine>/")
    parser.add_argument("--streams", type=Path, default=STREAMS, help="a folder of recorded trials")
    given = parser.parse_args(argv)
    try:
        trials = list(read(given.streams))
        if given.floors:
            for slug, mine in sorted(by_machine(trials).items()):
                print(write_floors(ROOT, slug, floors(mine)).relative_to(ROOT))
            return 0
        text = section(trials)
        if not (given.markdown or given.check):
            print(text)
            return 0
        page = PAGE.read_text(encoding="utf-8")
        wanted = with_section(page, text)
    except (TrialError, MarksError) as error:
        print(error, file=sys.stderr)
        return 2
    for slug, mine in by_machine(trials).items() if given.check else ():
        file = calibration_path(ROOT, slug)
        if not file.is_file() or file.read_bytes() != calibration(slug, floors(mine)):
            print(
                f"{file.relative_to(ROOT)} is not what the streams say; type: python ci/gatebench/score.py --floors",
                file=sys.stderr,
            )
            return 1
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
