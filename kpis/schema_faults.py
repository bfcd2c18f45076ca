"""A fault in a KPI file as one sentence: file, line, table, key, and what would be right.

The line is found by looking for the table's header and the key below it, since the TOML reader keeps no positions. It
is left out where it cannot be found (dotted keys, inline tables over several lines); it is never guessed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from kpis.errors import CatalogError, did_you_mean

__all__ = ["line_of", "sentence", "toml_sentence", "unreadable", "utf8_text", "without_echoes"]

_NEXT = "`python -m harness schema kpi` shows every key."
_POINTS = ("params", "gate_point", "replay_params")
_HEADER = re.compile(r"^\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_MOST = 80  # characters of a value that was given: enough to find it again
_TWICE = re.compile(r"Cannot declare \((?P<names>.*)\) twice")


def _parts(header: str) -> tuple[str, ...]:
    """``seam."turn/view"`` as ``("seam", "turn/view")``."""
    try:
        tables = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return ()
    parts: list[str] = []
    while tables:
        (name, tables), *_ = tables.items()
        parts.append(name)
    return tuple(parts)


def line_of(text: str, table: Sequence[str], key: str | None = None) -> int | None:
    """The line, from 1, of ``[table]`` or of ``key`` in it; None where neither is found."""
    inside = False
    found: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            parts = _parts(header[1])
            inside = parts == tuple(table) if len(table) > 1 else parts[:1] == tuple(table)
            if inside and found is None:
                found = number
            if key is not None and parts == (*table, key):
                return number
        elif inside and key is not None and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[.=]""", line):
            return number
    return found


def _where(path: str, line: int | None) -> str:
    return _visible(f"{path}, line {line}" if line else path)


def _visible(text: str) -> str:
    """``text`` on one line, each character that is not visible written as TOML writes it."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _shown(given: object) -> str:
    try:
        text = repr(given)
    except ValueError:  # hexadecimal may have more digits than the standard library turns into decimal ones
        return "a number of so many digits"
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def unreadable(path: str, why: str) -> str:
    """The sentence for a file as a whole, where no line can be named."""
    return f"{_where(path, None)} cannot be read as TOML: {why}; correct it, then run `python -m harness list`."


def utf8_text(path: str, text: str | bytes) -> str:
    """``text``, decoded where it is bytes.

    Raises:
        CatalogError: it is not UTF-8, and the sentence names the line; or it begins with a byte order mark.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
    except UnicodeDecodeError as error:
        where = _where(path, error.object.count(b"\n", 0, error.start) + 1)
        again = "save it as UTF-8, then run `python -m harness list`."
        raise CatalogError([f"{where}: this is not UTF-8 text; {again}"]) from None
    if decoded.startswith("\ufeff"):
        where = _where(path, 1)
        again = "save it without, then run `python -m harness list`."
        raise CatalogError([f"{where}: a byte order mark begins the file, and TOML has none; {again}"])
    return decoded


def toml_sentence(path: str, text: str, error: tomllib.TOMLDecodeError) -> str:
    """Why ``text`` is no TOML at all, or declares a table twice."""
    message = str(error)
    position = re.search(r" \(at line (\d+), column \d+\)$", message)
    # Without a position the fault is at the end of the text.
    where = _where(path, int(position[1]) if position else text.count("\n") + 1)
    cause = message[: position.start()] if position else message.removesuffix(" (at end of document)")
    if cause == "Cannot overwrite a value":
        return f"{where}: a key is given twice; keep one of the two; {_NEXT}"
    twice = _TWICE.match(cause)
    if twice:
        table = ".".join(name.strip(" '\"") for name in twice["names"].split(",") if name.strip())
        return f"{where}: the table [{_visible(table)}] is declared twice; give one of them another name; {_NEXT}"
    cause = _visible(cause[:1].lower() + cause[1:])
    return f"{where}: this is not TOML: {cause}; correct it, then run `python -m harness list`."


def sentence(path: str, text: str, fault: Mapping[str, Any], fields: Mapping[str, Sequence[str]]) -> str:
    """One fault, in pydantic's shape (``type``, ``loc``, ``msg``, ``input``, ``ctx``), as a sentence.

    ``fields`` maps ``kpi``, ``seam`` and ``retired`` to the keys that such a table may have.
    """
    loc = [str(part) for part in fault["loc"] if part != "[key]"]
    kind, table, key = loc[0] if loc else "", loc[:2], loc[2] if len(loc) > 2 else None
    cause = str(fault["msg"])
    if fault["type"] == "value_error" and ": " in cause:  # a rule of the row: "Value error, unit: a rate is in ratio"
        key, _, cause = cause.removeprefix("Value error, ").partition(": ")
    name = f"[{_quoted(table)}]" if len(table) == 2 else f"[{kind}]"
    line = line_of(text, table, key) if table else None
    what = _what(name, kind, key, loc, fault, cause, fields)
    return f"{_where(path, line)}: {_visible(what)}; {_NEXT}"


def without_echoes(faults: Sequence[Mapping[str, Any]], fields: Mapping[str, Sequence[str]]) -> list[Mapping[str, Any]]:
    """``faults`` without what one slip says twice.

    That is the missing key that an unknown key was meant to be, and every value but the first of a parameter whose
    values are no strings, or empty ones; of those that are none, the one that stays has all of them as its input.
    """
    meant = {
        (*fault["loc"][:-1], known)
        for fault in faults
        if fault["type"] == "extra_forbidden" and len(fault["loc"]) > 1
        for known in fields.get(str(fault["loc"][0]), ())
        if did_you_mean(str(fault["loc"][-1]), fields[str(fault["loc"][0])]) == f" (did you mean {known}?)"
    }
    kept: list[Mapping[str, Any]] = []
    unquoted: dict[tuple[Any, ...], list[Any]] = {}
    empty: set[tuple[Any, ...]] = set()
    for fault in faults:
        loc = tuple(fault["loc"])
        if fault["type"] == "missing" and loc in meant:
            continue
        if fault["type"] == "string_type" and len(loc) == 5 and loc[2] == "params":
            values = unquoted.setdefault(loc[:4], [])
            values.append(fault["input"])
            if len(values) > 1:
                continue
            fault = {**fault, "loc": loc[:4], "input": values}  # noqa: PLW2901 - the list goes on growing
        if fault["type"] == "string_too_short" and len(loc) == 5 and loc[2] == "params":
            if loc[:4] in empty:
                continue
            empty.add(loc[:4])
        if fault["type"] != "too_short" or loc not in {*unquoted, *empty}:  # refused values are missing from the list
            kept.append(fault)
    return kept


def _plain(given: Any) -> bool:
    values = given if isinstance(given, list) else [given]
    return all(isinstance(value, int | float | str) for value in values)


def _quoted(table: Sequence[str]) -> str:
    return ".".join(part if re.fullmatch(r"[\w-]+", part) else f'"{part}"' for part in table)


def _what(
    name: str,
    kind: str,
    key: str | None,
    loc: Sequence[str],
    fault: Mapping[str, Any],
    cause: str,
    fields: Mapping[str, Sequence[str]],
) -> str:
    given = fault.get("input")
    match fault["type"]:
        case "extra_forbidden" if len(loc) == 1:
            return f"there is no table {name}{did_you_mean(kind, fields)}"
        case "extra_forbidden":
            return f"{name} has the unknown key {key}{did_you_mean(str(key), fields.get(kind, ()))}"
        case "missing":
            return f"{name} has no {key}, which every {'retired KPI' if kind == 'retired' else kind} needs"
        case "enum":
            words = re.findall(r"'([^']+)'", str(fault["ctx"]["expected"]))
            guess = did_you_mean(str(given), words)
            return f"{name} has the unknown {key} {_shown(given)}{guess}; it is one of {', '.join(words)}"
        case "string_pattern_mismatch" if "[key]" in fault["loc"]:
            letters = "begin with a small letter and have letters, digits and _ only"
            shape = "read floor/room in small letters" if kind == "seam" else letters
            return f"{name}: the name {_shown(given)} must {shape}"
        case "string_pattern_mismatch" if key == "probe":
            return f"{name} has the probe {_shown(given)}, which must read module:Name"
        case "string_pattern_mismatch" if key == "replacement":
            return f"{name}: {key} must not read {_shown(given)}; it is the id of a KPI"
        case "date_type":
            return f"{name}: {key} cannot be {_shown(given)}; it is a TOML date without quotes, as 2031-01-31"
        case "string_pattern_mismatch":
            return f"{name}: {key} must not read {_shown(given)}; a seam reads floor/room in small letters"
        case "value_error" | "clash":
            return f"{name}: {f'{key}: ' if fault['type'] == 'value_error' and key else ''}{cause}"
        case "string_too_short" if key == "params":
            return f"{name}: {'.'.join(loc[2:4])} has an empty value, which no command line can name: give it a name"
        case "string_type" | "tuple_type" if key in _POINTS and _plain(given):
            values = given if isinstance(given, list) else [given]
            quoted = ", ".join(f'"{str(value).lower() if isinstance(value, bool) else value}"' for value in values)
            if key != "params":
                return f"{name}: {'.'.join(loc[2:4])} must be a string: write it as {quoted}"
            return f"{name}: {'.'.join(loc[2:4])} must be a list of strings: write its values as {quoted}"
        case _:
            inner = ".".join(loc[2:]) or kind
            return f"{name}: {inner} cannot be {_shown(given)} ({cause[:1].lower()}{cause[1:]})"
