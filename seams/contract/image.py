"""The seam ``session/image``: a session as a folder of files that can be shipped, checked and resumed elsewhere.

The image is evidence against itself: one digest covers its header and, through their digests, all of its parts. So a
change is evident; only a key, or the digest told on another way, shows who made it. What is checked is what is used:
no file is read a second time. Keys and values of a model are not in it. Plain data and Protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from seams.contract.recall import Core

__all__ = [
    "HEADER",
    "Band",
    "Drive",
    "Effect",
    "Header",
    "ImageRefusedError",
    "Images",
    "IndexMode",
    "Loaded",
    "Migration",
    "Part",
    "Resumed",
    "Rung",
    "RunState",
    "Session",
    "Stale",
    "Woken",
]

HEADER = "image.json"
"""The file that describes the others; it is no part of itself."""


class ImageRefusedError(ValueError):
    """An image is not taken: ``part`` is the file, as the image or the folder names it, that it is refused for.

    Names come from whoever made the image; in the sentence, what would not print as itself is written as an escape.
    """

    def __init__(self, part: str, why: str) -> None:
        super().__init__(f"The image is refused: {_shown(part)} {_shown(why)}")
        self.part = part


_MOST_SHOWN = 1_000


def _shown(text: str) -> str:
    """``text`` on one line that no terminal obeys, and not without end."""
    cut = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut)


class RunState(IntEnum):
    """How a session is being driven."""

    RUNNING = 0
    THROTTLED = 1
    PAUSED = 2
    DRAINING = 3
    STOPPED = 4


class Drive(NamedTuple):
    """By what a session is driven; restored as it was, so that what was stopped stays stopped.

    ``turns`` and ``tokens`` are what is left of its budget, -1 without a bound; ``pace`` is tokens and milliseconds.
    """

    run: RunState = RunState.RUNNING
    turns: int = -1
    tokens: int = -1
    priority: int = 0
    pace: tuple[int, int] = (0, 0)
    reason: str = ""
    rev: int = 0


class Effect(NamedTuple):
    """Something that the session did to the world, and how sure that is; ``verified_done`` is the word for done."""

    id: str
    state: str


class Migration(NamedTuple):
    """A resume under another model or on another host; ``when`` in Unix seconds."""

    when: int
    from_model: str
    to_model: str
    from_host: str
    to_host: str
    reason: str


@dataclass(slots=True)
class Session:
    """What goes into an image and comes out of it. ``trajectory`` holds one JSON value a line.

    ``effects`` is None where the session keeps no list of them; an empty one says that it did nothing.
    """

    id: str
    drive: Drive = field(default_factory=Drive)
    core: Core | None = None
    model: str = ""
    host: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    created: int = 0
    trajectory: Sequence[Any] = ()
    effects: tuple[Effect, ...] | None = None
    migrations: tuple[Migration, ...] = ()

    def verified_done(self, effect: str) -> bool | None:
        """Whether exactly ``effect`` was verified as done; None where no list says so either way.

        None is no licence to do it again: what cannot be undone has to wait for somebody who knows.
        """
        if self.effects is None:
            return None
        return bool(effect) and any(each == (effect, "verified_done") for each in self.effects)


class Part(NamedTuple):
    """One file of an image: its name, its size in bytes, its SHA-256 in hexadecimal."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """What an image says of itself. Times are Unix seconds; ``size`` is that of the header's own file.

    ``digest`` covers everything else in it. ``authenticated``: a key was given and its seal is right; of a header that
    was only written or read without a key it is False. A dump and a verification return this very record.
    """

    id: str
    created: int
    updated: int
    model: str
    host: str
    labels: Mapping[str, str]
    migrations: tuple[Migration, ...]
    parts: tuple[Part, ...]
    digest: str
    size: int
    authenticated: bool = False


class Loaded(Protocol):
    """An image that was read once and found whole; its bytes are held, and its files are not looked at again."""

    @property
    def header(self) -> Header:
        """What it says of itself."""
        ...


class Band(StrEnum):
    """How long a session slept: under five minutes, an hour, a day, thirty days, or longer."""

    WARM = "warm"
    COOL = "cool"
    COLD = "cold"
    FROZEN = "frozen"
    ANCIENT = "ancient"


class Stale(StrEnum):
    """What may be out of date after a sleep, each from a band on."""

    COLD_CACHE = "cold_cache"
    STALE_CRED = "stale_cred"
    STALE_RECALL = "stale_recall"
    STALE_LEASE = "stale_lease"
    STALE_PLAN = "stale_plan"


@dataclass(frozen=True, slots=True)
class Rung:
    """A check before a session goes on: whether ``reason`` is cleared.

    Raises:
        ValueError: nothing is known to be stale by that name; a rung that nobody asks would let every session pass.
    """

    reason: Stale
    clears: Callable[[Session], bool]

    def __post_init__(self) -> None:
        if self.reason not in list(Stale):
            raise ValueError(f"No rung is called {self.reason!r}; take one of {', '.join(Stale)}.")


@dataclass(frozen=True, slots=True)
class Woken:
    """What was asked before a session went on: each rung that ran with what it said, up to the first that refused.

    ``admitted`` is None where nobody was asked, which is not a yes.
    """

    band: Band
    ran: tuple[tuple[Stale, bool], ...]
    admitted: bool | None


IndexMode = Literal["warm", "rebuild", "none"]
"""A stored index was attached; there was none, so one was built; there are no pages to index."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A session brought back, and how: ``kv_positions`` are those of a model's cache that came back with it.

    What is returned is this very record, of a :class:`Session` and no other kind.
    """

    session: Session
    index: IndexMode
    woken: Woken
    migration: Migration | None
    kv_positions: int


class Images(Protocol):
    """``session/image``. The methods may be coroutine functions.

    Each raises :class:`ImageRefusedError` for an image that it does not take, and OSError where the disk fails.
    """

    def dump(
        self, session: Session, folder: Path, *, now: int | None = None, index: bool = True, durable: bool = True
    ) -> Header:
        """Write the image into ``folder``, whole or not at all; an image that is there already is replaced.

        Only an image: a folder that holds anything else is refused and left alone. Two dumps into one folder come one
        after the other. A load that runs while the image is replaced may be refused, and holds when it is run again.

        ``now`` is the time of the dump, by default the clock's; without ``index`` the words of the pages are left out.
        ``durable``: once it returns, the image outlives a power cut; every file is on the disk before ``folder`` names
        it. Without it the system writes when it likes, and a power cut may take the image, or parts of it, with it.
        """
        ...

    def verify(self, folder: Path) -> Header:
        """Prove that the image is whole, and keep nothing of it."""
        ...

    def load(self, folder: Path) -> Loaded:
        """Prove that the image is whole and keep the bytes that were proved."""
        ...

    def rehydrate(
        self,
        loaded: Loaded,
        *,
        id: str | None = None,  # noqa: A002 - the session's own word
        model: str = "",
        host: str = "",
        reason: str = "",
        now: int | None = None,
        rungs: Sequence[Rung] | None = None,
    ) -> Resumed:
        """The session of the image, under its own id or, as a fork, under another; as often as is wanted."""
        ...

    def pack(self, loaded: Loaded, file: Path) -> None:
        """Write the image as a tar archive, whole or not at all; the same image gives the same bytes.

        A file that is there is replaced once all is written. Nothing is forced onto the disk, so a power cut may take
        the archive with it.
        """
        ...

    def unpack(self, file: Path, folder: Path) -> None:
        """Write an archive that nobody vouches for into a new folder, durably as a dump. Loading proves the rest."""
        ...
