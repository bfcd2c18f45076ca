"""Words that the authored cases of several rules share: sentences around the one that matters, and names. Made up here.

Tables and the functions that draw from them; nothing is written or checked here.
"""

from __future__ import annotations

from typing import Any

from author_workloads import Draw

__all__ = ["around", "chars", "digits", "name", "thing"]

FIRST = ("Mara", "Tobias", "Ines", "Kofi", "Anneli", "Rashid", "Yuki", "Petra", "Oskar", "Lucia", "Bram", "Nadia")
LAST = ("Halvorsen", "Okafor", "Lindqvist", "Moreau", "Castellan", "Novik", "Tanabe", "Brandt", "Szalai", "Iversen")
THINGS = ("billing", "search", "invoice", "booking", "export", "upload", "mailer", "ledger", "catalog", "session")
BEFORE = (
    "Here is what the {t} team asked for.",
    "I went through the {t} records once more.",
    "The summary for the {t} service follows.",
    "Thanks for waiting while the {t} page loaded.",
    "This is the state of the {t} module after the review.",
    "Below is the note that belongs to the {t} report.",
    "The {t} handover is complete apart from one point.",
    "From the {t} log of last week:",
    "",
)
AFTER = (
    "The rest of the {t} page is unchanged.",
    "Nothing else in the {t} folder was touched.",
    "The {t} owner has been told.",
    "It was compared with the {t} table twice.",
    "Everything else in {t} reads as before.",
    "The next review of {t} is in spring.",
    "",
)


def name(draw: Draw) -> str:
    """A person."""
    return f"{draw.of(FIRST)} {draw.of(LAST)}"


def thing(draw: Draw) -> str:
    """A part of some product."""
    return draw.of(THINGS)


def chars(draw: Draw, alphabet: str, count: int) -> str:
    """``count`` letters of ``alphabet``."""
    return "".join(draw.of(alphabet) for _ in range(count))


def digits(draw: Draw, count: int) -> str:
    """``count`` digits, the first of them no nought."""
    return chars(draw, "123456789", 1) + chars(draw, "0123456789", count - 1)


def around(draw: Draw, middle: str, joint: str = " ") -> dict[str, Any]:
    """A case whose output is ``middle`` with a sentence before and after it, or without."""
    subject = thing(draw)
    parts = (draw.of(BEFORE).format(t=subject), middle, draw.of(AFTER).format(t=subject))
    return {"output": joint.join(part for part in parts if part)}
