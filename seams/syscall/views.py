"""Canonical views of a result: the same bytes as somebody would read them who undoes a disguise.

It makes copies and never touches the body. A view is normalised (invisible characters dropped, look-alikes folded),
decoded (the base64 and hex in it), or reversed; each of them is also squeezed to its letters and digits. Encodings are
undone once: what a decoded text encodes in turn is not looked into. Every step is one pass, so the work is linear in
the body, whatever is in it.

What is sought in a view is ASCII, so views are UTF-8 bytes; a byte that is no UTF-8 reads as U+FFFD.
"""

from __future__ import annotations

import binascii
import re
from typing import NamedTuple

from seams.syscall.runs import ALNUM, long_runs, mask_of

__all__ = ["DECODED_FROM", "Views", "decoded", "lowered", "normalised", "squeezed", "views_of"]

DECODED_FROM = 16
"""The shortest run of an alphabet, in characters, that is taken for an encoding."""

_LONGER_THAN = 3
_PRINTABLE = 0.9

# Zero-width and joining characters, soft hyphen, byte-order mark; embeddings, isolates and marks of direction;
# variation selectors of both planes.
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)
_LOOK_ALIKES = {
    # Cyrillic, small
    "\u0430": "a",
    "\u0435": "e",
    "\u043e": "o",
    "\u0440": "p",
    "\u0441": "c",
    "\u0443": "y",
    "\u0445": "x",
    "\u0456": "i",
    "\u0455": "s",
    "\u0458": "j",
    "\u0501": "d",
    "\u04cf": "l",
    "\u051b": "q",
    "\u051d": "w",
    # Cyrillic, capital
    "\u0405": "S",
    "\u0406": "I",
    "\u0408": "J",
    "\u0410": "A",
    "\u0412": "B",
    "\u0415": "E",
    "\u041a": "K",
    "\u041c": "M",
    "\u041d": "H",
    "\u041e": "O",
    "\u0420": "P",
    "\u0421": "C",
    "\u0422": "T",
    "\u0423": "Y",
    "\u0425": "X",
    # Armenian and Greek
    "\u0578": "n",
    "\u03b1": "a",
    "\u03b5": "e",
    "\u03b9": "i",
    "\u03bd": "v",
    "\u03bf": "o",
    "\u03c1": "p",
    "\u03c4": "t",
    "\u03c5": "u",
    "\u03f2": "c",
}
_IDEOGRAPHIC_SPACE = "\u3000"
# U+FF01 to U+FF5E stand for U+0021 to U+007E, in the same order.
_FULL_WIDTH = {chr(0xFF00 + offset): chr(0x20 + offset) for offset in range(1, 0x5F)}
_FOLDS = {**_LOOK_ALIKES, **_FULL_WIDTH, _IDEOGRAPHIC_SPACE: " "}
_FOLDED = re.compile(f"[{''.join(_FOLDS)}]")


_HEX_MASK = mask_of(b"0123456789abcdefABCDEF")
_BASE64_MASK = mask_of(ALNUM + b"+/")
_NOT_SQUEEZED = bytes(byte for byte in range(256) if byte not in ALNUM.lower())
_CONTROLS = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\n\r")


class Views(NamedTuple):
    """All that is looked at of one body. Views lie one after another, parted by a NUL, so that each is one search."""

    raw: bytes
    """The body itself, lower-cased."""
    text: bytes
    """The body and every view of it, in its own case."""
    lower: bytes
    """The same, lower-cased."""
    squeezed: bytes
    """The letters and digits of each view, lower-cased."""


def lowered(body: bytes) -> bytes:
    """``body`` in lower case, as text: a capital outside ASCII may have a small letter inside it."""
    return body.lower() if body.isascii() else body.decode(errors="replace").lower().encode()


def normalised(text: str) -> str:
    """``text`` without invisible characters, its look-alikes and wide forms folded to ASCII."""
    visible = _INVISIBLE.sub("", text)
    return _FOLDED.sub(lambda found: _FOLDS[found[0]], visible)


def decoded(body: bytes) -> bytes:
    """What the base64 and hex runs in ``body`` say, one after another and parted by a NUL; binary data is left out.

    Padding may be missing, and what is too short to stand for a byte is dropped from a run's end.
    """
    runs = [body[begin:end] for begin, end in long_runs(body.translate(_BASE64_MASK), DECODED_FROM)]
    if not runs:  # a run of hex digits is one of base64 too
        return b""
    found = [_legible(binascii.a2b_base64(_padded(run))) for run in runs]
    for begin, end in long_runs(body.translate(_HEX_MASK), DECODED_FROM):
        found.append(_legible(binascii.unhexlify(body[begin : end - (end - begin) % 2])))
    return b"\0".join(filter(None, found))


def squeezed(lower: bytes) -> bytes:
    """The ASCII letters and digits of a text that is already in lower case."""
    return lower.translate(None, _NOT_SQUEEZED)


def views_of(body: bytes) -> Views:
    """Every view of ``body``. A text in plain ASCII is its own normalised view and is not looked at twice."""
    raw = lowered(body)
    if body.isascii():
        plain, plain_lower = body, raw
        views = [decoded(body), body[::-1]]
        lower = [lowered(views[0]), raw[::-1]]
    else:
        text = normalised(body.decode(errors="replace"))
        plain, plain_lower = text.encode(), text.lower().encode()
        views = [plain, decoded(body), decoded(plain), plain[::-1]]
        lower = [plain_lower, lowered(views[1]), lowered(views[2]), plain_lower[::-1]]
    return Views(
        raw,
        b"\0".join([body, *views]),
        b"\0".join([raw, *lower]),
        b"\0".join(map(squeezed, [raw, *lower])),
    )


def _padded(run: bytes) -> bytes:
    """A base64 run at a length that decodes: a lone last character stands for less than a byte and is dropped."""
    over = len(run) % 4
    return run[:-1] if over == 1 else run + b"=" * (-over % 4)


def _legible(data: bytes) -> bytes:
    """``data`` if it reads as text: longer than 3 bytes and at least nine tenths printable; else nothing."""
    if len(data) <= _LONGER_THAN:
        return b""
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if data.isascii():
        length, bad = len(data), controls
    else:
        text = data.decode(errors="replace")
        length, bad = len(text), controls + text.count("\ufffd")
    return data if length - bad >= _PRINTABLE * length else b""
