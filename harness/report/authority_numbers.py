"""A number in a document: its text, and the run file and the place in it that the text was made from.

Each number is a link whose path ends in the content hash of a committed run file and whose fragment is a JSON pointer
(RFC 6901), as ``1f0c...e2.json#/readings/12/value``. Text comes from one function, so that writing a page and checking
it cannot differ. Refuses to format what is not in a run file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from harness.record.run import Run
from harness.report.inert import inert
from harness.report.units import interval, rescaled, shown
from kpis.terms.quantity import Unit

__all__ = ["Artifact", "Shown", "cell", "link", "links_in", "reading_index", "resolve", "text_at"]

_LINK = re.compile(
    r"\[(?P<text>(?:[^\[\]\\]|\\.)*)\]\((?P<folder>[^()\s#]*/)?(?P<hash>[0-9a-f]{16})\.json#(?P<pointer>/[^()\s]*)\)"
)
_READING = re.compile(r"/readings/(0|[1-9]\d*)(?=/|$)")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One committed run file: ``path`` below the project's root, its JSON as it stands, and the run it decodes to."""

    path: str
    document: Mapping[str, Any]
    run: Run

    @property
    def hash(self) -> str:
        """The first sixteen digits of the sha256 of its bytes, which are its name."""
        return PurePosixPath(self.path).stem


@dataclass(frozen=True, slots=True)
class Shown:
    """A number as a document shows it: ``text``, the run file's ``hash`` and ``path`` as linked, and the pointer."""

    text: str
    path: str
    hash: str
    pointer: str


def cell(text: object) -> str:
    """``text`` inside a Markdown table: on one line, inert, with nothing in it that Markdown would read."""
    plain = inert(str(text)).replace("\\", "\\\\").replace("<", "&lt;")
    return re.sub(r"([|\[\]`*~])", r"\\\1", plain)


def resolve(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901).

    Raises:
        LookupError: there is nothing there; the message is the pointer.
    """
    found = document
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, Sequence) and not isinstance(found, str) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise LookupError(pointer)
    return found


def reading_index(pointer: str) -> int | None:
    """Which reading of a run a pointer leads into; None where it leads elsewhere."""
    found = _READING.match(pointer)
    return int(found[1]) if found else None


def text_at(document: Mapping[str, Any], pointer: str) -> str:
    """The text of the number at ``pointer``, with the unit of its reading.

    Raises:
        LookupError: nothing is there, or nothing that is shown.
    """
    index = reading_index(pointer)
    value = resolve(document, pointer)
    if index is None or value is None:
        raise LookupError(pointer)
    reading = resolve(document, f"/readings/{index}")
    unit = Unit(reading["unit"])
    match pointer.split("/")[3:]:
        case ["value"]:
            return shown(value, unit)
        case ["numerator" | "denominator" | "excluded"] | ["distribution", "n"]:
            return shown(value, Unit.COUNT)
        case ["distribution", "ci95"]:
            low, high = value
            return _words(interval(low, high, unit, like=reading["value"]))
        case ["histogram"]:
            return cell(", ".join(f"{key} {count:,}" for key, count in sorted(value.items())) or "nothing")
        case ["knobs"]:
            return cell(", ".join(f"{key}={knob:.10g}" for key, knob in sorted(value.items())))
        case ["evidence", _]:
            return cell(rescaled(value))
        case _:
            raise LookupError(pointer)


def _words(bounds: str) -> str:
    """``[1.2, 1.4] ms`` as ``1.2 to 1.4 ms``: brackets would end the text of a link."""
    inside, _, unit = bounds[1:].partition("]")
    return inside.replace(", ", " to ") + unit


def link(artifact: Artifact, pointer: str, folder: str = "") -> str:
    """The number at ``pointer`` as a link, from a document in ``folder`` (below the project's root).

    Raises:
        LookupError: nothing is there that is shown.
    """
    path = posixpath.relpath(artifact.path, folder or ".")
    return f"[{text_at(artifact.document, pointer)}]({path}#{pointer})"


def links_in(text: str) -> Iterator[Shown]:
    """The linked numbers of ``text``, in order."""
    for found in _LINK.finditer(text):
        path = f"{found['folder'] or ''}{found['hash']}.json"
        yield Shown(found["text"], path, found["hash"], found["pointer"])
