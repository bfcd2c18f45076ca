"""The seam ``session/recall``: the pages of a session, sealed or not, behind gates that are asked on every read.

What is here decides who may read what. Where bodies lie is in ``page_store``, what a page is on disk in ``page_table``,
which results are kept in ``durability``. Nothing depends on the process that recorded a page: its verdict of then is a
mark in the table, and whether it may be read is asked of the gates of now.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from seams.contract import Engine
from seams.contract.recall import CoreStats, Page, Policy, Promotions, Recorded, Refusal, Refused
from seams.contract.turn import Durability
from seams.contract.verdict import Taint
from seams.session.core_index import WordIndex
from seams.session.durability import Promotion
from seams.session.page_store import PageStore
from seams.session.page_table import PageTable, described
from seams.session.quarantine import Screening
from seams.syscall.reasons import reason_name
from seams.turn.benefit import tokens

__all__ = ["CoreImage", "CoreImages", "offer"]


class CoreImage:
    """The pages of one session. ``cleared`` are the ids of sealed pages, ``revoked`` the witnesses taken back.

    An id that no page has clears nothing, now or later; a blank witness is nobody's.
    """

    def __init__(
        self,
        policy: Policy = Policy.WARN,
        screening: Screening | None = None,
        table: PageTable | None = None,
        store: PageStore | None = None,
        books: Promotions | None = None,
        cleared: Iterable[str] = (),
        revoked: Iterable[str] = (),
        index: WordIndex | None = None,
    ) -> None:
        self.table = PageTable() if table is None else table
        self.store = PageStore() if store is None else store
        self.promotion = Promotion(policy, books)
        self.revoked = set(revoked) - {""}
        self.screening = Screening() if screening is None else screening
        self._index = index
        self._qids = {page.qid for page in self.table if page.sealed}
        self.cleared = self._qids.intersection(cleared)
        self._sealed = len(self._qids)

    def record(self, tool: str, body: bytes, *, witness: str = "", utility: float = 0.0) -> Recorded:
        """As :meth:`seams.contract.recall.Core.record`. A sealed page shows nothing of its body.

        Raises:
            TypeError: the body is not of type bytes, so that it could change after it was looked at.
            ValueError: the utility is no finite number.
        """
        if not isinstance(body, bytes):
            raise TypeError(f"A body is bytes and not {type(body).__name__}; record bytes(body) instead.")
        if not math.isfinite(utility):
            raise ValueError(f"A utility of {utility} ranks nothing; give a finite number.")
        look = self.screening.look(tool, body)
        step = len(self.table)
        if look.sealed:
            reason, qid, taint = reason_name(look.verdict.reason), self._new_qid(), Taint.QUARANTINED
        elif self.promotion.admits(look.durability):
            reason, qid, taint = "", "", Taint.TAINTED
        else:
            return Recorded(look.verdict, look.durability, None)
        self.table.append(
            Page(
                step,
                tool,
                described(tool, reason, len(body), body),
                self.store.put(body),
                len(body),
                taint,
                qid,
                reason,
                look.durability,
                witness=witness,
                utility=float(utility),
            )
        )
        return Recorded(look.verdict, look.durability, step)

    def resolve(self, step: int, as_of: int | None = None) -> bytes | Refused:
        """As :meth:`seams.contract.recall.Core.resolve`; what refuses first is the reason that is told."""
        if not 0 <= step < len(self.table):
            return Refused(Refusal.NO_PAGE)
        page = self.table[step]
        if _expired(page, as_of):
            return Refused(Refusal.EXPIRED)
        if page.witness in self.revoked:
            return Refused(Refusal.REVOKED)
        if page.tombstoned:
            return Refused(Refusal.TOMBSTONED)
        body = self.store.get(page.digest)
        if body is None:
            return Refused(Refusal.NOT_STORED)
        if page.sealed and page.qid not in self.cleared:
            return Refused(Refusal.SEALED, page.reason)
        look = self.screening.look(page.tool, body)
        return Refused(Refusal.SEALED, reason_name(look.verdict.reason)) if look.sealed else body

    def clear(self, qid: str) -> bool:
        """Note it; the next read asks the gates all the same."""
        if qid not in self._qids:
            return False
        self.cleared.add(qid)
        return True

    def _new_qid(self) -> str:
        """An id that no page has: those of an image need not be without gaps."""
        self._sealed += 1
        while (qid := f"q{self._sealed}") in self._qids:
            self._sealed += 1
        self._qids.add(qid)
        return qid

    def tombstone(self, step: int) -> None:
        """Delete a page: it is not read any more, and its line stays. IndexError where there is none."""
        self.table.replace(self.table[step]._replace(tombstoned=True))

    def bound(self, step: int, valid_to: int) -> None:
        """Say until when a page holds, in Unix seconds, 0 for no end. IndexError where there is none.

        Raises:
            ValueError: the moment is negative.
        """
        if valid_to < 0:
            raise ValueError(f"A page cannot hold until {valid_to}; give Unix seconds, or 0 for no end.")
        self.table.replace(self.table[step]._replace(durability=Durability.BOUNDED, valid_to=valid_to))

    def revoke(self, witness: str) -> None:
        """Take back what pages rest on; a blank name is nobody's."""
        if witness:
            self.revoked.add(witness)

    def pages(self) -> Iterator[Page]:
        """The page table, in order."""
        return iter(self.table)

    def recall(self, query: str, limit: int, as_of: int | None = None) -> list[tuple[Page, bytes]]:
        """As :meth:`seams.contract.recall.Core.recall`: by shared words plus utility, the earlier page among equals."""
        index = self.index()
        overlap = Counter(row for word in tokens(query) for row in index.rows(word))
        found: list[tuple[float, Page]] = []
        for row in sorted(overlap):
            page = self.table[row]
            if not page.tombstoned and not _expired(page, as_of):
                found.append((overlap[row] + page.utility, page))
        found.sort(key=lambda each: -each[0])
        bodies: list[tuple[Page, bytes]] = []
        for _, page in found:
            if len(bodies) >= limit:
                break
            body = self.resolve(page.step, as_of)
            if isinstance(body, bytes):
                bodies.append((page, body))
        return bodies

    def index(self) -> WordIndex:
        """The index of the pages that there are now; built where pages came since the last one."""
        if self._index is None or self._index.pages != len(self.table):
            self._index = WordIndex.of(self.table)
        return self._index

    def promotions(self) -> Promotions:
        """A snapshot of the books."""
        books = self.promotion.books
        return Promotions(books.benign, dict(books.refused))

    def stats(self) -> CoreStats:
        """A snapshot, counted over the table."""
        kinds = Counter((page.sealed, page.tombstoned) for page in self.table)
        sealed = sum(count for (is_sealed, _), count in kinds.items() if is_sealed)
        gone = sum(count for (_, is_gone), count in kinds.items() if is_gone)
        pages = len(self.table)
        return CoreStats(pages, pages - sealed, sealed, gone, len(self.cleared), self.store.size)


def _expired(page: Page, as_of: int | None) -> bool:
    """Whether the page held until before ``as_of``; without a moment, and without a bound, nothing is expired."""
    bounded = page.durability is Durability.BOUNDED and page.valid_to > 0
    return bounded and as_of is not None and as_of > page.valid_to


class CoreImages:
    """What ``session/recall`` offers."""

    def core(self, policy: Policy = Policy.WARN) -> CoreImage:
        """An empty one, behind gates of its own."""
        return CoreImage(policy)


def offer(engine: Engine) -> CoreImages | None:
    """The maker of core images; a page is recorded and read without an engine, so only ``none`` is answered."""
    return CoreImages() if engine == "none" else None
