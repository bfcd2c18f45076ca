"""What is known of one Inspect log while its samples are read, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.formats.inspect_usage import InspectUsage
from harness.formats.json_files import FileLog
from harness.formats.plain_calls import CallLog
from kpis.terms.trace import Request

__all__ = ["LogState"]


@dataclass(slots=True)
class LogState:
    """What the samples of one log share.

    ``seen`` are the requests that were yielded, of the other logs of the run too. ``totals`` are the samples' counts of
    tokens by model, as the log writes them. ``denied`` counts refusals of the sample that is read.
    """

    file: FileLog
    usage: InspectUsage
    calls: CallLog
    model: str | None
    seen: dict[str, Request]
    totals: dict[str, int] = field(default_factory=dict)
    threads: set[str] = field(default_factory=set)
    rows: int = 0
    denied: int | None = None
    orphans: list[int] = field(default_factory=list)
