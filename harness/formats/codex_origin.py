"""Which session a rollout is of, and whose child that session is.

A session names its parent in one of several fields, by build: ``forked_from_id``, ``parent_thread_id``, inside
``source``, or by a ``session_id`` that is not its own id. A fork repeats its parent's lines, the parent's description
among them, so only the first description of a file is its own. This module refuses to look at anything but the head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from harness.formats.codex_lines import BadLineError, decode, plain
from harness.formats.codex_shapes import Bare, Item, Line
from harness.formats.codex_stream import ZSTD, unpacked_head
from harness.formats.jsonl import first_objects
from harness.formats.limits import Limits
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin
from harness.formats.session_numbers import unix_ms
from kpis.terms.trace import ThreadKind

__all__ = ["ENVELOPES", "Session", "described", "named_session", "origin_of", "sniffed", "worked_on"]

ENVELOPES = frozenset(
    {"compacted", "event_msg", "response_item", "session_meta", "state", "token_usage_record", "turn_context"}
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FILE = re.compile(r"rollout-.*\.jsonl(?:\.zst)?$")
_LONG_META = re.compile(rb'\s*\{"timestamp":"[^"]{0,64}","type":"session_meta","payload":\{')
_FIELD = '"%s":"([^"\\\\]{1,128})"'
_PARENTS = ("forked_from_id", "parent_thread_id")


@dataclass(frozen=True, slots=True)
class Session:
    """What the description of a session says. ``parent`` is None where it has none, or does not name it."""

    thread_id: str
    kind: ThreadKind = ThreadKind.MAIN
    parent: str | None = None
    agent: str | None = None
    started: int | None = None
    version: str | None = None
    project: str | None = None
    branch: str | None = None
    provider: str | None = None


def _spawned(source: object) -> tuple[ThreadKind | None, str | None]:
    """Kind and parent that ``source`` tells of, each None where it does not."""
    if not isinstance(source, dict):
        return None, None
    sub = source.get("subagent", source.get("sub_agent", source.get("subAgent")))
    if isinstance(sub, str):
        return {"review": ThreadKind.REVIEW, "compact": ThreadKind.SUMMARISER}.get(sub, ThreadKind.SUBAGENT), None
    if not isinstance(sub, dict):
        return None, None
    inner = next((value for value in sub.values() if isinstance(value, dict)), {})
    parent = inner.get("parent_thread_id")
    return ThreadKind.SUBAGENT, parent if isinstance(parent, str) else None


def described(line: Line, item: Item) -> Session | None:
    """The session that a ``session_meta`` line describes; None where it has no id."""
    if not item.id:
        return None
    kind, parent = _spawned(plain(item.source))
    beside = item.session_id if item.session_id != item.id else None
    if kind is None and (item.parent_thread_id or beside or plain(item.thread_source) == "subagent"):
        kind = ThreadKind.SUBAGENT
    if item.forked_from_id and kind is None:
        kind = ThreadKind.FORK
    parent = item.forked_from_id or item.parent_thread_id or parent or beside
    project, branch = worked_on(item)
    began = unix_ms(item.timestamp)
    return Session(
        safe_id(item.id),
        kind or ThreadKind.MAIN,
        safe_id(parent) if parent and parent != item.id else None,
        safe_name(item.agent_role) if item.agent_role else None,
        unix_ms(line.timestamp) if began is None else began,
        safe_name(item.cli_version, 40) if item.cli_version else None,
        project,
        branch,
        safe_name(item.model_provider, 40) if item.model_provider else None,
    )


def worked_on(item: Item) -> tuple[str | None, str | None]:
    """The project, which is the last part of the working directory, and its branch; None where it does not say."""
    folder = re.split(r"[/\\]", (item.cwd or "").rstrip("/\\"))[-1]
    branch = item.git.branch if item.git is not None else None
    return safe_name(folder) if folder else None, safe_name(branch) if branch else None


def named_session(filename: str) -> str | None:
    """The session's id in a file's name, where it has one."""
    found = _UUID.findall(filename.rpartition("/")[2])
    return found[-1] if found else None


def _lines(head: bytes) -> list[Line]:
    found: list[Line] = []
    for raw in first_objects(head):
        try:
            found.append(decode(raw, Limits())[0])
        except BadLineError:
            continue
    return found


def _cut_short(head: bytes) -> Session | None:
    """What the beginning of a description says whose end is beyond the head: instructions make it long."""
    start = _LONG_META.match(head)
    if start is None:
        return None

    def value(name: str) -> str | None:
        found = re.search((_FIELD % name).encode("ascii"), head[start.end() - 1 :])
        return None if found is None else safe_id(found[1].decode("utf-8", "replace"))

    own = value("id")
    if own is None:
        return None
    parent = next((given for given in map(value, _PARENTS) if given not in (None, own)), None)
    return Session(own, parent=parent, started=unix_ms(value("timestamp")))


def origin_of(head: bytes, filename: str) -> Origin:
    """Which run the file that begins with ``head`` belongs to: its own session, and its parent's."""
    body = unpacked_head(head)
    lines = _lines(body)
    session = None
    for line in lines[:1]:
        if line.type == "session_meta" and line.payload is not None:
            session = described(line, line.payload)
    if session is None:
        session = _cut_short(body)
    if session is not None:
        return Origin(session.thread_id, session.parent, session.started)
    started = next((when for line in lines if (when := unix_ms(line.timestamp)) is not None), None)
    return Origin(named_session(filename) or "codex-" + blake2b(body, digest_size=8).hexdigest(), None, started)


def sniffed(head: bytes, filename: str) -> float:
    """How sure the file that begins with ``head`` is a rollout: 0 to 1."""
    named = 0.05 if _FILE.search(filename) else 0.0
    body = unpacked_head(head)
    if not body and head.startswith(ZSTD):
        return 0.6 if named else 0.0  # there is no decoder, and reading it will say so
    lines = _lines(body)
    if not lines:
        return 0.9 + named if _LONG_META.match(body) else 0.0
    first, others = lines[0], lines[1:]
    if isinstance(first, Bare):
        # A bare description has an id, a time and little else, as lines of other files may: what follows decides.
        if first.type != "session_meta" or any(not isinstance(line, Bare) for line in others):
            return 0.0
        fitting = sum(line.type in ("response_item", "state") for line in others)
        return 0.2 + 0.7 * fitting / len(others) + named if fitting else 5 * named
    fitting = sum(line.type in ENVELOPES and line.payload is not None for line in lines)
    return min(1.0, 0.3 + 0.65 * fitting / len(lines) + named) if fitting else 0.0
