"""The measured accuracy on docs/evaluate.md: written from the corpus, or with ``--check`` compared.

    python ci/accuracy_page.py            writes the section between its marks
    python ci/accuracy_page.py --check    exits 1 if the page says something else

Exit code 2: the command line is wrong, or the page has no marks.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this is a script, and its checkout is what it speaks of

from ci.marks import MarksError, with_section  # noqa: E402
from harness.formats.labelled import SHIPPED  # noqa: E402
from harness.jobs.measure_accuracy import measure  # noqa: E402
from harness.record.accuracy import OURS  # noqa: E402
from harness.report.accuracy_page import accuracy_page  # noqa: E402

PAGE = ROOT / "docs" / "evaluate.md"
SECTION = "accuracy"


def main(arguments: list[str]) -> int:
    """Write the section, or compare it."""
    if arguments not in ([], ["--check"]):
        print("The only option is --check. Type: python ci/accuracy_page.py --check", file=sys.stderr)
        return 2
    page = PAGE.read_text(encoding="utf-8")
    try:
        wanted = with_section(page, SECTION, f"\n{accuracy_page(measure(SHIPPED, OURS))}")
    except MarksError as error:
        print(f"{PAGE.name}: {error}", file=sys.stderr)
        return 2
    if not arguments:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        print(f"{PAGE.name} is not what the corpus gives. Type: python ci/accuracy_page.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
