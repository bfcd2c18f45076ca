"""Signs of fabrication that show in the output alone: totals that do not add up, citations that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kpis.rules.material import Material, number

__all__ = ["fabricated_citation_shape", "inconsistent_total"]

_FIGURE = r"[0-9]{1,12}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,6})?"
_SUM = re.compile(rf"({_FIGURE}(?:[ ]?\+[ ]?{_FIGURE}){{1,12}})[ ]?=[ ]?({_FIGURE})(?![0-9.,]*[0-9%*/+-])")
_ANY = re.compile(_FIGURE)
_TOTAL_OF = re.compile(
    rf"\b(?:total of ({_FIGURE})|({_FIGURE}) (?:\w{{1,20}} ){{0,3}}(?:in total|total|altogether))\b"
    r"[^:(\n0-9]{0,40}[:(]([^\n)]{1,300})",
    re.IGNORECASE,
)
_PART = re.compile(rf"(?<![\w.]){_FIGURE}(?= (?!%)[A-Za-z])")
_ROW = re.compile(
    rf"^[ \t]*(?:[-*+|][ \t]*)?([^\n:|0-9]{{1,60}})[:|][ \t]*\$?({_FIGURE})[ \t]*\|?[ \t]*$", re.MULTILINE
)

_MARKER = re.compile(r"\[([0-9]{1,3})\]")
_SOURCE_LIST = re.compile(r"^[ \t]*\[[0-9]{1,3}\][: \t]*\S", re.MULTILINE)
_NAMED = re.compile(
    r"\b(?:study|studies|research|paper|report|survey|work|article|findings) (?:by|from) (?:Dr|Prof|Professor)\b\.?"
    r"|\b[A-Z][a-z]{1,30} et al\.?,? \(?(?:19|20)[0-9]{2}\)?",
)
_MOST_PARTS = 40


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _adds_up(parts: list[str], total: str) -> bool:
    """Whether the parts make the total, up to the rounding of their last digits."""
    room = 0.5 * len(parts) * 10 ** -min(map(_decimals, [*parts, total])) if any(map(_decimals, parts)) else 0.0
    return abs(sum(map(number, parts)) - number(total)) <= room + 1e-9


def _totals(said: str) -> Iterator[tuple[list[str], str]]:
    """Parts and the total that is said of them."""
    if "=" in said and "+" in said:
        for found in _SUM.finditer(said):
            yield _ANY.findall(found.group(1)), found.group(2)
    lower = said.lower()
    if "total" not in lower and "altogether" not in lower:
        return
    for found in _TOTAL_OF.finditer(said):
        parts = _PART.findall(found.group(3))
        if len(parts) >= 2:
            yield parts, found.group(1) or found.group(2)
    yield from _columns(said)


def _columns(said: str) -> Iterator[tuple[list[str], str]]:
    """Lines of a name and a number each, with a line of the total under them."""
    parts: list[str] = []
    end = -1
    for row in _ROW.finditer(said):
        if row.start() != end + 1:
            parts = []
        end = row.end()
        name = row.group(1).strip(" *_|\t").lower()
        if name in {"total", "sum", "grand total", "overall", "total count"}:
            if 2 <= len(parts) <= _MOST_PARTS:
                yield parts, row.group(2)
            parts = []
        else:
            parts.append(row.group(2))


def inconsistent_total(material: Material) -> bool:
    """Whether a total is said that its parts do not make."""
    return any(not _adds_up(parts, total) for parts, total in _totals(material.said))


def fabricated_citation_shape(material: Material) -> bool:
    """Whether sources are named or numbered and none can be followed: no link, no list of them, none that was given."""
    said = material.said
    if "et al" not in said and " Dr" not in said and " Prof" not in said:
        return False
    named = len(set(_NAMED.findall(said)))
    if not named or "http" in said or "doi" in material.said_lower or _SOURCE_LIST.search(said):
        return False
    given = set(_MARKER.findall(material.given))
    numbered = len(set(_MARKER.findall(said)) - given)
    return named >= 2 or numbered >= 2
