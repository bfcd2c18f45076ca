"""Cron lines in a text: when they run, as far as that is certain.

Five fields (minute, hour, day of month, month, day of week) with numbers, lists, ranges, steps and English names of
days and months, as crontab(5) has them. A line of another form makes the whole text uncertain: what is said of it could
be meant for that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

__all__ = ["CRON_LINE", "DAY", "Cron", "cron_lines"]

DAY = 24 * 60
_MOST = 200
"""Lines of one text that are read."""

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_FIELD = r"[0-9*?][0-9A-Za-z*?/,#-]{0,40}"
_NAMES = r"(?:(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z,-]{0,30}|LW?)"
CRON_LINE = re.compile(
    rf"(?<![\w*?/,#.-]){_FIELD}(?:[ \t]{{1,3}}(?:{_FIELD}|{_NAMES})(?![\w*?/#-])){{4,6}}", re.IGNORECASE
)
"""What may be a cron line; :func:`cron_lines` says what is one."""

_PART = re.compile(r"(?:(\*)|([0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?)(?:/([0-9]{1,2}))?")


@dataclass(frozen=True)
class Cron:
    """The minutes, hours and weekdays (0 is Sunday) of one line; ``every_date``: no month and no day is left out.

    ``steps`` are the distances in minutes that the line writes out, whether they divide the hour or the day or not.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    weekdays: frozenset[int]
    every_date: bool
    steps: frozenset[int]

    @cached_property
    def times(self) -> frozenset[int]:
        """Minutes of the day at which it runs."""
        return frozenset(60 * hour + minute for hour in self.hours for minute in self.minutes)

    @cached_property
    def gaps(self) -> frozenset[int]:
        """Minutes from one run to the next on days in a row, and the steps."""
        times = sorted(self.times)
        return self.steps | {later - at for at, later in zip(times, [*times[1:], times[0] + DAY], strict=True)}

    @property
    def daily(self) -> bool:
        """Whether it runs on every day."""
        return self.every_date and len(self.weekdays) == len(_DAYS)


def cron_lines(text: str) -> list[Cron] | None:
    """The cron lines of ``text``; None where one of them is not certain to be understood, or there are too many."""
    found: list[Cron] = []
    for line in CRON_LINE.finditer(text):
        fields = line.group().lower().split()
        if not any(mark in field for field in fields for mark in "*?"):
            continue  # a row of numbers
        cron = _read(fields) if len(fields) == 5 else None
        if cron is None or len(found) == _MOST:
            return None
        found.append(cron)
    return found


def _read(fields: list[str]) -> Cron | None:
    if not any(one == other == "*" for one, other in pairwise(fields)) or fields[:2] == ["*"] * 2:
        return None  # a product of numbers, or a ruler of stars
    minutes, hours = _values(fields[0], 0, 59), _values(fields[1], 0, 23)
    dates, months = _values(fields[2], 1, 31), _values(fields[3], 1, 12, _MONTHS)
    weekdays = _values(fields[4], 0, 7, _DAYS)
    if minutes is None or hours is None or dates is None or months is None or weekdays is None:
        return None
    if len(dates) < 31 and fields[4] != "*":
        return None  # either of the two days will do
    steps = {int(field.partition("/")[2]) * unit for field, unit in zip(fields, (1, 60), strict=False) if "/" in field}
    every_date = len(dates) == 31 and len(months) == 12
    return Cron(minutes, hours, frozenset(day % 7 for day in weekdays), every_date, frozenset(steps))


def _values(field: str, low: int, high: int, names: tuple[str, ...] = ()) -> frozenset[int] | None:
    """The numbers that a field stands for; None if it is none."""
    values: set[int] = set()
    for part in field.split(","):
        read = _PART.fullmatch(part)
        if read is None:
            return None
        star, first, last, step = read.groups()
        begin = low if star else _number(first, low, names)
        end = high if star or (step and last is None) else _number(last or first, low, names)
        if begin is None or end is None or not low <= begin <= end <= high or step in {"0", "00"}:
            return None
        values.update(range(begin, end + 1, int(step or 1)))
    return frozenset(values)


def _number(word: str, low: int, names: tuple[str, ...]) -> int | None:
    if word.isdigit():
        return int(word)
    return low + names.index(word) if word in names else None
