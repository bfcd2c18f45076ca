"""What a result's bytes look like: a secret, an injection, a flood of repeats, or nothing of the kind.

A pure look at raw bytes, in that order and linear in them. It normalises nothing and decodes nothing, so a disguised
text passes; it judges what the bytes say and not whether an author meant it.
"""

from __future__ import annotations

import re

from seams.contract.verdict import ReasonCode
from seams.syscall.markers import MARKERS
from seams.syscall.runs import token_text
from seams.syscall.views import lowered

__all__ = ["screen"]

# Five shapes in any case, so they are sought in lower case; the first line of a key file is the one with spaces in it.
_SECRET = re.compile(rb"sk-[a-z0-9]{16}|akia[0-9a-z]{12}|ghp_[a-z0-9]{20}|xox[baprs]-[a-z0-9-]{10}")
_KEY_FILE = re.compile(rb"-----begin [a-z ]*private key-----")
_KEY_FILE_ENDS = b"private key-----"
_CHUNK = 16
_REPEATS = 50
_SHORTEST = 512


def screen(body: bytes, lower: bytes | None = None) -> ReasonCode:
    """SECRET_EXFIL, TRUST_VIOLATION or OVERSIZE for the first finding in that order, else NONE.

    ``lower`` is ``lowered(body)`` for who has it already.
    """
    if lower is None:
        lower = lowered(body)
    if _SECRET.search(token_text(body).lower()) or (_KEY_FILE_ENDS in lower and _KEY_FILE.search(lower)):
        return ReasonCode.SECRET_EXFIL
    if any(marker in lower for marker in MARKERS):
        return ReasonCode.TRUST_VIOLATION
    if len(body) >= _SHORTEST and _repeats(body):
        return ReasonCode.OVERSIZE
    return ReasonCode.NONE


def _repeats(body: bytes) -> bool:
    """Whether the first chunk of 16 bytes stands more than 50 times in a row, on 16-byte boundaries."""
    chunk = body[:_CHUNK]
    at = body.find(chunk * (_REPEATS + 1))
    if at < 0:
        return False
    if at % _CHUNK == 0:
        return True
    # Found off the boundary, which says nothing of the boundaries: count there, once through.
    run = 0
    for begin in range(0, len(body), _CHUNK):
        run = run + 1 if body.startswith(chunk, begin) else 0
        if run > _REPEATS:
            return True
    return False
