"""Prints the N-th shell block of README.md, so that what people copy is what the checks run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """The shell blocks of a page, in order."""
    return BLOCK.findall(text)


if __name__ == "__main__":
    readme = Path(__file__).resolve().parent.parent / "README.md"
    found = commands(readme.read_text(encoding="utf-8"))
    number = int(sys.argv[1])
    if not 1 <= number <= len(found):
        sys.exit(f"README.md has {len(found)} shell blocks, not {number}. See: grep -n '```sh' README.md")
    print(found[number - 1], end="")
