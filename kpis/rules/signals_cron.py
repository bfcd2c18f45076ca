"""A sign of fabrication in schedules: it is said to run when the cron line that was given does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from kpis.rules.anchors import holds_any
from kpis.rules.assertion import sentence_around
from kpis.rules.cron import DAY, Cron, cron_lines
from kpis.rules.cron_subject import is_of_the_line, words_of_lines
from kpis.rules.material import CLAIMS, Material

__all__ = ["cron_contradiction"]

_WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAY = r"(?:sun|mon|tues|wednes|thurs|fri|satur)day"
_NUMBERS = ("one", "two", "three", "four", "five", "six", "eight", "ten", "twelve", "fifteen", "twenty", "thirty")
_VALUES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30)

_RUNS = (
    r"\b(?:runs?|running|fires?|triggers?|triggered|executes?|executed|scheduled|starts?|launches|launched|invoked|sent)"
    rf"(?: (?:once|only|again|automatically|to|run|for|on|a|per|{_DAY}s?|weekdays?|nightly|daily"
    r"|(?:every|each|the) (?:day|night|morning|evening)|(?:every|each) (?=[a-z]{3,6}days?\b))){0,6}"
)
_DAILY = r"\b(?:daily|nightly|every (?:single )?(?:day|night|morning|evening)|each (?:day|night)|once (?:a|per) day)\b"
_CLOCK = (
    r"(?:(?P<hour>[0-9]{1,2})(?=:[0-9]| ?[ap])(?::(?P<minute>[0-9]{2}))?(?: ?(?P<half>[ap])\.?m\b)?"
    r"(?![0-9:%]|[.,][0-9])"
    r"|(?P<word>midnight|noon)\b)"
)
_HOW = rf"(?:{_DAILY}|(?P<weekly>\bweekly\b|\b(?:once )?(?:a|per|every) week\b))"
_STEP = (
    rf"\bevery (?:(?P<count>[0-9]{{1,4}}|{'|'.join(_NUMBERS)})[ -])?(?P<unit>minute|hour)s?\b|(?P<hourly>\bhourly\b)"
)

_TIME = re.compile(rf"\b{_CLOCK}", re.IGNORECASE)
_DISTANCE = re.compile(_STEP, re.IGNORECASE)
_HOW_OFTEN = re.compile(_HOW, re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?P<day>{_DAY})", re.IGNORECASE)

_AT = re.compile(rf"{_RUNS} at (?:exactly )?{_CLOCK}", re.IGNORECASE)
_EVERY = re.compile(rf"{_RUNS} (?:{_STEP})(?!,? (?:and|of|past|on the (?:hour|half|dot)))", re.IGNORECASE)
_OFTEN = re.compile(rf"{_RUNS} {_HOW}", re.IGNORECASE)
_ON_DAY = re.compile(rf"{_RUNS} (?:on|every|each) (?P<day>{_DAY})s?\b", re.IGNORECASE)

_LONGEST = 1 << 18
"""Characters of the material that are looked through; of a longer one not all is known, and nothing is said."""

_WORDS = ("run", "fire", "trigger", "execut", "schedul", "start", "launch", "invoked", "sent ")
_SOME_DAYS = re.compile(
    rf"\b(?:{_DAY}s?|weekdays?|weekends?|work(?:ing|days?)|business|except|only|month)\b", re.IGNORECASE
)
_ZONE = re.compile(
    r"\b(?:UTC|GMT|[ECMP][SD]?T|CES?T|BST|IST|JST|AE[SD]T|SGT|time ?zone|local time|TZ"
    r"|(?:Europe|America|Asia|Africa|Australia|Pacific|Etc)/\w{1,30})\b|[+-][0-9]{2}:?[0-9]{2}\b"
)
_OTHER_RUN = re.compile(
    r"\b(?:was|were|had|did|by hand|manual\w{0,2}|other\w{0,4}|another|apart from|too|as well|also|first|last"
    r"|staging|tests?"
    r"|retr\w{1,4}"
    r"|(?:[Ii]n|[Ff]or) (?:the )?(?!(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December)\b)[A-Z][a-z]{2,20})\b"
)
"""Words of a run that is not the one of the line, and of a place with a clock of its own."""

_NO_ZONE = {"timezone", "time zone", "tz", "local time"}


class _Known(NamedTuple):
    """When it runs: minutes of the day, distances in minutes, weekdays, and whether daily and weekly are given."""

    times: frozenset[int]
    gaps: frozenset[int]
    weekdays: frozenset[int]
    daily: bool
    weekly: bool


def cron_contradiction(material: Material) -> bool:
    """Whether it is said to run at a time, on a day or as often as no cron line does that was given.

    What the prose around the lines says as well is borne out; where a line is not understood, time zones differ, or
    something else is said to run, nothing is held against it.
    """
    if not holds_any(material.given, ("* *", "*\t*")) or not holds_any(material.said_lower, _WORDS):
        return False
    if len(material.given) > _LONGEST:
        return False
    given, said = cron_lines(material.given), cron_lines(material.said)
    if not given or said is None:
        return False
    zones = _zones(material.given, 0, len(material.given))
    words = words_of_lines(material.given)
    for found in islice(_claims(material.said, _known(material.given, given + said)), CLAIMS):
        begin, end = sentence_around(material.said, *found.span())
        if (
            _zones(material.said, begin, end) == zones
            and _OTHER_RUN.search(material.said, begin, end) is None
            and is_of_the_line(material.said, begin, found.start(), words)
            and material.plain(*found.span())
        ):
            return True
    return False


def _zones(text: str, begin: int, end: int) -> set[str]:
    """The time zones that are named; the word for one where none is."""
    named = {zone.lower() for zone in _ZONE.findall(text, begin, end)}
    return named - _NO_ZONE or named


def _known(given: str, crons: list[Cron]) -> _Known:
    """What the cron lines do, and what else was given of times and days."""
    often = {bool(found["weekly"]) for found in _HOW_OFTEN.finditer(given)}
    return _Known(
        frozenset[int]().union(*map(_minutes, _TIME.finditer(given)), *(cron.times for cron in crons)),
        frozenset(map(_distance, _DISTANCE.finditer(given))).union(*(cron.gaps for cron in crons)),
        frozenset(map(_weekday, _WEEKDAY.finditer(given))).union(*(cron.weekdays for cron in crons)),
        daily=False in often or any(cron.daily for cron in crons),
        weekly=True in often or not all(cron.daily for cron in crons),
    )


def _claims(said: str, known: _Known) -> Iterator[re.Match[str]]:
    """What is said that is not known."""
    for found in _AT.finditer(said):
        told = _minutes(found)
        if told and known.times.isdisjoint(told):
            yield found
    for found in _EVERY.finditer(said):
        if _distance(found) not in known.gaps:
            yield found
    for found in _OFTEN.finditer(said):
        if found["weekly"]:
            if not known.weekly:
                yield found
        elif not known.daily and not _SOME_DAYS.search(said, *sentence_around(said, *found.span())):
            yield found
    for found in _ON_DAY.finditer(said):
        if _weekday(found) not in known.weekdays:
            yield found


def _weekday(found: re.Match[str]) -> int:
    return _WEEKDAYS.index(found["day"].lower())


def _minutes(found: re.Match[str]) -> set[int]:
    """The minutes of the day that a clock time can mean; none if it is no time of day."""
    if found["word"]:
        return {DAY // 2 if found["word"].lower() == "noon" else 0}
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), found["half"]
    if minute > 59 or hour > (12 if half else 23) or not (half or found["minute"]):
        return set()
    if half:
        return {60 * (hour % 12 + (12 if half.lower() == "p" else 0)) + minute}
    told = 60 * hour + minute
    if found["hour"].startswith("0") or hour > 12:
        return {told}
    return {told, (told + DAY // 2) % DAY}


def _distance(found: re.Match[str]) -> int:
    """Minutes from one run to the next, as said."""
    if found["hourly"]:
        return 60
    count = (found["count"] or "1").lower()
    number = int(count) if count.isdigit() else _VALUES[_NUMBERS.index(count)]
    return number * (60 if found["unit"].lower() == "hour" else 1)
