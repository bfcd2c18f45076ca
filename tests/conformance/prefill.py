"""Prints the prompt tokens of the three ways to serve a session, and their ratios, as JSON.

``python -m tests.conformance.prefill P T C D R``: tokens of the prefix, turns, agents, tokens decoded a turn and of a
result, each of at most 18 digits. Prints ``{"a", "b", "c", "a_over_c", "b_over_c", "a_over_b"}``; a ratio is null where
nothing is below the line. Exit 0; 2: these are no five sizes of a session.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from kpis.formulas.session.prefill import Shape, prefill_tokens, ratio

_SIZE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
"""What is read as a size: beyond it neither a ratio nor the digits of a product are sure to be sayable."""

_USAGE = "Run: python -m tests.conformance.prefill P T C D R"


def arms(shape: Shape) -> dict[str, Any]:
    """What the runner prints.

    Raises:
        ValueError: as :func:`kpis.formulas.session.prefill.require_shape`.
    """
    a, b, c = prefill_tokens(shape)
    return {"a": a, "b": b, "c": c, "a_over_c": ratio(a, c), "b_over_c": ratio(b, c), "a_over_b": ratio(a, b)}


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    try:
        if len(argv) != len(Shape._fields):
            raise ValueError(f"A session has five sizes, and {len(argv)} were given.")
        if strange := [word for word in argv if not _SIZE.fullmatch(word)]:
            raise ValueError(f"{strange[0][:40]!r} is no whole number of at most 18 digits.")
        found = arms(Shape(*map(int, argv)))
    except ValueError as error:
        print(f"{error} {_USAGE}", file=sys.stderr)
        return 2
    print(json.dumps(found, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
