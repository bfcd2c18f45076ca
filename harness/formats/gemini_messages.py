"""The messages of one Gemini session, as they stand after every change that its file records.

A file is one object with messages, or a log: a row with a known id replaces the message, ``$set`` changes the session
or replaces all messages, ``$rewindTo`` takes back a message and what follows. What is taken back was paid, so it is
kept and marked. A checkpoint that brings new messages in the place of old ones is a compaction. This module refuses to
know what a message means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.formats.whole_json import as_dict, as_list, as_ms, as_str

__all__ = ["Change", "Message", "Messages"]


@dataclass(slots=True, eq=False)
class Message:
    """One message: its fields as last written, where it first stands, and whether the conversation still holds it."""

    fields: dict[str, Any]
    line: int
    file: str
    kept: bool = True
    n_lines: int = 1


@dataclass(frozen=True, slots=True)
class Change:
    """Something that befell the conversation: it was compacted, or went back."""

    compaction: bool
    t: int | None
    line: int
    file: str


@dataclass(slots=True)
class Messages:
    """The messages of one session, over all files that tell of it. ``about`` is what the session says of itself."""

    by_id: dict[str, Message] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    unknown: list[object] = field(default_factory=list)
    _last: int | None = None

    def __iter__(self) -> Iterator[Message]:
        return iter(self.by_id.values())

    def record(self, told: Mapping[str, Any], line: int, file: str) -> None:
        """One value of a file."""
        if "$rewindTo" in told:
            self._rewind(as_str(told.get("$rewindTo")) or "", line, file)
        elif isinstance(told.get("$set"), dict):
            changed = as_dict(told.get("$set"))
            self._describe(changed)
            if isinstance(changed.get("messages"), list):
                self._checkpoint(as_list(changed.get("messages")), line, file)
        elif isinstance(told.get("messages"), list) or ("sessionId" in told and "type" not in told):
            self._describe(told)
            for at, each in enumerate(as_list(told.get("messages")), 1):
                self._put(as_dict(each), at, file)
        elif "id" in told:
            self._put(told, line, file)
        else:
            self.unknown.append(told.get("type"))

    def _describe(self, told: Mapping[str, Any]) -> None:
        self.about.update((key, value) for key, value in told.items() if key != "messages")

    def _put(self, told: Mapping[str, Any], line: int, file: str) -> str:
        identifier = as_str(told.get("id")) or f"#{file}:{line}:{len(self.by_id)}"
        t = as_ms(told.get("timestamp"))
        self._last = self._last if t is None else t
        known = self.by_id.get(identifier)
        if known is None:
            self.by_id[identifier] = Message(dict(told), line, file)
            return identifier
        # A later row may have been written before the usage came, or with results left out.
        given = {key: value for key, value in told.items() if value is not None}
        calls = _merged(as_list(known.fields.get("toolCalls")), as_list(told.get("toolCalls")))
        known.fields.update(given)
        if calls:
            known.fields["toolCalls"] = calls
        known.n_lines += known.file == file
        known.kept = True
        return identifier

    def _rewind(self, identifier: str, line: int, file: str) -> None:
        """Take back ``identifier`` and what follows; where it is unknown, everything."""
        found = self.by_id.get(identifier)
        back = found is None or not found.kept
        for each, message in self.by_id.items():
            back = back or each == identifier
            message.kept = message.kept and not back
        self.changes.append(Change(False, self._last, line, file))

    def _checkpoint(self, told: list[Any], line: int, file: str) -> None:
        before = {each for each, message in self.by_id.items() if message.kept}
        now = [self._put(each, line, file) for each in map(as_dict, told)]
        gone = before.difference(now)
        if not gone:
            return
        compacted = any(each not in before for each in now)
        self.changes.append(Change(compacted, self._last, line, file))
        for each in gone:
            self.by_id[each].kept = compacted


def _merged(old: list[Any], new: list[Any]) -> list[Any]:
    """The calls of a message after a row that may tell more of them, or may have lost some."""
    by_id: dict[object, dict[str, Any]] = {}
    for at, each in enumerate([*old, *new]):
        call = as_dict(each)
        key = as_str(call.get("id")) or f"#{at}"
        by_id[key] = {**by_id.get(key, {}), **{name: value for name, value in call.items() if value is not None}}
    return list(by_id.values())
