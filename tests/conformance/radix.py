"""Runs the prefix cache on a workload of token lists: without a budget, and under one in two orders.

``python -m tests.conformance.radix WORKLOAD`` reads JSON, ``{"requests": [[id, ...], ...]}`` or the list alone, and
prints ``{"budget", "unbounded", "fcfs", "cache_aware"}``: the budget in tokens, and for each run the tokens reused, all
tokens, hit_rate, speedup, splits and evictions. Exit 0; 2: the file was unreadable.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kpis.formulas.session.radix import budget_of, hit_rate, speedup
from seams.session.radix import RadixCache

_USAGE = "Run: python -m tests.conformance.radix WORKLOAD"


def served(cache: RadixCache, requests: Sequence[Sequence[int]]) -> int:
    """Put ``requests`` through ``cache`` in order; the tokens that were there already."""
    reused = 0
    for request in requests:
        reused += cache.match_len(request)
        at, matched = cache.lookup(request)
        cache.done(cache.insert(at, request[matched:]))
    return reused


def _row(requests: Sequence[Sequence[int]], budget: int) -> dict[str, Any]:
    cache = RadixCache(budget)
    reused, tokens = served(cache, requests), sum(map(len, requests))
    return {
        "reused": reused,
        "tokens": tokens,
        "hit_rate": hit_rate(reused, tokens),
        "speedup": speedup(reused, tokens),
        "splits": cache.splits,
        "evictions": cache.evictions,
    }


def run(blob: str) -> dict[str, Any]:
    """What the runner prints.

    Raises:
        ValueError: the text is no JSON, or holds no list of lists of token ids.
    """
    document = json.loads(blob)
    requests = document.get("requests") if isinstance(document, dict) else document
    if not isinstance(requests, list) or not requests or not all(isinstance(each, list) for each in requests):
        raise ValueError('there is no list of token lists under "requests"')
    for token in (token for each in requests for token in each):
        if type(token) is not int or not 0 <= token < 2**32:
            raise ValueError(f"{str(token)[:40]} is no token id, which is a whole number of 32 bits from 0 on")
    budget = budget_of(requests)
    return {
        "budget": budget,
        "unbounded": _row(requests, 0),
        "fcfs": _row(requests, budget),
        "cache_aware": _row(sorted(requests), budget),
    }


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    if len(argv) != 1:
        print(f"One workload is needed, and {len(argv)} were named. {_USAGE}", file=sys.stderr)
        return 2
    try:
        found = run(Path(argv[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        print(f"{argv[0]} cannot be read: {error}. {_USAGE}", file=sys.stderr)
        return 2
    print(json.dumps(found, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
