"""Load a workload from a file: the one place of the formats that touches the disk.

It looks before it opens (a pipe or a device is never read, an oversized file never loaded) and turns every fault into
one sentence. It refuses to load half a workload: what can be used comes with the issues found, the rest is an error.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from harness.formats.claude_code import ClaudeCode
from harness.formats.detect import Known, detect, head_of
from harness.formats.jsonl_session import JsonlSession
from harness.formats.limits import FormatError, Limits, printable
from harness.formats.session_data import session_data
from harness.formats.toolcalls import read_tool_calls
from harness.formats.trace_build import build, totals
from harness.measure.clock import Workload
from harness.report.naming import typed

__all__ = ["LoadedWorkload", "load", "workload_from"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_NAME_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class LoadedWorkload:
    """A workload, what the run file says of it, and what was wrong with the file, in sentences.

    ``facts`` are counts; token totals among them are the recording's own and stand under ``basis: reported``.
    """

    workload: Workload
    facts: Mapping[str, Any]
    issues: tuple[str, ...] = ()


def load(path: Path, limits: Limits | None = None) -> LoadedWorkload:
    """Read the recorded run at ``path``.

    The name is the file's stem, made safe, with the first 8 digits of the content's SHA-256: files of one stem never
    share a name, and a changed file is another workload.

    Raises:
        FormatError: the file cannot be read or used; one sentence that names it, with the next command to type.
    """
    limits = limits or Limits()
    shown = printable(str(path), 200)
    # A name that begins with a hyphen would be taken for an option.
    named = f"./{path}" if str(path).startswith("-") else str(path)
    data = _contents(path, shown, typed(named), limits)
    return workload_from(data, path.name, shown, limits, source="replay", path=named)


def _contents(path: Path, shown: str, quoted: str, limits: Limits) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FormatError(f"{shown} is a folder; name one recorded run in it. See: ls {quoted}")
        if not stat.S_ISREG(status.st_mode):
            raise FormatError(f"{shown} is no regular file. Copy what it yields into one: cat {quoted} > run.jsonl")
        if status.st_size > limits.max_bytes:
            raise FormatError(
                f"{shown} is {status.st_size:,} bytes, more than the {limits.max_bytes:,} that are read. "
                f"Cut it: head -c {limits.max_bytes} {quoted} > part.jsonl"
            )
        with path.open("rb") as file:
            data = file.read(limits.max_bytes + 1)  # it may have grown since
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or "no such name is possible"
        raise FormatError(f"{shown} cannot be read: {printable(reason)}. See: ls -l {quoted}") from None
    if len(data) > limits.max_bytes:
        raise FormatError(f"{shown} is growing beyond {limits.max_bytes:,} bytes. Copy it first: cp {quoted} run.jsonl")
    return data


def workload_from(
    data: bytes, filename: str, shown: str, limits: Limits, source: str, path: str | None = None
) -> LoadedWorkload:
    """The workload in ``data``; ``shown`` is how sentences name the file, ``source`` is ``replay`` or ``synthetic``.

    ``path`` is where advice finds the file, if not at ``shown``.

    Raises:
        FormatError: as :func:`load`.
    """
    path = shown if path is None else path
    look = f"Look at it with: head -c 300 {typed(path)}"
    if not data.strip(b"\0 \t\r\n"):
        if b"\0" in data:  # a hole that a crash left, or a disk image
            raise FormatError(f"{shown} is binary: it holds NUL bytes and no text. See: od -c {typed(path)} | head")
        raise FormatError(f"{shown} is empty. See: ls -l {typed(path)}")
    _utf8_or_refuse(data, shown, typed(path))
    digest = sha256(data).hexdigest()
    try:
        known = _known(data, shown, limits)
        if known is Known.TOOL_CALLS:
            calls = read_tool_calls(data, shown, limits, path)
            return _loaded(filename, "calls", digest, source, calls, _call_facts(calls), ())
        reader = ClaudeCode() if known is Known.CLAUDE_CODE else JsonlSession()
        trace = build(reader.read(BytesIO(data), limits))
    except FormatError as error:
        named = str(error) if str(error).startswith(shown) else f"{shown}: {error}"
        raise FormatError(named if ": python -m " in named else f"{named} {look}") from None
    session = session_data(trace)
    if not session["facts"]["messages"]:
        raise FormatError(f"{shown} holds no prompt and no result, so there is no turn to replay. {look}")
    facts = {"format": known.value, **totals(trace), **session["facts"]}
    if known is Known.JSONL_SESSION:
        facts["tool_calls"] = None  # the form records results, not calls
    issues = tuple(f"{shown}: {issue.code.value}: {issue.message}" for issue in trace.issues)
    return _loaded(filename, "session", digest, source, session, facts, issues)


def _known(data: bytes, shown: str, limits: Limits) -> Known:
    try:
        return detect(head_of(data, limits), shown)
    except FormatError:
        first = data.find(b"\n") + 1 or len(data)
        if first > limits.max_line:
            raise FormatError(
                f"{shown}: line 1 is {first:,} bytes, more than the {limits.max_line:,} that are read of a line."
            ) from None
        raise


def _utf8_or_refuse(data: bytes, shown: str, quoted: str) -> None:
    """Refuse what is not UTF-8, except in an unfinished last line, which the readers of lines know to leave out."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start <= data.rfind(b"\n") or data.find(b"\n") < 0:
            line = data.count(b"\n", 0, error.start) + 1
            marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
            encoding, guess = ("UTF-16", "Convert it") if marked else ("LATIN1", "If it is Latin-1, convert it")
            raise FormatError(
                f"{shown} is not UTF-8 text: byte {error.start}, on line {line}, is not. "
                f"{guess}: iconv -f {encoding} -t UTF-8 {quoted} > run.jsonl"
            ) from None


def _call_facts(calls: Mapping[str, Any]) -> dict[str, Any]:
    tools = {call["tool"] for call in calls["calls"]}
    return {
        "format": Known.TOOL_CALLS.value,
        "tool_calls": len(calls["calls"]),
        "tools": len(tools),
        "calls_with_class": sum(1 for call in calls["calls"] if call["class"] is not None),
        "world": calls["world"],
    }


def _loaded(
    filename: str,
    kind: str,
    digest: str,
    source: str,
    data: Mapping[str, Any],
    facts: Mapping[str, Any],
    issues: tuple[str, ...],
) -> LoadedWorkload:
    stem = _UNSAFE.sub("-", Path(filename).stem).strip("-.")[:_NAME_CHARACTERS] or "workload"
    name = stem if source == "synthetic" else f"{stem}-{digest[:8]}"
    return LoadedWorkload(Workload(name, kind, digest, source, data), facts, issues)
