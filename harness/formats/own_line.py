"""One line of this project's own trace format, as the term that it is: usual values filled in, types held to.

The fields are those of the terms themselves, so a field that is added there is read here. This module refuses to mend:
a wrong type, an unknown word or an impossible number makes the whole line a bad one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from harness.formats.own_lineage import Names
from harness.formats.own_schema import KINDS, MAIN, PARTS, fields_of, own_id
from harness.formats.pseudonym import safe_name
from harness.formats.tool_readings import mutates_of, op_of, polling_of
from harness.formats.whole_json import MOST
from kpis.terms.trace import Event, Provenance, Request, RunFacts, Thread, ToolCall, Turn

__all__ = ["Line", "LineError", "line_of"]

_IDS = (
    "request_id", "call_id", "spawned_by", "arg_digest", "result_digest", "environment_before", "environment_after",
    "case_id",
)  # fmt: skip
_ID_OF: Mapping[type[Any], str] = MappingProxyType({Request: "request_id", ToolCall: "call_id"})
_THREADS = ("thread_id", "parent_thread_id", "spawned_thread")
_NAMES = (
    "model", "provider", "agent", "name", "stop_reason", "error_class", "trigger", "detail", "arm",
    "outcome",  # of a run: a call's is one of a few words, which this leaves as they are
)  # fmt: skip
_TARGET = 1_000
_CLEAN: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {**dict.fromkeys(_IDS, own_id), **dict.fromkeys(_NAMES, safe_name), "target": lambda text: text[:_TARGET]}
)
_SIGNED = frozenset(("exit_code", "score"))
_TIMES = ("t_first", "t_last", "t_start", "t_end", "t")
_KNOWN = {kind: frozenset((*fields_of(term), "type")) for kind, term in KINDS.items()}
_PARTS = {key: frozenset(names) for key, names in PARTS.items()}
_provenances: dict[tuple[tuple[str, str], ...], Mapping[str, Provenance]] = {}


_AT = re.compile(r" - at `\$\.?([\w.\[\]]*)`$")
_EXPECTED = re.compile(r"Expected `([^`]*)`")


class LineError(ValueError):
    """A line that does not hold to the format: the key and what is wrong with it, in no word of the recording's."""


class Line(NamedTuple):
    """``unknown`` are keys that the format does not know. ``identity`` is equal for two lines that say the same.

    Of a request or call: ``made_up``, its id is none of the writer's; ``counted``, its index is none either.
    """

    term: Any
    unknown: list[str]
    times: list[int | None]
    identity: str | None
    made_up: bool = False
    counted: bool = False


def line_of(
    told: dict[str, Any], names: Names, after: dict[tuple[type[Any], str], int], file: str, number: int
) -> Line:
    """The term in ``told``.

    ``names`` says what its threads are called; ``after`` holds the next index of each kind and thread, and is moved.

    Raises:
        LineError: its ``type`` is none of the six, or a type, a word or a number is wrong.
    """
    kind = told.get("type")
    term = KINDS.get(kind) if isinstance(kind, str) else None
    if term is None or not isinstance(kind, str):
        raise LineError(f"its type is none of {', '.join(KINDS)}")
    unknown: list[str] = []
    fields = _without_unknown(told, _KNOWN[kind], kind, unknown)
    del fields["type"]
    made_up = term in _ID_OF and _ID_OF[term] not in fields
    counted = term in _ID_OF and "index" not in fields
    _fill(term, fields, names, after)
    if term is RunFacts:
        fields["file"] = file
    elif term not in (Thread, Turn):
        fields["file"], fields["line"] = file, number
    _safe(fields)
    try:
        made = msgspec.convert(fields, term)
    except (msgspec.ValidationError, RecursionError, TypeError) as error:
        raise LineError(_reason(str(error))) from None
    if isinstance(made, Request):
        made.tokens.provenance = _shared(made.tokens.provenance)
    times = [fields.get(key) for key in _TIMES if key in fields]
    return Line(made, unknown, times, _identity(made, fields, made_up), made_up, counted)


def _reason(said: str) -> str:
    """The key and what it must be, of the decoder's sentence: that may quote the recording."""
    at, expected = _AT.search(said), _EXPECTED.search(said)
    if missing := re.search(r"missing required field `(\w+)`", said):
        return f"{missing[1]} is missing"
    key = at[1] if at is not None and at[1] else "a key"
    return f"{key} must be {expected[1].replace(' | null', '')}" if expected else f"{key} is none of its words"


def _without_unknown(told: dict[str, Any], known: frozenset[str], path: str, unknown: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in told.items():
        if key not in known:
            unknown.append(f"{path}.{key}")
        elif key == "by_model" and isinstance(value, list):
            rows = [each for each in value if isinstance(each, dict)]
            if len(rows) < len(value):
                raise LineError("by_model holds what is no object")
            kept[key] = [_without_unknown(each, _PARTS[key], f"{path}.{key}", unknown) for each in rows]
        elif key == "tokens" and isinstance(value, dict):
            kept[key] = _without_unknown(value, _PARTS[key], f"{path}.{key}", unknown)
        else:
            kept[key] = value
    return kept


def _fill(term: type[Any], fields: dict[str, Any], names: Names, after: dict[tuple[type[Any], str], int]) -> None:
    """Put in what a writer may leave out."""
    if term is RunFacts:
        return
    fields.setdefault("thread_id", MAIN)
    for key in _THREADS:
        name = fields.get(key)
        if name == MAIN:
            fields[key] = names.main
        elif isinstance(name, str):
            fields[key] = own_id(names.prefix + name)
    if term is Thread:
        fields.setdefault("kind", "main")
        if fields["thread_id"] == names.main == fields.get("parent_thread_id"):
            fields["parent_thread_id"] = names.above
    if term in (Thread, Event):
        return
    place = (term, str(fields["thread_id"]))
    index = fields.setdefault("index", after.get(place, 0))
    if isinstance(index, int):
        after[place] = max(after.get(place, 0), index + 1)
    if term is Turn:
        fields.setdefault("user_kind", "human")
    elif term is Request:
        fields.setdefault("request_id", f"{place[1]}#{index}")
        fields.setdefault("turn", 0)
        fields.setdefault("tokens", {})
    elif term is ToolCall:
        fields.setdefault("call_id", f"{place[1]}#call-{index}")
        fields.setdefault("outcome", "unanswered")
        for key in ("request_id", "name"):
            fields.setdefault(key, None)
        name = fields["name"] if isinstance(fields["name"], str) else None
        op = op_of(name)
        if fields.setdefault("op", op.value) == op.value:
            fields.setdefault("mutates", mutates_of(name, op))
            fields.setdefault("polling", polling_of(name))


def _safe(fields: dict[str, Any]) -> None:
    """Hold every number to its range, and keep no text but names and ids.

    What is neither becomes a digest, or loses its unusual characters.
    """
    for key, value in fields.items():
        kind = type(value)
        if kind is str:
            clean = _CLEAN.get(key)
            if clean is not None:
                fields[key] = clean(value)
        elif kind is int or kind is float:
            if not (-MOST if key in _SIGNED else 0) <= value <= MOST:
                raise LineError(f"{key} is no possible number")
        elif kind is dict:
            _safe(value)
        elif key == "by_model" and kind is list:
            for row in value:
                if isinstance(row, dict):  # what else stands there is refused where the types are checked
                    _safe(row)


def _shared(provenance: Mapping[str, Provenance]) -> Mapping[str, Provenance]:
    """One object for equal provenances: a run repeats two or three of them."""
    if not provenance:
        return provenance
    key = tuple(sorted((part, each.value) for part, each in provenance.items()))
    if len(_provenances) < 256:
        return _provenances.setdefault(key, MappingProxyType(dict(provenance)))
    return _provenances.get(key, provenance)


def _identity(term: Any, fields: dict[str, Any], made_up: bool) -> str | None:
    if isinstance(term, Thread):
        return f"thread {term.thread_id}"
    if isinstance(term, Turn):
        return f"turn {term.thread_id} {term.index}"
    if made_up or isinstance(term, RunFacts) or (isinstance(term, Event) and term.t is not None):
        said = {key: value for key, value in fields.items() if key not in ("file", "line")}
        return msgspec.json.encode(said, order="deterministic").decode()
    return None
