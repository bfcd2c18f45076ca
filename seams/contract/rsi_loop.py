"""The seam ``rsi/loop``: candidates are tried on a real repository, one at a time, and kept or reverted.

A candidate says beforehand which file it changes (its lease). A loop pins a commit, tries each candidate on top of what
it has kept so far, and puts what it keeps on a branch of its own; neither the pinned reference nor the user's working
tree moves. Every decision is a row of a journal, in which there is no time of day and no duration. Records and
Protocols only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from seams.contract.rsi_breaker import Profile

__all__ = [
    "Candidate",
    "Charge",
    "Freshness",
    "Loop",
    "Observer",
    "Result",
    "Row",
    "Session",
    "Tracked",
    "Trend",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed change. ``edits`` maps a path to its new content, or to None where the file goes.

    Paths are relative to the top of the repository, with ``/`` between names. ``lease`` is the one file that the
    candidate says it changes. One that is none, by its name, its paths or its contents, is not tried and not kept: that
    is a row like any other, and ends no loop.
    """

    name: str
    lease: str
    edits: Mapping[str, bytes | None]
    profile: Profile = Profile.FULL


@dataclass(frozen=True, slots=True)
class Charge:
    """What a loop is told.

    ``measure`` is a command that prints exactly one line ``KPI=<number>``; ``suite`` are commands, one at least, that
    all have to end with 0: a suite that runs nothing is no green one. Each is a list of words, runs in a fresh tree and
    within ``limit_s`` seconds, which are above 0. ``journal`` is a regular file that is appended to; ``branch`` takes
    what is kept and must not exist. ``k`` is the breaker's, ``max_cycles`` 0 means every candidate.
    """

    repository: Path
    journal: Path
    measure: Sequence[str]
    suite: Sequence[Sequence[str]]
    reference: str = "HEAD"
    branch: str = "rsi"
    metric_name: str = "metric"
    lower_better: bool = False
    limit_s: float = 60.0
    k: int = 3
    max_cycles: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the journal.

    ``mode`` is ``improve`` or ``track``. ``baseline`` is the bar before this cycle; ``candidate_metric`` is None where
    nothing was measured. ``profile`` is the one that it was held to; where it had claimed another, ``note`` says so.
    ``baseline_ref`` is the pinned commit and ``ref_name`` the name that it was pinned by. ``tip``
    is the commit on which the candidate was tried, ``commit`` the one that holds it where it was kept: it is there
    before the row is, and the branch names it after that, so that a kill between them loses neither. Of a track row,
    which decides nothing, ``decision`` and ``kept`` are None.
    """

    cycle: int
    mode: str
    candidate: str
    metric_name: str
    baseline: float | None
    candidate_metric: float | None
    measured: bool
    lower_better: bool
    improved: bool
    suite_green: bool
    truth_clean: bool
    profile: str
    decision: str | None
    kept: bool | None
    breaker_nonkeeps: int
    baseline_ref: str
    ref_name: str
    tip: str
    commit: str | None = None
    note: str | None = None


class Result(NamedTuple):
    """A loop that has ended. ``halted`` says why it stopped before its candidates did, other than by its breaker.

    ``rows`` are those that are in the journal: what cannot be written down is not done.
    ``final_baseline`` is the bar that it began with, ``final`` the one that it ended with.
    """

    cycles: int
    kept: int
    final: float
    final_baseline: float
    baseline_ref: str
    escalated: bool
    rows: tuple[Row, ...]
    tip: str
    halted: str | None = None


class Trend(Enum):
    """A track row against the one before."""

    FIRST = "first"
    OK = "ok"
    REGRESSED = "regressed"
    RED = "suite-red"
    UNMEASURED = "unmeasured"
    NO_VERDICT = "no-verdict"


class Tracked(NamedTuple):
    """What tracking found: ``previous`` is the row that ``row`` was held against. ``detail`` is a sentence."""

    trend: Trend
    row: Row
    previous: Row | None
    detail: str


class Freshness(NamedTuple):
    """Whether ``ref_name`` names the recorded commit at this moment, and how far it has moved.

    ``behind`` counts the commits that the reference has and the recorded one has not, ``ahead`` the other way round:
    above 0 where the reference was rewritten. All but ``fresh`` are None where the reference, or the commit, is gone.
    """

    fresh: bool
    now: str | None
    behind: int | None
    ahead: int | None
    detail: str


class Observer(Protocol):
    """Is told where the loop is; what it does, returns or raises reaches no decision."""

    def proposed(self, cycle: int) -> None:
        """The cycle has begun."""

    def decided(self, cycle: int) -> None:
        """Its row is in the journal."""


class Session(Protocol):
    """A loop that has pinned its commit and measured it. The methods may be coroutine functions."""

    def cycle(self, candidate: Candidate) -> Row:
        """Try one candidate, decide, keep or revert, and write its row."""
        ...

    def close(self) -> Result:
        """End it and remove every tree that it made; safe to call twice."""
        ...


class Loop(Protocol):
    """``rsi/loop``. The methods may be coroutine functions, and answer with these very records, all done by then."""

    def open(self, charge: Charge, observer: Observer | None = None) -> Session:
        """Look at the repository, pin the commit and measure it once."""
        ...

    def run(self, charge: Charge, candidates: Iterable[Candidate], observer: Observer | None = None) -> Result:
        """Try candidates until they end, the breaker trips or ``max_cycles`` are done."""
        ...

    def track(self, charge: Charge) -> Tracked:
        """Measure what the reference names now, write a track row, and hold it against the last one."""
        ...

    def freshness(self, repository: Path, baseline_ref: str, ref_name: str) -> Freshness:
        """Ask the repository anew whether ``ref_name`` still names ``baseline_ref``."""
        ...
