"""The header of an image: canonical JSON with a digest over all of it and, where there is a key, a seal.

The digest covers the header's own words and, by their digests, the parts; so no byte of an image stands outside it.
Whoever can write files can write a digest that is right: only a key, or the digest told on another way, shows that an
image is the one that was meant. One text is one header: another spelling of the same JSON is refused.
"""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from typing import Any

from seams.contract.image import HEADER, Header, ImageRefusedError, Migration, Part
from seams.session.image_faults import (
    EFFECTS,
    END_OF_TIME,
    MOST_BYTES,
    PARTS,
    SESSION,
    TEXTS,
    TIMES,
    TRAJECTORY,
    faults,
)
from seams.syscall.canonical import canonical

__all__ = [
    "EFFECTS",
    "END_OF_TIME",
    "LEAST_KEY",
    "MOST_BYTES",
    "PARTS",
    "SESSION",
    "TRAJECTORY",
    "VERSION",
    "header_of",
    "is_header",
    "require_key",
    "sealed",
]

_KIND = "loopladder.image."
VERSION = f"{_KIND}v1"

LEAST_KEY = 16
"""Bytes of a key, at the least: as many as nobody guesses."""


def require_key(key: bytes) -> bytes:
    """``key``, where it can show who made an image.

    Raises:
        TypeError: it is not of bytes.
        ValueError: it is so short that anybody has it; an empty one is what a variable gives that was not set.
    """
    if not isinstance(key, bytes):
        raise TypeError(f"A key is bytes and not {type(key).__name__}; encode it, or leave it out.")
    if len(key) < LEAST_KEY:
        said = f"A key of {len(key)} bytes shows nobody who made an image, and {LEAST_KEY} are the least"
        raise ValueError(f"{said}; make one with secrets.token_bytes(32), or leave it out.")
    return key


def _document(header: Header) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kv_included": False,
        **{name: getattr(header, name) for name in (*TEXTS, *TIMES)},
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
    fault = next(faults({**document, "digest": digest}), None)
    if fault:
        raise ImageRefusedError(*fault)
    parts = tuple(Part(**each) for each in document["parts"])
    return Header(
        **{name: document[name] for name in (*TEXTS, *TIMES)},
        labels=document["labels"],
        migrations=tuple(Migration(**each) for each in document["migrations"]),
        parts=parts,
        digest=digest,
        size=len(data),
        authenticated=key is not None,
    )


def _equal(told: object, wanted: str) -> bool:
    return isinstance(told, str) and hmac.compare_digest(told.encode("utf-8", "replace"), wanted.encode())
