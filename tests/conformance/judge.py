"""Judges streams of pairs, one a line, as the gate judges a point.

``python -m tests.conformance.judge FILE`` reads ``{"pairs": [[base, head], ...], "direction": "lower|higher"}`` a line:
the first 48 pairs are screen and extension, the next 64 the confirmation. It prints ``state``, ``ratio``, ``low``,
``high``, ``pairs`` and ``smallest_visible`` a line, in order; a number that the pairs cannot give is null. A line that
cannot be judged prints ``{"error": ...}``, the rest is done, and the exit code is 2; otherwise 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.judge.sequence import judge_stream
from kpis.terms.kpi import Direction

USAGE = "usage: python -m tests.conformance.judge FILE"
DIRECTIONS = {"lower": Direction.LOWER, "higher": Direction.HIGHER}


def stream_of(line: bytes) -> tuple[list[tuple[float, float]], Direction]:
    """The pairs and the direction of a line.

    Raises:
        ValueError: it is not of the documented shape.
    """
    record = json.loads(line.decode("utf-8"))
    if not isinstance(record, dict) or not isinstance(record.get("pairs"), list):
        raise ValueError("a line is an object with a list of pairs")
    if record.get("direction") not in ("lower", "higher"):
        raise ValueError(f"the direction is lower or higher, not {record.get('direction')!r}")
    pairs = []
    for index, pair in enumerate(record["pairs"]):
        if not isinstance(pair, list) or len(pair) != 2 or any(type(value) not in (int, float) for value in pair):
            raise ValueError(f"pair #{index} is not two numbers")
        pairs.append((float(pair[0]), float(pair[1])))
    return pairs, DIRECTIONS[record["direction"]]


def judged(line: bytes) -> dict[str, Any]:
    """What is printed for a line that can be judged."""
    found = judge_stream(*stream_of(line))
    return {
        "state": found.state.value,
        "ratio": found.ratio,
        "low": found.low,
        "high": found.high,
        "pairs": found.pairs,
        "smallest_visible": found.smallest_visible,
    }


def main(argv: Sequence[str]) -> int:
    if len(argv) != 1:
        print(f"One file is needed; {USAGE}", file=sys.stderr)
        return 2
    code = 0
    try:
        with Path(argv[0]).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    answer = judged(line)
                except (ValueError, OverflowError, RecursionError) as error:
                    answer, code = {"error": f"line {number}: {error}"}, 2
                print(json.dumps(answer, allow_nan=False))
    except OSError as error:
        print(f"{argv[0]} cannot be read: {error}. {USAGE}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
