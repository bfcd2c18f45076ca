"""What an image may consist of, and what is wrong with a header whose digest is right: it may still say nonsense.

Whoever can write files can write a digest that is right, so nothing in a header is believed for its digest alone. Each
fault names the part it is of, and of the header's own words the field; nothing of a file is looked at here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seams.contract.image import HEADER, Migration, Part
from seams.session.core_files import BODIES, INDEX, PAGES

__all__ = [
    "EFFECTS",
    "END_OF_TIME",
    "FIELDS",
    "MOST_BYTES",
    "PARTS",
    "SESSION",
    "TEXTS",
    "TIMES",
    "TRAJECTORY",
    "faults",
]

SESSION, TRAJECTORY, EFFECTS = "session.json", "trajectory.jsonl", "effects.json"

PARTS = (SESSION, PAGES, BODIES, INDEX, TRAJECTORY, EFFECTS)
"""Every part that an image may have, in the order in which it lists them; a name that is none of these is refused."""

MOST_BYTES = 512 << 20
"""The most that a part may have, and all of them together: 512 MiB."""

END_OF_TIME = 8**11
"""The first moment, in Unix seconds, that does not fit into an entry of an archive; an image is dumped before it."""

TEXTS, TIMES = ("id", "model", "host"), ("created", "updated")
FIELDS = frozenset({"version", "kv_included", "labels", "migrations", "parts", "digest", *TEXTS, *TIMES})
_AGAIN = "set it right in the session and dump that again"


def faults(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each fault as the part and the sentence about it, the first being the one to say."""
    if document.keys() != FIELDS:
        yield HEADER, f"has other fields than {', '.join(sorted(FIELDS))}; dump the session again."
        return
    wrong = next(_field_faults(document), None)
    if wrong is not None:
        yield HEADER, f"has {wrong}; {_AGAIN}."
        return
    if document["updated"] >= END_OF_TIME:
        yield HEADER, f"is of the moment {document['updated']}, and no archive can say one from {END_OF_TIME} on."
    yield from _part_faults(document["parts"])


def _field_faults(document: Mapping[str, Any]) -> Iterator[str]:
    """What is in a field and what has to be."""
    if document["id"] == "":
        yield "an empty text as its id, which has to name the session"
    for name in TEXTS:
        if not isinstance(document[name], str):
            yield f"{document[name]!r:.60} as its {name}, which has to be a text"
    for name in TIMES:
        if type(document[name]) is not int:
            yield f"{document[name]!r:.60} as its {name}, which has to be a whole number of Unix seconds"
    if document["kv_included"] is not False:
        yield f"{document['kv_included']!r:.60} as its kv_included, which has to be false: no image has keys and values"
    labels = document["labels"]
    if not isinstance(labels, dict):
        yield f"{labels!r:.60} as its labels, which have to be texts by name"
    else:
        strange = next((name for name, text in labels.items() if not isinstance(text, str)), None)
        if strange is not None:
            yield f"{labels[strange]!r:.60} as its label {strange!r:.60}, which has to be a text"
    yield from _record_faults("migrations", document["migrations"], Migration, "when")
    yield from _record_faults("parts", document["parts"], Part, "size")


def _record_faults(name: str, value: object, kind: type[Migration] | type[Part], number: str) -> Iterator[str]:
    """What is no list of records of that kind, their fields being texts but for ``number``, which is a whole one."""
    if not isinstance(value, list):
        yield f"{value!r:.60} as its {name}, which have to be a list"
        return
    for at, each in enumerate(value):
        if not isinstance(each, dict) or each.keys() != set(kind._fields):
            yield f"{each!r:.60} as number {at} of its {name}, which has to have {', '.join(kind._fields)}"
            return
        for field in kind._fields:
            if type(each[field]) is not (int if field == number else str):
                wanted = "a whole number" if field == number else "a text"
                yield f"{each[field]!r:.60} as the {field} of number {at} of its {name}, which has to be {wanted}"


def _part_faults(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    names = [part["name"] for part in parts]
    for name in names:
        if name not in PARTS:
            yield name or '""', "is listed and is no part of an image."
    for name in names:
        if names.count(name) > 1:
            yield name, "is listed twice."
    if names != [name for name in PARTS if name in names]:
        yield HEADER, "lists its parts in another order than an image does."
    if SESSION not in names:
        yield SESSION, "is not listed, and without it there is no session."
    for name, other in ((PAGES, BODIES), (BODIES, PAGES), (INDEX, PAGES)):
        if name in names and other not in names:
            yield other, f"is not listed, and {name} is of no use without it."
    for part in parts:
        if not 0 <= part["size"] <= MOST_BYTES:
            yield part["name"], f"is said to have {part['size']} bytes; {MOST_BYTES} are the most."
    if sum(part["size"] for part in parts) > MOST_BYTES:
        yield HEADER, f"lists parts of more than {MOST_BYTES} bytes together."
