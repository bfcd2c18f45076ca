"""The events of a session of Claude's managed agents, out of any file that holds them.

They come as a stream (one a line), as pages of a list, or as a log of a client's calls, in which the events that the
client sent stand a second time, without an id, before the server shows them. An event is one by its id. This module
refuses to say what an event means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from harness.formats.pseudonym import safe_name
from harness.formats.span_files import ReadFile
from harness.formats.span_values import payload_of, text_of

__all__ = ["SessionEvent", "SessionState", "events_of"]

_FAMILIES = ("user.", "agent.", "session.", "span.", "system.")
_STREAMED = ("event_start", "event_delta")
_TIMES = ("processed_at", "created_at")


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One event. ``t`` is Unix microseconds, ``at`` the same or, without one, that of the event before it."""

    kind: str
    id: str
    t: int | None
    at: int
    fields: Mapping[str, Any]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session as the server described it at some time; ``t`` in Unix microseconds."""

    t: int
    fields: Mapping[str, Any]
    file: str


def events_of(files: Sequence[ReadFile]) -> tuple[list[SessionEvent], list[SessionState], int]:
    """All events in the order in which they happened, all descriptions by time, and how many events were repeats."""
    found: dict[str, SessionEvent] = {}
    states: list[SessionState] = []
    repeats = 0
    for file in files:
        last = 0
        for line, fields in _rows(file):
            file.numbers.line = line
            kind = text_of(fields.get("type")) or ""
            if kind == "session":
                time = file.numbers.micros(fields.get("updated_at") or fields.get("created_at"))
                states.append(SessionState(time or 0, fields, file.name))
                continue
            if not kind.startswith(_FAMILIES):
                if kind not in _STREAMED:
                    file.unknown_kind(safe_name(kind or next(iter(fields), "empty"), 40))
                continue
            own = text_of(fields.get("id"))
            if own is None and kind.startswith(("user.", "system.")):
                continue  # sent; the server shows it with an id
            t = next((file.numbers.micros(fields[key]) for key in _TIMES if fields.get(key)), None)
            file.seen(t)
            last = last if t is None else t
            event = SessionEvent(kind, own or _digest(fields), t, last, fields, file.name, line)
            known = found.setdefault(event.id, event)
            if known is not event:
                repeats += 1
                # What waits to be processed has no time yet, and comes again with one.
                if known.t is None and t is not None:
                    found[event.id] = event
    ordered = sorted(found.values(), key=lambda each: (each.at, each.file, each.line))
    return ordered, sorted(states, key=lambda each: (each.t, each.file)), repeats


def _digest(fields: Mapping[str, Any]) -> str:
    payload = payload_of(dict(fields))
    return "event-" + blake2b(f"{payload}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _rows(file: ReadFile) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for document in file.documents:
        for place, fields in enumerate(_unwrapped(document.value, file), 1):
            yield (place if document.whole else document.line), fields


def _unwrapped(value: Any, file: ReadFile) -> Iterator[Mapping[str, Any]]:
    """Every object with a type, out of pages, client calls (``[method, payload]``) and server-sent events."""
    if isinstance(value, list):
        called = len(value) == 2 and isinstance(value[0], str)
        for each in value[1:] if called else value:
            if isinstance(each, (list, dict)):
                yield from _unwrapped(each, file)
            else:
                file.unknown_kind(f"<{type(each).__name__}>")
        return
    held = [value[key] for key in ("data", "events") if isinstance(value.get(key), (list, dict))]
    if "type" in value or not held:
        yield value
        return
    for each in held:
        yield from _unwrapped(each, file)
