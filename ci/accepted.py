"""``ci/accepted.toml``: which counts may get worse in this change, why, and until when.

Pure. Refuses an entry that gives no reason, names what the catalog does not know, or never ends: a list of exceptions
that nobody has to read again would be a switch for the gate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from kpis.errors import did_you_mean
from kpis.registry import Catalog

__all__ = ["FILE", "Accepted", "AcceptedError", "read_accepted"]

FILE = "ci/accepted.toml"
_KEYS = ("kpi", "params", "why", "until")
_MEND = "Mend it, then run: python ci/self_gate.py"


class AcceptedError(ValueError):
    """The file cannot be used; one sentence that ends with the next command."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry: points of ``kpi`` whose parameters hold ``params``, up to and including the day ``until``."""

    kpi: str
    why: str
    until: date
    params: Mapping[str, str] = field(default_factory=dict)

    def covers(self, kpi: str, params: Mapping[str, str]) -> bool:
        """Whether the entry speaks of this point."""
        return kpi == self.kpi and self.params.items() <= params.items()


def read_accepted(text: str, catalog: Catalog) -> tuple[Accepted, ...]:
    """The entries of the file's ``text``, in its order.

    Raises:
        AcceptedError: it is not TOML, or an entry is not as the file's comment says.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AcceptedError(f"{FILE} is not valid TOML: {error}. {_MEND}") from None
    entries = tables.pop("accepted", [])
    if tables:
        raise AcceptedError(f"{FILE}: {next(iter(tables))!r} is not known there, only [[accepted]]. {_MEND}")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise AcceptedError(f"{FILE}: an entry begins with [[accepted]]. {_MEND}")
    return tuple(_entry(number, entry, catalog) for number, entry in enumerate(entries, 1))


def _entry(number: int, entry: Mapping[str, Any], catalog: Catalog) -> Accepted:
    for fault in _faults(entry, catalog):
        raise AcceptedError(f"{FILE}, entry {number}: {fault}. {_MEND}")
    kpi = catalog.get(entry["kpi"])  # an alias is as good as the id, and rows bear the id
    return Accepted(kpi.id, entry["why"].strip(), entry["until"], entry.get("params", {}))


def _faults(entry: Mapping[str, Any], catalog: Catalog) -> Iterator[str]:
    for key in entry:
        if key not in _KEYS:
            yield f"{key!r} is not known; an entry has {', '.join(_KEYS)}"
    name, params, why, until = (entry.get(key) for key in _KEYS)
    if not isinstance(name, str):
        yield "it names no kpi"
    elif name not in catalog:
        yield f"there is no KPI named {name}{did_you_mean(name, [kpi.id for kpi in catalog])}"
    else:
        kpi = catalog.get(name)
        if kpi.estimand.timed:
            yield f"{name} is timed, and a timed row fails nothing here; only counts are accepted"
        for key, value in (params if isinstance(params, dict) else {}).items():
            if value not in kpi.params.get(key, ()):
                yield f"{name} has no point with {key} = {value!r}"
    if params is not None and not isinstance(params, dict):
        yield 'params is a table, as in { arm = "bounded" }'
    if not isinstance(why, str) or not why.strip():
        yield "why says nothing: give the reason in a sentence"
    if not isinstance(until, date) or isinstance(until, datetime):
        yield "until is no date, as in until = 2027-01-31"
