"""Whether the runs of a pyperf file were made in one process (``--in-process``), which no key says.

They leave one mark: they follow each other faster than an interpreter starts. Refuses to guess: too few runs, or runs
that all bear one time, tell nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise

from kpis.terms.bench import Metadata, Process

__all__ = ["in_one_process"]

# Between two runs lies the start of an interpreter and the import of pyperf, 50 ms and more; in one process, 1 ms.
_NO_START_S = 0.010
_RUNS_TO_TELL = 3


def in_one_process(runs: Iterable[Process]) -> bool:
    """Whether ``runs``, all those of a file in order, were made in one process: no time for a start between them."""
    spans = [span for run in runs if (span := _span(run.metadata)) is not None]
    if len(spans) < _RUNS_TO_TELL or spans[0] == spans[-1]:  # one stamp copied to all runs tells nothing of them
        return False
    # A run is dated somewhere in its span: counting half of each neighbour's leaves no bias, and the median no outlier.
    gaps = [(later - earlier).total_seconds() - (one + two) / 2 for (earlier, one), (later, two) in pairwise(spans)]
    return abs(statistics.median(gaps)) < _NO_START_S


def _span(metadata: Metadata) -> tuple[datetime, float] | None:
    """A time within a run and how many seconds it lasted, where pyperf says so."""
    date, lasted = metadata.get("date"), metadata.get("duration")
    if not isinstance(date, str) or not isinstance(lasted, float):
        return None
    try:
        return datetime.fromisoformat(date).replace(tzinfo=UTC), lasted
    except ValueError:
        return None
