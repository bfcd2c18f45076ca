"""Signs of fabrication in dates and times: ones that were not given, and weekdays that do not fall on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from kpis.rules.material import Material

__all__ = ["ungrounded_date", "ungrounded_time", "weekday_contradiction"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = (
    r"(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = re.compile(
    r"(?<![\w-])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])"
    rf"|\b{_MONTH}\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?(?:,? ([0-9]{{4}}))?(?![0-9:])"
    rf"|(?<![\w.])([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?(?:,? ([0-9]{{4}}))?(?![0-9:])"
)
_TIME = re.compile(
    r"[0-9](?<![\w:.][0-9])[0-9]?:([0-9]{2})(?::[0-9]{2})?(?:\.[0-9]{1,9})?(?: ?[AaPp]\.?[Mm]\b)?(?![:0-9])"
    r"|T([0-9]{2}):([0-9]{2})"
)
_WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_NEAR = 12
"""Characters between a weekday and the date that it is said of: ``Friday, the 7th`` and not another sentence."""


class _Date(NamedTuple):
    year: int | None
    month: int
    day: int
    found: re.Match[str]


def _dates(text: str) -> Iterator[_Date]:
    for found in _DATE.finditer(text):
        iso_year, iso_month, iso_day, name, day, year, day_2, name_2, year_2 = found.groups()
        if iso_year:
            yield _Date(int(iso_year), int(iso_month), int(iso_day), found)
            continue
        month = _MONTHS.index((name or name_2)[:3].lower()) + 1
        written = year or year_2
        yield _Date(int(written) if written else None, month, int(day or day_2), found)


def ungrounded_date(material: Material) -> bool:
    """Whether a date is told of that is none of those that were given; one without its year is any year's."""
    given: dict[tuple[int, int], set[int | None]] = {}
    for one in _dates(material.given):
        given.setdefault((one.month, one.day), set()).add(one.year)
    return bool(given) and material.any_asserted(
        told.found for told in _dates(material.said) if not _known(told.year, given.get((told.month, told.day)))
    )


def _known(year: int | None, years: set[int | None] | None) -> bool:
    return years is not None and (year is None or year in years or None in years)


def _times(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Minutes on the face of a clock, with the place."""
    for found in _TIME.finditer(text):
        minute, iso_hour, iso_minute = found.groups()
        hours = int(iso_hour or found.group().partition(":")[0])
        minutes = int(minute or iso_minute)
        if hours < 24 and minutes < 60:
            yield 60 * (hours % 12) + minutes, found


def ungrounded_time(material: Material) -> bool:
    """Whether a time of day is told that is none of those that were given; half a day apart is the same clock face."""
    if ":" not in material.said or _TIME.search(material.said) is None:
        return False
    given = {minutes for minutes, _ in _times(material.given)}
    return bool(given) and material.any_asserted(
        found for minutes, found in _times(material.said) if minutes not in given
    )


def weekday_contradiction(material: Material) -> bool:
    """Whether a weekday is said of a date, its year given, that falls on another."""
    weekdays = list(_WEEKDAY.finditer(material.said)) if "day" in material.said else []
    if not weekdays:
        return False
    years = {(one.month, one.day): one.year for one in _dates(material.given) if one.year is not None}
    return material.any_asserted(_misplaced(weekdays, list(_dates(material.said)), years))


def _misplaced(
    weekdays: list[re.Match[str]], told: list[_Date], years: dict[tuple[int, int], int]
) -> Iterator[re.Match[str]]:
    """The weekdays next to a date on which they do not fall."""
    at = 0
    for weekday in weekdays:
        while at < len(told) and told[at].found.end() + _NEAR < weekday.start():
            at += 1
        for one in told[at : at + 2]:
            gap = max(one.found.start() - weekday.end(), weekday.start() - one.found.end())
            year = one.year or years.get((one.month, one.day))
            if 0 <= gap <= _NEAR and year is not None and _falls_on(year, one) not in {None, weekday.group().lower()}:
                yield weekday


def _falls_on(year: int, one: _Date) -> str | None:
    try:
        return _DAYS[date(year, one.month, one.day).weekday()]
    except ValueError:
        return None
