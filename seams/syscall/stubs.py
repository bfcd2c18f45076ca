"""What stands in the context in a body's place: a few words of JSON with an id, and nothing of the body.

They are results like any other to the gates behind, so none of them may read like a finding.
"""

from __future__ import annotations

from seams.syscall.canonical import canonical
from seams.syscall.reasons import reason_name

__all__ = ["page_pointer", "quarantine_stub"]


def quarantine_stub(page: str, length: int, reason: int) -> bytes:
    """In place of a body of ``length`` bytes that was kept out: its id, and the reason by name."""
    return canonical({"_quarantined": True, "id": page, "len": length, "reason": reason_name(reason)})


def page_pointer(ref: str, length: int, hint: str) -> bytes:
    """In place of a body that comes back on demand: what to ask for, and in ``hint`` why it is not here."""
    return canonical({"_paged": True, "hint": hint, "len": length, "ref": ref})
