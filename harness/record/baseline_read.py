"""Reads a baseline file strictly: whatever it holds beyond what was agreed is one sentence, and nothing is guessed.

A record decides for months what may pass, and people edit and merge it; so an unknown key, a number that is none, a
conflict that nobody resolved and a file of a later version each have a sentence that names the place and the way out.
"""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any, TypeVar

from harness.record.baseline import MOST_SESSIONS, SCHEMA, BaselineFile, Moved, Row, Session, Waiver
from harness.record.plain import fits
from harness.record.run import Mode
from harness.record.store import StoreError
from kpis.errors import did_you_mean
from kpis.terms.kpi import Direction, Estimand, Gate
from kpis.terms.quantity import Unit

__all__ = ["BaselineError", "decode"]

_CONFLICT = re.compile(rb"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
_RUN = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MISSING = object()

Kind = TypeVar("Kind", bound=Enum)


class BaselineError(StoreError):
    """A record that cannot be used; one sentence that names the file and the place, with the next command to type."""


class _Wrong(Exception):  # noqa: N818 - carried to the one place that knows the file's name
    """What is wrong, and where in the file."""


class _Table:
    """One table of the file: each key is taken once, and what was not taken is unknown."""

    def __init__(self, where: str, table: Any) -> None:
        if not isinstance(table, dict):
            raise _Wrong(f"{where} has to be a table")
        self.where = where
        self._left = dict(table)
        self._known: list[str] = []

    def take(self, key: str, read: Callable[[str, Any], Any], default: Any = _MISSING) -> Any:
        self._known.append(key)
        if key not in self._left:
            if default is _MISSING:
                raise _Wrong(f"{self.where} has no {key}")
            return default
        return read(f"{self.where}.{key}", self._left.pop(key))

    def end(self) -> None:
        for key in self._left:
            raise _Wrong(f"{self.where} has the unknown key {key!r}{did_you_mean(key, self._known)}")


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong(f"{where} has to be a text that is not empty")
    return value


def _matching(pattern: re.Pattern[str], what: str) -> Callable[[str, Any], str]:
    def read(where: str, value: Any) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise _Wrong(f"{where} has to be {what}")
        return value

    return read


def _number(where: str, value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong(f"{where} has to be a number")
    if not fits(value):
        raise _Wrong(f"{where} does not fit into 64 bits")
    if not math.isfinite(value):
        raise _Wrong(f"{where} is {value!r}, which is not a finite number")
    return value


def _positive(where: str, value: Any) -> float:
    number = _number(where, value)
    if number <= 0:
        raise _Wrong(f"{where} is {number!r}, and a time is above zero")
    return float(number)


def _count(where: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Wrong(f"{where} has to be a whole number that is not negative")
    if not fits(value):
        raise _Wrong(f"{where} does not fit into 64 bits")
    return value


def _at_least_one(where: str, value: Any) -> int:
    if _count(where, value) == 0:
        raise _Wrong(f"{where} is 0, and there is at least one")
    return int(value)


def _day(where: str, value: Any) -> date:
    if type(value) is not date:  # a time of day is a date to Python as well
        raise _Wrong(f"{where} has to be a date like 2031-01-31, without quotes")
    return value


def _one_of(kind: type[Kind]) -> Callable[[str, Any], Kind]:
    def read(where: str, value: Any) -> Kind:
        try:
            return kind(value)
        except ValueError:
            raise _Wrong(f"{where} is {value!r}; known are {', '.join(str(item.value) for item in kind)}") from None

    return read


def _facts(where: str, value: Any) -> dict[str, str | int]:
    if not isinstance(value, dict):
        raise _Wrong(f"{where} has to be a table")
    for key, fact in value.items():
        if isinstance(fact, bool) or not isinstance(fact, str | int):
            raise _Wrong(f"{where}.{key} has to be a text or a whole number")
        if not fits(fact):
            raise _Wrong(f"{where}.{key} does not fit into 64 bits")
    return value


def _histogram(where: str, value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        raise _Wrong(f"{where} has to be a table")
    return {key: _count(f"{where}.{key}", count) for key, count in value.items()}


def _waiver(where: str, value: Any) -> Waiver:
    table = _Table(where, value)
    found = Waiver(table.take("why", _text), table.take("until", _day))
    table.end()
    return found


def _moved(where: str, value: Any) -> Moved:
    table = _Table(where, value)
    found = Moved(table.take("why", _text), table.take("on", _day))
    table.end()
    return found


def _sessions(timed: bool) -> Callable[[str, Any], tuple[Session, ...]]:
    def read(where: str, value: Any) -> tuple[Session, ...]:
        if not isinstance(value, list) or not value:
            raise _Wrong(f"{where} has to be a list of at least one session")
        if len(value) > MOST_SESSIONS:
            raise _Wrong(f"{where} has {len(value)} sessions, and a row keeps at most {MOST_SESSIONS}")
        found = []
        for index, item in enumerate(value):
            table = _Table(f"{where}[{index}]", item)
            day, boot = table.take("day", _day), table.take("boot", _text)
            run = table.take("run", _matching(_RUN, "the 16 digits that name a run file"))
            median, n = None, None
            if timed:
                median, n = table.take("median", _positive), table.take("n", _count)
            table.end()
            found.append(Session(day, boot, run, median, n))
        return tuple(found)

    return read


def _row(where: str, value: Any) -> Row:
    table = _Table(where, value)
    estimand: Estimand = table.take("estimand", _one_of(Estimand))
    gate: Gate = table.take("gate", _one_of(Gate))
    if gate is Gate.REPORT:
        raise _Wrong(f"{where}.gate is 'report', and what only reports has no row")
    rate = estimand is Estimand.RATE
    row = Row(
        unit=table.take("unit", _one_of(Unit)),
        direction=table.take("direction", _one_of(Direction)),
        gate=gate,
        estimand=estimand,
        limit=table.take("limit", _positive, None) if estimand.timed else table.take("limit", _number),
        mode=table.take("mode", _one_of(Mode)),
        isolation=table.take("isolation", _text, None),
        workload=table.take("workload", _matching(_SHA256, "the 64 digits of a workload"), None),
        sessions=table.take("sessions", _sessions(estimand.timed)),
        loops=table.take("loops", _at_least_one, None) if estimand.timed else None,
        values=table.take("values", _at_least_one, None) if estimand.timed else None,
        numerator=table.take("numerator", _number) if rate else None,
        denominator=table.take("denominator", _number) if rate else None,
        histogram=None if estimand.timed else table.take("histogram", _histogram, None),
        pending=table.take("pending", _day, None),
        waiver=table.take("waiver", _waiver, None),
        moved=table.take("moved", _moved, None),
    )
    table.end()
    return row


def _file(document: Any, release: bool) -> BaselineFile:
    table = _Table("the file", document)
    table.take("schema", _text)
    tag = table.take("tag", _text) if release else None
    facts = _Table("fingerprint", table.take("fingerprint", lambda _where, value: value))
    exact, time = facts.take("exact", _facts), facts.take("time", _facts)
    facts.end()
    rows = table.take("kpi", lambda _where, value: value, {})
    if not isinstance(rows, dict):
        raise _Wrong("kpi has to be a table")
    table.end()
    return BaselineFile(exact, time, {name: _row(f"[kpi.{name}]", row) for name, row in rows.items()}, tag)


def decode(blob: bytes, name: str, *, release: bool = False) -> BaselineFile:
    """Read a baseline file; ``name`` is its path inside the project, ``release`` whether it is a release's.

    Raises:
        BaselineError: one sentence that names the file and the place.
    """
    shown = shlex.quote(name)
    if found := _CONFLICT.search(blob):
        line = blob.count(b"\n", 0, found.start()) + 1
        raise BaselineError(
            f"{name}, line {line}, holds a merge conflict that nobody resolved; take one side with "
            f"`git checkout --theirs -- {shown}`, then accept the other side's run file again: "
            "`python -m harness ratchet accept --run FILE`."
        )
    back = f"put it back with `git checkout -- {shown}`."
    try:
        document = tomllib.loads(blob.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
        raise BaselineError(f"{name} is not valid TOML: {why}; {back}") from None
    schema = document.get("schema")
    if schema != SCHEMA:
        if isinstance(schema, str) and re.fullmatch(r"harness\.baseline/\d+", schema):
            raise BaselineError(
                f"{name} is of {schema} and this version reads {SCHEMA}; "
                "upgrade with `python -m pip install --upgrade loopladder`."
            )
        raise BaselineError(f"{name} is no baseline file: its schema is {str(schema)[:40]!r}, not {SCHEMA!r}; {back}")
    try:
        return _file(document, release)
    except _Wrong as wrong:
        raise BaselineError(f"{name}: {wrong}; {back}") from None
