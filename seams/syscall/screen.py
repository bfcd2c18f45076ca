"""What a result's bytes look like: a secret, an injection, a flood of repeats, or nothing of the kind.

A pure look at raw bytes, in that order. It normalises nothing and decodes nothing, so a disguised text passes; it
judges what the bytes say and not whether an author meant it.
"""

from __future__ import annotations

import re

from seams.contract.verdict import ReasonCode

__all__ = ["screen"]

_SECRET = re.compile(
    rb"sk-[a-z0-9]{16,}"
    rb"|AKIA[0-9A-Z]{12,}"
    rb"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    rb"|ghp_[A-Za-z0-9]{20,}"
    rb"|xox[baprs]-[A-Za-z0-9-]{10,}",
    re.IGNORECASE,
)
_MARKERS = tuple(
    marker.encode()
    for marker in (
        "ignore previous instructions",
        "ignore all previous",
        "disregard the above",
        "you are now",
        "system override",
        "new instructions:",
        "###system",
        "reveal your system prompt",
        "exfiltrate",
    )
)
_CHUNK = 16
_REPEATS = 50
_SHORTEST = 512


def screen(body: bytes) -> ReasonCode:
    """SECRET_EXFIL, TRUST_VIOLATION or OVERSIZE for the first finding in that order, else NONE."""
    if _SECRET.search(body):
        return ReasonCode.SECRET_EXFIL
    lower = body.lower() if body.isascii() else body.decode(errors="replace").lower().encode()
    if any(marker in lower for marker in _MARKERS):
        return ReasonCode.TRUST_VIOLATION
    if len(body) >= _SHORTEST and _repeats(body):
        return ReasonCode.OVERSIZE
    return ReasonCode.NONE


def _repeats(body: bytes) -> bool:
    """Whether the first chunk of 16 bytes stands more than 50 times in a row, on 16-byte boundaries."""
    run = body[:_CHUNK] * (_REPEATS + 1)
    at = body.find(run)
    while at >= 0:
        if at % _CHUNK == 0:
            return True
        at = body.find(run, at + 1)
    return False
