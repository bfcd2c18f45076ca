"""The seam ``session/recall``: what a session keeps of its results, page by page, and gives back only on its terms.

A page is a line of a table; its body lies in a store under its digest. A body that the gates keep out is kept sealed:
to clear its id is necessary and never sufficient, because every read asks the gates again. Plain data and Protocols.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from seams.contract.syscall import Verdict
from seams.contract.turn import Durability
from seams.contract.verdict import Taint

__all__ = ["Core", "CoreStats", "Page", "Policy", "Promotions", "Recall", "Recorded", "Refusal", "Refused"]


class Policy(StrEnum):
    """What becomes of a harmless result that is not durable: it is kept and counted, or it is left out."""

    WARN = "warn"
    ENFORCE = "enforce"


class Refusal(StrEnum):
    """Why a page is not read in, in the order in which it is looked at.

    ``no_page``: there is none of that number. ``expired``: it held until a moment that is over. ``revoked``: what it
    rests on was taken back. ``tombstoned``: somebody deleted it. ``not_stored``: its body is gone. ``sealed``: it is in
    quarantine and nobody cleared it, or the gates of today keep it out.
    """

    NO_PAGE = "no_page"
    EXPIRED = "expired"
    REVOKED = "revoked"
    TOMBSTONED = "tombstoned"
    NOT_STORED = "not_stored"
    SEALED = "sealed"


@dataclass(frozen=True, slots=True)
class Refused:
    """In place of a body: why, and of a sealed page the name of the gates' reason."""

    why: Refusal
    reason: str = ""


class Page(NamedTuple):
    """One line of the page table; of the body it holds a digest (SHA-256 in hexadecimal) and a size in bytes.

    ``descriptor`` is the tool and the first line, of a sealed page the reason and the size instead; no gate is asked
    about the names of the tool and of the witness, which are the words of whoever gave them. ``qid`` is the id
    under which it is cleared, blank unless it is sealed; ``reason`` says what for. ``valid_to`` is a moment in Unix
    seconds, of a page of class ``bounded`` alone, else 0. ``witness`` names what the page rests on, blank for nothing.
    """

    step: int
    tool: str
    descriptor: str
    digest: str
    size: int
    taint: Taint
    qid: str
    reason: str
    durability: Durability
    valid_to: int = 0
    witness: str = ""
    utility: float = 0.0
    tombstoned: bool = False

    @property
    def sealed(self) -> bool:
        """Whether it went into quarantine when it was recorded."""
        return self.taint == Taint.QUARANTINED


class Recorded(NamedTuple):
    """What became of a result: the gates' verdict, its class, and its page; no page where the policy left it out."""

    verdict: Verdict
    durability: Durability
    step: int | None


@dataclass(slots=True)
class Promotions:
    """Counted when results are recorded, so that a page that was left out still counts.

    ``benign`` results were not kept out by a gate; ``refused`` of them, by class, were not durable: left out under
    ``enforce``, kept all the same under ``warn``.
    """

    benign: int = 0
    refused: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CoreStats:
    """Pages by what they are, and the bytes of the bodies in the store, each body once."""

    pages: int
    benign: int
    sealed: int
    tombstoned: int
    cleared: int
    stored_bytes: int


class Core(Protocol):
    """The pages of one session. The methods may be coroutine functions, except ``pages``."""

    def record(self, tool: str, body: bytes, *, witness: str = "", utility: float = 0.0) -> Recorded:
        """Show ``body`` to the gates, put it into the store and give it a page, sealed or not."""
        ...

    def resolve(self, step: int, as_of: int | None = None) -> bytes | Refused:
        """The exact body of a page, if it may be read at ``as_of``; the gates are asked about every one, every time."""
        ...

    def clear(self, qid: str) -> bool:
        """Say that a sealed page may come back; False, and nothing is noted, where no page has that id.

        Nothing is cleared in advance: the next page that is sealed has an id that none had before.
        """
        ...

    def pages(self) -> Iterator[Page]:
        """The page table, in order of recording."""
        ...

    def recall(self, query: str, limit: int, as_of: int | None = None) -> list[tuple[Page, bytes]]:
        """Up to ``limit`` pages that share words with ``query``, best first, with their bodies; none that is sealed."""
        ...

    def promotions(self) -> Promotions:
        """A snapshot of the books."""
        ...

    def stats(self) -> CoreStats:
        """A snapshot."""
        ...


class Recall(Protocol):
    """``session/recall``. ``core`` is set-up of a measurement, so never a coroutine function."""

    def core(self, policy: Policy = Policy.WARN) -> Core:
        """An empty table over an empty store, behind gates of its own."""
        ...
