"""The words of an injection: sentences that address the model, and the signs of what they are there for.

A look at the views of one body. It says which markers stand in them, whether one was disguised and whether the text
asks for something that leaves the machine; what is done about that is the gate's.
"""

from __future__ import annotations

from typing import NamedTuple

from seams.syscall.views import Views, squeezed

__all__ = ["GENERIC", "MARKERS", "SINKS", "SQUEEZED", "Injection", "injection_in"]

MARKERS = (
    b"ignore previous instructions",
    b"ignore all previous",
    b"disregard the above",
    b"you are now",
    b"system override",
    b"new instructions:",
    b"###system",
    b"reveal your system prompt",
    b"exfiltrate",
)
"""In lower case, as they are sought in a text in lower case."""

GENERIC = frozenset((b"exfiltrate", b"youarenow"))
"""Markers that a text about injections uses as well; by their squeezed spelling."""

SQUEEZED = (
    b"ignorepreviousinstructions",
    b"ignoreallprevious",
    b"disregardtheabove",
    b"systemoverride",
    b"revealyoursystemprompt",
    b"exfiltrate",
    b"ignoreallconstraints",
)
"""Markers that are no accident even where the words run together."""

SINKS = (
    b"send_email",
    b"send email",
    b"email the",
    b"email to",
    b"mail the",
    b"mail to",
    b"http_post",
    b"post it",
    b"post to",
    b"webhook",
    b"http://",
    b"https://",
    b"attacker.",
    b"delete_",
    b"delete all",
    b"delete the",
    b"wipe ",
    b"run_command",
    b"run the",
    b"execute ",
    b"curl ",
    b"wget ",
    b"refund_payment",
    b"transfer_funds",
    b"wire_transfer",
    b"upload ",
)
"""What an injection would have done: something sent, deleted, run or paid."""

_DISCUSSION = (
    b"explains how",
    b"explain how",
    b"explaining how",
    b"discusses",
    b"discuss how",
    b"example of",
    b"for example",
    b"such as",
    b"marker",
    b"detect",
    b"blocks it",
    b"block it",
    b"the gate",
    b"how an attacker",
    b"attacker might",
    b"might exfiltrate",
    b"would exfiltrate",
    b"could exfiltrate",
    b"runbook",
    b"documentation",
    b"this doc",
    b"i.e.",
    b"e.g.",
    b"hypothetical",
    b"if the",
)
_QUOTES = 2  # backticks; a code fence has three


class Injection(NamedTuple):
    """What was found: ``markers`` by their squeezed spelling, so that two spellings of one are one."""

    markers: frozenset[bytes]
    disguised: bool
    """Whether a marker shows in a view and not in the text as it was sent."""
    sink: bool

    @property
    def confident(self) -> bool:
        """Whether it can hardly be an accident: two markers, a disguise, or something to be done."""
        return len(self.markers) > 1 or self.disguised or self.sink


_SPELLING = {marker: squeezed(marker) for marker in MARKERS}
_LOOSE = tuple(marker for marker in MARKERS if _SPELLING[marker] not in SQUEEZED)
"""Markers whose squeezed spelling is no sign; the others stand in no view whose squeezed form lacks them."""


def injection_in(views: Views) -> Injection | None:
    """What the views say; None where they hold no marker, or a generic one alone and openly in a discussion."""
    everywhere = {marker for marker in SQUEEZED if marker in views.squeezed}
    everywhere.update(_SPELLING[marker] for marker in _LOOSE if marker in views.lower)
    if not everywhere:
        return None
    raw = views.raw
    openly = {_SPELLING[marker] for marker in MARKERS if marker in raw}
    if len(everywhere) == 1 and everywhere <= GENERIC & openly and _discusses(raw):
        return None
    return Injection(frozenset(everywhere), not everywhere <= openly, any(hint in raw for hint in SINKS))


def _discusses(raw: bytes) -> bool:
    return raw.count(b"`") >= _QUOTES or any(cue in raw for cue in _DISCUSSION)
