"""The core image as files of a session image, and back; the bytes of its parts were proved whole before.

Whole is not sound: whoever writes an image anew with digests that are right can still put anything into it. So each
line is read as one, every page has to have its body, and what is wrong is said of the file by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from seams.contract.image import ImageRefusedError, IndexMode
from seams.contract.recall import Policy, Promotions
from seams.session.core_index import WordIndex
from seams.session.lines import Lines
from seams.session.page_store import PageStore
from seams.session.page_table import PageTable, described
from seams.session.quarantine import Screening
from seams.session.recall import CoreImage
from seams.syscall.canonical import canonical
from seams.turn.spans import DESCRIPTOR_BYTES

__all__ = ["BODIES", "INDEX", "PAGES", "VERSION", "core_of", "write_pages"]

VERSION = "loopladder.core.v1"

PAGES, BODIES, INDEX = "pages.jsonl", "bodies.bin", "index.jsonl"


def write_pages(core: CoreImage, session: str, write: Callable[[bytes], object]) -> None:
    """The file of the page table: a line about the core, then one a page."""
    books = core.promotion.books
    about = {
        "version": VERSION,
        "session": session,
        "pages": len(core.table),
        "policy": core.promotion.policy.value,
        "benign": books.benign,
        "refused": books.refused,
        "cleared": sorted(core.cleared),
        "revoked": sorted(core.revoked),
    }
    write(canonical(about) + b"\n")
    core.table.write(write)


class _Rows:
    """The lines of a page table behind the one about the core."""

    __slots__ = ("_lines",)

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines) - 1

    def __getitem__(self, row: int) -> bytes:
        return self._lines[row + 1]


def core_of(
    parts: Mapping[str, bytes], session: str, table: str, screening: Screening | None = None
) -> tuple[CoreImage, IndexMode]:
    """The core image in ``parts``, behind fresh gates, and how it came to its index.

    ``table`` is the digest of the file of the page table.

    Raises:
        ImageRefusedError: a file is not sound, a page has no body, or the index is of another table.
    """
    about, rows = _about(parts[PAGES], session)
    try:
        store = PageStore(parts[BODIES])
    except ValueError as error:
        raise ImageRefusedError(BODIES, f"{error}.") from error
    pages = PageTable(rows)
    _require_clearances(about["cleared"], _require_bodies(pages, store))
    index, mode = _attached(parts.get(INDEX), pages, table)
    books = Promotions(about["benign"], about["refused"])
    core = CoreImage(Policy(about["policy"]), screening, pages, store, books, about["cleared"], about["revoked"], index)
    if mode == "rebuild":
        core.index()
    return core, mode


def _about(data: bytes, session: str) -> tuple[dict[str, Any], _Rows]:
    try:
        lines = Lines(data)
        about = json.loads(lines[0])
        sound = (
            about["version"] == VERSION
            and about["session"] == session
            and about["pages"] == len(lines) - 1
            and about["policy"] in list(Policy)
            and all(type(each) is int and each >= 0 for each in (about["benign"], *about["refused"].values()))
            and sum(about["refused"].values()) <= about["benign"]
            # A blank name is nobody's: taken back, it would take every page with it that rests on nothing.
            and all(_names(about[name]) for name in ("cleared", "revoked"))
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ImageRefusedError(PAGES, "does not begin with a line about a core image.") from error
    if not sound:
        why = f"is not a core image of version {VERSION}, of this session and with as many pages as it says."
        raise ImageRefusedError(PAGES, why)
    return about, _Rows(lines)


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)


def _require_clearances(cleared: list[str], sealed: set[str]) -> None:
    """Only a page that is there is cleared: an id that no page has would be the next one's, cleared in advance."""
    if strange := sorted(set(cleared) - sealed):
        raise ImageRefusedError(PAGES, f"clears {strange[0]}, and no page is sealed as that.")


def _require_bodies(pages: PageTable, store: PageStore) -> set[str]:
    """The ids of the sealed pages.

    Each page is one, its body is stored with the size that it says and begins as the page is described, and its id is
    its own.
    """
    named: set[str] = set()
    try:
        for page in pages:
            found = store.begun(page.digest, DESCRIPTOR_BYTES)
            if found is None or found[0] != page.size:
                told = "is not stored" if found is None else f"has {found[0]} bytes and not {page.size}"
                raise ValueError(f"has a page {page.step} whose body {told}")
            if page.descriptor != described(page.tool, page.reason, page.size, found[1]):
                raise ValueError(f"has a page {page.step} that is described as something else than it is")
            if page.qid and page.qid in named:
                raise ValueError(f"has two pages that are cleared as {page.qid}")
            if page.qid:
                named.add(page.qid)
    except ValueError as error:
        raise ImageRefusedError(PAGES, f"{error}.") from error
    return named


def _attached(data: bytes | None, pages: PageTable, table: str) -> tuple[WordIndex | None, IndexMode]:
    if data is None:
        return None, "rebuild" if len(pages) else "none"
    try:
        return WordIndex.attach(data, len(pages), table), "warm"
    except ValueError as error:
        raise ImageRefusedError(INDEX, f"{error}; dump the session again, or without its index.") from error
