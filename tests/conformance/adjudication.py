"""Decides each call of a file under the reference default policy and compares kind, reason and rung.

``python -m tests.conformance.adjudication FILE ...`` prints ``#index`` for each case that fails and what was decided
instead, then ``N passed, M failed``. Exit 0: all passed; 1: some failed; 2: a file was unreadable.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seams.syscall.hook import chain_for, decide_line


def cases_of(text: str) -> list[dict[str, Any]]:
    """The cases of a file.

    Raises:
        ValueError: it is no list of ``{"in": {...}, "out": {...}}``.
    """
    cases = json.loads(text)
    if not isinstance(cases, list) or not cases:
        raise ValueError("the file must hold a list of cases that is not empty")
    for index, case in enumerate(cases):
        if not isinstance(case, dict) or not isinstance(case.get("in"), dict) or not isinstance(case.get("out"), dict):
            raise ValueError(f"case #{index} needs an object in and an object out")
    return cases


def decided(call: dict[str, Any]) -> dict[str, str]:
    """The verdict of the default world on ``call``, as the hook prints it."""
    answer: dict[str, str] = json.loads(decide_line(chain_for("default"), json.dumps(call).encode()))
    return answer


def main(argv: Sequence[str]) -> int:
    if not argv:
        print("No file was named; usage: python -m tests.conformance.adjudication FILE ...", file=sys.stderr)
        return 2
    passed, failed = 0, 0
    for name in argv:
        try:
            cases = cases_of(Path(name).read_text(encoding="utf-8"))
            answers = [decided(case["in"]) for case in cases]
        except (OSError, ValueError) as error:
            print(f"{name} cannot be read as cases: {error}. Try: python -m json.tool {name}", file=sys.stderr)
            return 2
        for index, (case, answer) in enumerate(zip(cases, answers, strict=True)):
            if answer == case["out"]:
                passed += 1
            else:
                failed += 1
                print(f"#{index} {answer}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
