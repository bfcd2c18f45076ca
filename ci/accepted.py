"""``ci/accepted.toml``: which counts may get worse in this change, how far, why, and until when.

Pure. Refuses an entry that gives no reason, names what the catalog does not know, sets no bound, never ends, or speaks
of an invariant: a list of exceptions that nobody has to read again would be a switch for the gate.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from kpis.errors import did_you_mean
from kpis.registry import Catalog
from kpis.terms.kpi import Direction, Estimand, Kpi

__all__ = ["FILE", "LONGEST", "Accepted", "AcceptedError", "Count", "read_accepted", "shown_count"]

FILE = "ci/accepted.toml"

LONGEST = timedelta(days=30)
"""An entry serves one change, which is the base of the next: a month is time to review it, and not to forget it."""

_BOUNDS = ("at_most", "at_least", "exactly")
_KEYS = ("kpi", "params", "why", "until", *_BOUNDS)
_MEND = "Mend it, then run: python ci/self_gate.py"

_SHOWN = 1e-6
"""Relative: the gate's page shows a rate to seven digits, and a bound is copied from there."""

Count = float | Mapping[str, float]
"""What a side counted: a number, or a number a key of a histogram."""


class AcceptedError(ValueError):
    """The file cannot be used; one sentence that ends with the next command."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry: points of ``kpi`` whose parameters hold ``params``, up to and including the day ``until``.

    ``bound`` is ``at_most`` where lower is better, ``at_least`` where higher is, else ``exactly``; the head may count
    up to ``limit``.
    """

    kpi: str
    why: str
    until: date
    bound: str
    limit: Count
    params: Mapping[str, str] = field(default_factory=dict)

    def covers(self, kpi: str, params: Mapping[str, str]) -> bool:
        """Whether the entry speaks of this point."""
        return kpi == self.kpi and self.params.items() <= params.items()

    def admits(self, counted: Count) -> bool:
        """Whether the head's count keeps to the bound."""
        if isinstance(self.limit, Mapping) or isinstance(counted, Mapping):
            return self.limit == counted
        beyond = counted - self.limit if self.bound == "at_most" else self.limit - counted
        return math.isclose(counted, self.limit, rel_tol=_SHOWN) or (self.bound != "exactly" and beyond < 0)


def shown_count(count: Count) -> str:
    """A count as the gate's page has it, a whole number in full and any other to seven digits; or key by key."""
    if isinstance(count, Mapping):
        return "{" + ", ".join(f"{key} = {shown_count(value)}" for key, value in sorted(count.items())) + "}"
    return f"{count:.12g}" if count == int(count) else f"{count:.7g}"


def read_accepted(text: str, catalog: Catalog, today: date) -> tuple[Accepted, ...]:
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
    return tuple(_entry(number, entry, catalog, today) for number, entry in enumerate(entries, 1))


def _entry(number: int, entry: Mapping[str, Any], catalog: Catalog, today: date) -> Accepted:
    for fault in _faults(entry, catalog, today):
        raise AcceptedError(f"{FILE}, entry {number}: {fault}. {_MEND}")
    kpi = catalog.get(entry["kpi"])  # an alias is as good as the id, and rows bear the id
    bound = _bound_of(kpi)
    return Accepted(kpi.id, entry["why"].strip(), entry["until"], bound, entry[bound], entry.get("params", {}))


def _bound_of(kpi: Kpi) -> str:
    """The key that bounds a KPI's count on the side where it is worse; ``exactly`` where no change is right."""
    if kpi.estimand is Estimand.HISTOGRAM or kpi.direction is Direction.NEUTRAL:
        return "exactly"
    return "at_most" if kpi.direction is Direction.LOWER else "at_least"


def _faults(entry: Mapping[str, Any], catalog: Catalog, today: date) -> Iterator[str]:
    for key in entry:
        if key not in _KEYS:
            yield f"{key!r} is not known; an entry has {', '.join(_KEYS[:4])} and one of {', '.join(_BOUNDS)}"
    name, params, why, until = (entry.get(key) for key in _KEYS[:4])
    if not isinstance(name, str):
        yield "it names no kpi"
    elif name not in catalog:
        yield f"there is no KPI named {name}{did_you_mean(name, [kpi.id for kpi in catalog])}"
    else:
        kpi = catalog.get(name)
        if kpi.estimand.timed:
            yield f"{name} is timed, and a timed row fails nothing here; only counts are accepted"
        if kpi.estimand is Estimand.INVARIANT:
            yield f"{name} is an invariant, and a broken one is never accepted"
        for key, value in (params if isinstance(params, dict) else {}).items():
            if value not in kpi.params.get(key, ()):
                yield f"{name} has no point with {key} = {value!r}"
        yield from _bound_faults(entry, kpi)
    if params is not None and not isinstance(params, dict):
        yield 'params is a table, as in { arm = "bounded" }'
    if not isinstance(why, str) or not why.strip():
        yield "why says nothing: give the reason in a sentence"
    if not isinstance(until, date) or isinstance(until, datetime):
        yield "until is no date, as in until = 2027-01-31"
    elif until - today > LONGEST:
        yield f"until is more than {LONGEST.days} days away: {today + LONGEST} is the last day that can be given"


def _bound_faults(entry: Mapping[str, Any], kpi: Kpi) -> Iterator[str]:
    bound = _bound_of(kpi)
    for other in _BOUNDS:
        if other != bound and other in entry:
            yield f"{other} does not bound {kpi.id}; say how far it may go with {bound}"
    limit = entry.get(bound)
    if kpi.estimand is Estimand.HISTOGRAM:
        if not isinstance(limit, dict) or not all(_is_number(value) for value in limit.values()):
            yield f"{bound} is missing or no table of what the head counts by key, as in {{ DENY = 3 }}"
    elif not _is_number(limit):
        yield f"{bound} is missing or no number: say what the head may count, as the gate's page shows it"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
