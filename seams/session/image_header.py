"""The header of an image: canonical JSON with a digest over all of it and, where there is a key, a seal.

The digest covers the header's own words and, by their digests, the parts; so no byte of an image stands outside it.
Whoever can write files can write a digest that is right: only a key, or the digest told on another way, shows that an
image is the one that was meant. One text is one header: another spelling of the same JSON is refused.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from seams.contract.image import HEADER, Header, ImageRefusedError, Migration, Part
from seams.session.core_files import BODIES, INDEX, PAGES
from seams.syscall.canonical import canonical

__all__ = [
    "EFFECTS",
    "END_OF_TIME",
    "MOST_BYTES",
    "PARTS",
    "SESSION",
    "TRAJECTORY",
    "VERSION",
    "header_of",
    "is_header",
    "sealed",
]

_KIND = "loopladder.image."
VERSION = f"{_KIND}v1"

SESSION, TRAJECTORY, EFFECTS = "session.json", "trajectory.jsonl", "effects.json"

PARTS = (SESSION, PAGES, BODIES, INDEX, TRAJECTORY, EFFECTS)
"""Every part that an image may have, in the order in which it lists them; a name that is none of these is refused."""

MOST_BYTES = 512 << 20
"""The most that a part may have, and all of them together: 512 MiB."""

END_OF_TIME = 8**11
"""The first moment, in Unix seconds, that does not fit into an entry of an archive; an image is dumped before it."""

_TEXTS = ("id", "model", "host")
_TIMES = ("created", "updated")
_FIELDS = {"version", "kv_included", "labels", "migrations", "parts", "digest", *_TEXTS, *_TIMES}


def _document(header: Header) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kv_included": False,
        **{name: getattr(header, name) for name in (*_TEXTS, *_TIMES)},
        "labels": dict(header.labels),
        "migrations": [each._asdict() for each in header.migrations],
        "parts": [each._asdict() for each in header.parts],
    }


def _seal(key: bytes, text: bytes) -> str:
    return hmac.new(key, text, sha256).hexdigest()


def sealed(header: Header, key: bytes | None = None) -> bytes:
    """The text of the file of ``header``, whose digest and size it does not look at; sealed by HMAC-SHA-256 of ``key``.

    Without a key there is no seal.
    """
    document = _document(header)
    text = canonical(document)
    document["digest"] = sha256(text).hexdigest()
    if key is not None:
        document["seal"] = _seal(key, text)
    return canonical(document) + b"\n"


def is_header(data: bytes) -> bool:
    """Whether the text says that it is a header, of whatever version; what else it says may be wrong."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and str(document.get("version")).startswith(_KIND)


def header_of(data: bytes, key: bytes | None = None) -> Header:
    """The header in the text of its file.

    Raises:
        ImageRefusedError: it is none, not of this version, not what its digest or its seal says, or it lists what no
            image has; a part that it lists is named where the fault is the part's.
    """
    try:
        document = json.loads(data.decode("utf-8", "surrogatepass"))
        same = isinstance(document, dict) and canonical(document) + b"\n" == data
    except (ValueError, RecursionError) as error:
        raise ImageRefusedError(HEADER, "is not the JSON of a header.") from error
    if not same:
        raise ImageRefusedError(HEADER, "is not the JSON of a header, sorted and without spaces.")
    if document.get("version") != VERSION:
        raise ImageRefusedError(HEADER, f"is not of version {VERSION}; dump the session again with this one.")
    seal, digest = document.pop("seal", None), document.pop("digest", None)
    text = canonical(document)
    if not _equal(digest, sha256(text).hexdigest()):
        raise ImageRefusedError(HEADER, "is not what its own digest says.")
    if key is not None and not _equal(seal, _seal(key, text)):
        told = "bears no seal" if seal is None else "bears another seal than that of the key"
        raise ImageRefusedError(HEADER, f"{told}.")
    fault = next(_faults({**document, "digest": digest}), None)
    if fault:
        raise ImageRefusedError(*fault)
    parts = tuple(Part(**each) for each in document["parts"])
    return Header(
        **{name: document[name] for name in (*_TEXTS, *_TIMES)},
        labels=document["labels"],
        migrations=tuple(Migration(**each) for each in document["migrations"]),
        parts=parts,
        digest=digest,
        size=len(data),
        authenticated=key is not None,
    )


def _equal(told: object, wanted: str) -> bool:
    return isinstance(told, str) and hmac.compare_digest(told.encode("utf-8", "replace"), wanted.encode())


def _faults(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a header whose digest is right: the part and the sentence, the first being the one to say."""
    if document.keys() != _FIELDS:
        yield HEADER, f"has other fields than {', '.join(sorted(_FIELDS))}."
        return
    sound = (
        all(isinstance(document[name], str) for name in _TEXTS)
        and all(type(document[name]) is int for name in _TIMES)
        and document["kv_included"] is False
        and _texts(document["labels"])
        and _records(document["migrations"], Migration, ("when",))
        and _records(document["parts"], Part, ("size",))
    )
    if not sound or not document["id"]:
        yield HEADER, "has a field that does not hold what it has to."
        return
    if document["updated"] >= END_OF_TIME:
        yield HEADER, f"is of the moment {document['updated']}, and no archive can say one from {END_OF_TIME} on."
    yield from _part_faults(document["parts"])


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


def _texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _records(value: object, kind: type[Migration] | type[Part], numbers: Sequence[str]) -> bool:
    """Whether it is a list of records of that kind, their fields being texts but for ``numbers``."""
    return isinstance(value, list) and all(
        isinstance(each, dict)
        and each.keys() == set(kind._fields)
        and all(type(each[name]) is (int if name in numbers else str) for name in kind._fields)
        for each in value
    )
