"""Prints how often caches of given sizes find their key on the reference trace, as JSON.

``python -m tests.conformance.lru SIZE ...``: one or more sizes, whole numbers from 0 on; at 0 nothing is held. Prints
``{"requests", "keys", "sha256", "slot_cost", "hits", "rates", "values"}``; the last three map a size to its hits, to
hits over requests, and to the metric, which takes the price of the slots off. Exit 0; 2: these are no sizes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from kpis.formulas.rsi.lru import SLOT_COST, hits, objective, reference_trace

_USAGE = "Run: python -m tests.conformance.lru SIZE ..."


def curve(sizes: Sequence[int]) -> dict[str, Any]:
    """What the runner prints; ``sha256`` is that of the keys in decimal, joined by commas."""
    trace = reference_trace()
    found = {size: hits(trace, size) for size in sizes}
    return {
        "requests": len(trace),
        "keys": len(set(trace)),
        "sha256": sha256(",".join(map(str, trace)).encode()).hexdigest(),
        "slot_cost": SLOT_COST,
        "hits": {str(size): count for size, count in found.items()},
        "rates": {str(size): count / len(trace) for size, count in found.items()},
        "values": {str(size): objective(count, len(trace), size) for size, count in found.items()},
    }


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    strange = [word for word in argv if not word.isdecimal() or len(word) > 18]
    if strange or not argv:
        what = f"{strange[0][:40]!r} is no size of a cache." if strange else "No size was named."
        print(f"{what} {_USAGE}", file=sys.stderr)
        return 2
    print(json.dumps(curve([int(word) for word in argv]), sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
