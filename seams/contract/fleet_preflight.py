"""The seam ``fleet/preflight``: whether one more worker may be launched on this machine now.

Everything that is looked at is a *check*, a call without arguments, so that any of them can be another's. A check that
raises, or answers what cannot be, has failed, and what has failed refuses. The one exception is the view of the seats:
without it seats are left out, and that is said. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

__all__ = [
    "MAX_WORKERS",
    "Asks",
    "Checks",
    "Decision",
    "Flagged",
    "Host",
    "Limiter",
    "Loop",
    "Preflight",
    "Seats",
    "Seen",
    "SpawnVerdict",
]

MAX_WORKERS = 8
"""Where nothing else is configured."""


class SpawnVerdict(Enum):
    """What the gate says: the first of these that holds, ``SPAWN_OK`` where none of the others does.

    ``REFUSE_INSPECT``: a check failed. ``REFUSE_HOST``: the host is not safe. ``REFUSE_NO_SEAT``: all seats are taken,
    and they are no more than the cap. ``REFUSE_AT_CAP``: as many workers live as may. ``REFUSE_NO_ACCOUNT``: there is
    no account to run one on.
    """

    SPAWN_OK = "SPAWN_OK"
    REFUSE_INSPECT = "REFUSE_INSPECT"
    REFUSE_HOST = "REFUSE_HOST"
    REFUSE_NO_SEAT = "REFUSE_NO_SEAT"
    REFUSE_AT_CAP = "REFUSE_AT_CAP"
    REFUSE_NO_ACCOUNT = "REFUSE_NO_ACCOUNT"


class Limiter(Enum):
    """What stands in the way of one more worker: ``leases`` where the cap is used up, else what makes the cap."""

    LEASES = "leases"
    CONFIGURED = "configured"
    TARGET = "target"
    CPU = "cpu"
    MEMORY = "memory"
    THREADS = "threads"
    SEATS = "seats"


class Flagged(NamedTuple):
    """A process that takes too much of the host.

    One that is ``protected`` (nobody would end it) is only told of, unless it is an agent's ``backend``.
    """

    pid: int
    name: str
    protected: bool = False
    backend: bool = False


class Loop(NamedTuple):
    """The dispatcher's own loop: workers that it holds alive, and how many it aims at. No aim: ``target`` 0."""

    alive: int
    target: int


class Seats(NamedTuple):
    """The pool of seats; ``total`` is None, or below 1, where it is not known."""

    total: int | None
    free: int
    leased: int
    depleted: bool


class Host(NamedTuple):
    """Cores, free memory in MB and threads of all processes, each None where it is not known."""

    cores: int | None
    free_ram_mb: int | None
    threads: int | None


class Checks(NamedTuple):
    """What the gate looks at, each a call of its own; any of them may raise.

    ``flagged`` answers a list or a tuple, and says True or False of each mark: anything else is a failed check.
    """

    flagged: Callable[[], Sequence[Flagged]]
    account: Callable[[], str | None]
    loop: Callable[[], Loop]
    seats: Callable[[], Seats | None]
    host: Callable[[], Host]
    workers: Callable[[], int]
    max_workers: Callable[[], int]


class Asks(NamedTuple):
    """How this machine is looked at.

    ``account``, ``loop`` and ``seats`` are commands that print one line of JSON: a name or null, and objects with the
    fields of :class:`Loop` and :class:`Seats`. Without one: the account is what LOOPLADDER_ACCOUNT names, there is no
    loop, and no view of the seats. ``share`` of the memory is what a process is flagged beyond; one that is below 0, or
    no finite number, is a failed check. A worker is a process
    whose command line holds ``marker``, or whose number is in a ``*.pid`` file of ``pids``. Without ``max_workers``
    it is LOOPLADDER_MAX_WORKERS, else :data:`MAX_WORKERS`. A command has ``seconds``.
    """

    account: Sequence[str] | None = None
    loop: Sequence[str] | None = None
    seats: Sequence[str] | None = None
    share: float = 0.5
    marker: str | None = None
    pids: str | None = None
    max_workers: int | None = None
    seconds: float = 45.0


class Seen(NamedTuple):
    """What the checks answered, None where one failed; of the seats also where there is no view of them."""

    flagged: tuple[Flagged, ...] | None = None
    account: str | None = None
    loop: Loop | None = None
    seats: Seats | None = None
    host: Host | None = None
    workers: int | None = None
    max_workers: int | None = None


class Decision(NamedTuple):
    """``cap``, ``live`` and ``limiter`` are None where a check that they hang on failed; ``notes`` are sentences.

    What is answered is this very record, all of it decided by then.
    """

    verdict: SpawnVerdict
    cap: int | None
    live: int | None
    limiter: Limiter | None
    seen: Seen
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether a worker may be launched."""
        return self.verdict is SpawnVerdict.SPAWN_OK

    @property
    def headroom(self) -> int | None:
        """Workers that may still come; below 0 where there are more than may be."""
        return None if self.cap is None or self.live is None else self.cap - self.live


class Preflight(Protocol):
    """``fleet/preflight``. The methods may be coroutine functions, and raise for nothing that a check does."""

    def on_this_machine(self, asks: Asks) -> Checks:
        """Checks of this machine, good for one decision. Nothing is looked at before they are called."""
        ...

    def evaluate(self, checks: Checks) -> Decision:
        """Call every check once, decide, and write one line into the log, if there is one."""
        ...

    def log_to(self, path: str) -> None:
        """Append a line of JSON for each decision from now on: ts, verdict, cap, live, limiter, ns."""
        ...
