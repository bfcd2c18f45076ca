"""The seam ``fleet/closure``: which of the work that a tracker calls closed is borne out by the repository.

A commit *resolves* an issue where its message says so: close, closes or closed, fix, fixes or fixed, resolve, resolves
or resolved, then the number behind a ``#``. Any other ``#N`` is a mention and binds nothing. A commit that resolves is
a *witness* where what it changes is of the kind that its message claims. Only commits that the main branch reaches
count. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

__all__ = [
    "COMMIT_LIMIT",
    "ISSUE_LIMIT",
    "Audit",
    "Bucket",
    "Candidate",
    "Closing",
    "Closure",
    "Coverage",
    "Finding",
    "Outcome",
    "Reach",
    "Row",
    "Witness",
]

ISSUE_LIMIT = 1_000
"""Lines of an export; one that has as many may have been cut off there."""

COMMIT_LIMIT = 2_000
"""Commits that are read, newest first."""


class Witness(Enum):
    """What bears a commit's word out: a change of the kind that it claims, data alone, or nothing."""

    NONE = "none"
    DATA = "data"
    DIFF = "diff"


class Bucket(Enum):
    """Where an issue falls, by its state and its best witness."""

    CLOSED_NOT_PLANNED = "CLOSED_NOT_PLANNED"
    TRUE_RESOLVED = "TRUE_RESOLVED"
    DATA_RESOLVED = "DATA_RESOLVED"
    CLAIMED_CLOSED = "CLAIMED_CLOSED"
    OPEN_WITNESSED = "OPEN_WITNESSED"
    OPEN = "OPEN"


class Finding(Enum):
    """What an audit comes to: the first of these that holds. The last two are in order."""

    AUDIT_ERROR = "AUDIT_ERROR"
    CLAIMED_CLOSED = "CLAIMED_CLOSED"
    INCOMPLETE = "INCOMPLETE"
    OPEN_WITNESSED = "OPEN_WITNESSED"
    OK = "OK"

    @property
    def ok(self) -> bool:
        """Whether nothing is amiss and nothing was left out."""
        return self in (Finding.OPEN_WITNESSED, Finding.OK)


class Outcome(Enum):
    """What became of a candidate when it was to be closed."""

    SKIP_UNWITNESSED = "skip_unwitnessed"
    SKIP_UNPUSHED = "skip_unpushed"
    WOULD_CLOSE = "would_close"
    CLOSED = "closed"
    CLOSE_FAILED = "close_failed"


class Row(NamedTuple):
    """One issue; ``commits`` resolve it and are reached, newest first, ``mentions`` only name it."""

    number: int
    bucket: Bucket
    commits: tuple[tuple[str, Witness], ...] = ()
    mentions: int = 0


class Coverage(NamedTuple):
    """How much of everything was looked at; ``gaps`` are sentences on what was not, empty where all of it was."""

    issues: int = 0
    commits: int = 0
    commits_in_all: int = 0
    gaps: tuple[str, ...] = ()


class Reach(NamedTuple):
    """The branch that stands for main, and its commit.

    ``local_only`` commits are of other branches and count for nothing; ``local_claims`` are the issues that only they
    resolve.
    """

    main: str = ""
    commit: str = ""
    local_only: int = 0
    local_claims: tuple[int, ...] = ()


class Audit(NamedTuple):
    """Rows by number; ``notes`` are sentences, of an audit that failed the one that says why."""

    finding: Finding
    rows: tuple[Row, ...] = ()
    coverage: Coverage = Coverage()
    reach: Reach = Reach()
    notes: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """An open issue, and the commit that is said to have resolved it."""

    number: int
    commit: str


class Closing(NamedTuple):
    """What became of a candidate, and why."""

    number: int
    outcome: Outcome
    said: str


class Closure(Protocol):
    """``fleet/closure``. The methods may be coroutine functions, and raise for no repository and no export."""

    def audit(
        self,
        repository: str,
        export: str,
        *,
        main: str | None = None,
        issue_limit: int = ISSUE_LIMIT,
        commit_limit: int = COMMIT_LIMIT,
    ) -> Audit:
        """Hold the tracker's ``export``, a file of JSON lines, against the repository of that folder.

        A line has ``number``, ``state`` (open or closed) and, of a closed one, ``stateReason`` or ``state_reason``. One
        whose ``pull_request`` is an object, or true, is no issue.
        ``main`` names the branch; without it the one of origin is taken, and where there is no origin the local one.
        """
        ...

    def candidates(self, audit: Audit, limit: int = 10) -> Sequence[Candidate]:
        """The open issues that are witnessed, highest number first, each with its newest witness by diff."""
        ...

    def close(
        self,
        repository: str,
        candidates: Sequence[Candidate],
        *,
        main: str | None = None,
        closer: Callable[[Candidate], None] | None = None,
    ) -> Sequence[Closing]:
        """Ask the repository again of each candidate, and hand those that hold to ``closer``.

        Without a closer nothing is closed and it is said what would be. A closer fails by raising.
        """
        ...
