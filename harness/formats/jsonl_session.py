"""Our own simple session form: JSON Lines, one message a line, ``{"turn": 0, "role": "user", "text": "..."}``.

For sessions that are authored or exported by hand. ``turn`` counts model requests from 0 and never falls: the messages
of a turn are what is new since the request before, so an assistant's answer stands at the head of the next turn. As
with any recording, no text is kept. It refuses to guess tokens: the form has none, so they are unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO

from harness.formats.jsonl import LineLog, first_objects, raw_lines
from harness.formats.limits import Limits, check_depth, read_bounded
from harness.formats.pseudonym import Pseudonyms
from kpis.terms.trace import (
    Issue,
    Node,
    Recording,
    Request,
    Thread,
    ThreadKind,
    Tokens,
    TraceEvent,
    Turn,
    UserKind,
)

__all__ = ["ROLES", "JsonlSession"]

ROLES = ("system", "user", "assistant", "tool")
_OPENED_BY = {"user": UserKind.HUMAN, "tool": UserKind.TOOL, "assistant": UserKind.TOOL, "system": UserKind.SYSTEM}
_MAIN = "main"


class JsonlSession:
    """The reader; ``key`` seeds the pseudonyms (by default the SHA-256 of the bytes read)."""

    name = "jsonl-session"

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` is such a file: the share of lines that are such a message."""
        lines = first_objects(head)
        fitting = sum(1 for raw in lines if _message(raw) is not None)
        named = 0.05 if filename.endswith(".jsonl") else 0.0
        return 0.2 + 0.75 * fitting / len(lines) + named if fitting else 0.0

    def read(self, blob: BinaryIO, limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield the recording, one thread, a turn and a request for each turn, the blocks, and the issues.

        A line that is no such message, or whose turn falls behind, is left out and reported.

        Raises:
            FormatError: the input breaks ``limits``.
        """
        data = read_bounded(blob, limits)
        names = Pseudonyms(sha256(data).digest() if self._key is None else self._key)
        log = LineLog()
        openers: list[str] = []
        nodes: list[Node] = []
        last = -1
        for raw in raw_lines(data, limits, log):
            found = _message(raw.body)
            if found is None or found[0] < last:
                log.bad(raw)
                continue
            turn, role, text = found
            if turn != last:
                openers.append(role)
                last = turn
            step = len(openers) - 1
            body = text.encode("utf-8", "surrogatepass")
            # The request that produced an answer is that of the turn before; an answer in the first turn has none.
            made_by = f"turn-{step - 1}" if role == "assistant" and step else None
            head = names.prompt(body) if role == "user" else names.head(body)
            nodes.append(Node(_MAIN, step, role, len(body), names.digest(body), head, made_by, step))
        yield Recording(self.name, lines=log.lines, bad_lines=log.bad_lines)
        if openers:
            yield Thread(_MAIN, ThreadKind.MAIN)
        for step, role in enumerate(openers):
            yield Turn(_MAIN, step, _OPENED_BY[role])
            yield Request(f"turn-{step}", _MAIN, step, step, Tokens())
        yield from nodes
        yield from log.issues()


def _message(raw: bytes) -> tuple[int, str, str] | None:
    """Turn, role and text of a line, or None. The standard library reads lone surrogates, which files do hold."""
    if raw[:1] != b"{":
        return None
    try:
        check_depth(raw, Limits(), "A line")
        plain = json.loads(raw)
    except (ValueError, RecursionError):  # FormatError is a ValueError
        return None
    turn, role, text = plain.get("turn"), plain.get("role"), plain.get("text")
    if type(turn) is not int or turn < 0 or role not in ROLES or not isinstance(text, str):
        return None
    return turn, role, text
