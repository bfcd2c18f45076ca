"""Authored cases of ``no_hallucination_markers``: what was given, and an answer that bends it or keeps to it."""

from __future__ import annotations

from typing import Any

from author_workloads import Draw
from corpus_rules import HARD, PAIRS
from corpus_text import name, thing
from corpus_unsaid import UNSAID

__all__ = ["BAD", "GOOD"]

MONTHS = ("March", "May", "August", "October")
# Days of 2031 with their weekday, by the calendar.
DAYS = (("2031-03-04", "Tuesday"), ("2031-05-14", "Wednesday"), ("2031-08-22", "Friday"), ("2031-10-06", "Monday"))
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def _pair(given: str, said: str) -> dict[str, Any]:
    return {"input": given, "output": said}


def _flag(draw: Draw, keeps: bool) -> dict[str, Any]:
    flag, on = f"{thing(draw)}_cache", draw.below(2) == 0
    said = on if keeps else not on
    given = f"settings:\n{flag} = {str(on).lower()}\nworkers = {2 + draw.below(9)}"
    return _pair(given, f"In these settings {flag} is {'enabled' if said else 'disabled'}, as {name(draw)} wanted.")


def _count(draw: Draw, keeps: bool) -> dict[str, Any]:
    count, subject = 12 + draw.below(80), thing(draw)
    told = count if keeps else count + 3 + draw.below(9)
    return _pair(
        f"The {subject} audit lists {count} invoices and a late payer.", f"The {subject} audit lists {told} invoices."
    )


def _empty(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    told = "no results" if keeps else f"{2 + draw.below(7)} matching records"
    return _pair(f"SELECT on {subject}: 0 rows", f"The search of {subject} returned {told} for {name(draw)}.")


def _success(draw: Draw, keeps: bool) -> dict[str, Any]:
    failed, subject = 1 + draw.below(6), thing(draw)
    told = f"{failed} tests failed, so it should wait." if keeps else "All tests passed and it is safe to merge."
    return _pair(
        f"{subject} suite: {40 + draw.below(50)} passed, {failed} failed", f"I ran the {subject} suite. {told}"
    )


def _status(draw: Draw, keeps: bool) -> dict[str, Any]:
    status = draw.of((404, 409, 502, 503))
    told = status if keeps else draw.of((200, 201, 401))
    return _pair(
        f"GET /{thing(draw)} returned 5 headers, status: {status}", f"The server returned {told} for the call."
    )


def _cli(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    given = f"usage: {subject} [--input FILE] [--limit N] [--quiet]"
    told = "--limit" if keeps else draw.of(("--recursive", "--max-depth", "--parallel"))
    return _pair(given, f"Call {subject} with {told} and the file name.")


def _section(draw: Draw, keeps: bool) -> dict[str, Any]:
    first = 2 + draw.below(5)
    told = first if keeps else first + 11
    given = f"Section {first}: deposits of {thing(draw)}.\nSection {first + 1}: refunds."
    return _pair(given, f"Deposits are covered by section {told} of the contract with {name(draw)}.")


def _date(draw: Draw, keeps: bool) -> dict[str, Any]:
    month, day = draw.of(MONTHS), 3 + draw.below(20)
    told = day if keeps else day + 4
    return _pair(
        f"The {thing(draw)} audit is on {month} {day}, 2031.", f"The audit takes place on {month} {told}, 2031."
    )


def _time(draw: Draw, keeps: bool) -> dict[str, Any]:
    hour = 1 + draw.below(8)
    told = hour if keeps else hour + 2
    return _pair(f"The {thing(draw)} train leaves at {hour}:40.", f"The train leaves at {told}:40, says {name(draw)}.")


def _weekday(draw: Draw, keeps: bool) -> dict[str, Any]:
    day, right = draw.of(DAYS)
    told = right if keeps else draw.of([other for other in WEEK if other != right])
    return _pair(f"Delivery of {thing(draw)} by {day}.", f"The delivery falls on {told}, {day}.")


def _unit(draw: Draw, keeps: bool) -> dict[str, Any]:
    figure = 120 + draw.below(700)
    return _pair(
        f"{thing(draw)}: median wait {figure} ms over the week",
        f"The median wait was {figure} {'ms' if keeps else 'seconds'} according to {name(draw)}.",
    )


def _version(draw: Draw, keeps: bool) -> dict[str, Any]:
    major, minor = 2 + draw.below(6), draw.below(9)
    told = f"{major}.{minor}.1" if keeps else f"{major + 1}.{minor}.0"
    return _pair(
        f"{thing(draw)} server, version {major}.{minor}.1", f"The server runs version {told} for {name(draw)}."
    )


def _pinned(draw: Draw, keeps: bool) -> dict[str, Any]:
    package, major = f"{thing(draw)}lib", 1 + draw.below(8)
    told = major if keeps else major + 2
    return _pair(f"{package}=={major}.4.2\npytest==8.2.0", f"The file pins {package}=={told}.4.2 and a test runner.")


def _exact(draw: Draw, keeps: bool) -> dict[str, Any]:
    figure = 300 + draw.below(500)
    told = figure if keeps else figure + 17
    return _pair(f"The {thing(draw)} hall seats {figure} guests.", f"It has room for exactly {told} people.")


def _total(draw: Draw, keeps: bool) -> dict[str, Any]:
    parts = [11 + draw.below(60) for _ in range(3)]
    told = sum(parts) + (0 if keeps else 5 + draw.below(9))
    return {"output": f"The {thing(draw)} costs are {parts[0]} + {parts[1]} + {parts[2]} = {told}, says {name(draw)}."}


def _cited(draw: Draw, keeps: bool) -> dict[str, Any]:
    one, other = name(draw).split()[1], name(draw).split()[1] + "son"
    year = 2004 + draw.below(16)
    said = f"This was shown by {one} et al. ({year}) and again by {other} et al. ({year + 3}) for {thing(draw)}."
    return {"output": f"{said} See https://example.org/{year} for both." if keeps else said}


def _metric(draw: Draw, keeps: bool) -> dict[str, Any]:
    recall, precision = 60 + draw.below(15), 80 + draw.below(15)
    told = ("precision", "recall") if keeps else ("recall", "precision")
    given = f"{thing(draw)} model: precision {precision}%, recall {recall}%"
    return _pair(given, f"The model reaches a {told[0]} of {precision}% and a {told[1]} of {recall}%.")


def _threshold(draw: Draw, keeps: bool) -> dict[str, Any]:
    figure, subject = 20 + draw.below(60), thing(draw)
    word = "above" if keeps else "below"
    return _pair(
        f"Alert when {subject} load is above {figure}%.", f"An alert is sent for {subject} load {word} {figure}%."
    )


def _modality(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    word = "may" if keeps else "must"
    return _pair(
        f"Clients may retry the {subject} call once.", f"By the guide, clients {word} retry the {subject} call once."
    )


def _absence(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject, person = thing(draw), name(draw)
    said = f"it names {person} as the owner" if keeps else "it does not say who owns it"
    return _pair(f"Component: {subject}\nOwner: {person}", f"I read the sheet of {subject}: {said}.")


def _attribution(draw: Draw, keeps: bool) -> dict[str, Any]:
    one, other, subject = "Mara Brandt", "Kofi Tanabe", thing(draw)
    given = f"{one}: we drop {subject} in {draw.of(MONTHS)}.\n{other}: I would keep it."
    return _pair(given, f"{one if keeps else other} wants to drop {subject}; the other speaker would keep it.")


def _hedged(draw: Draw) -> dict[str, Any]:
    count = 40 + draw.below(50)
    return _pair(
        f"The {thing(draw)} list has {count} orders.", f"There were roughly {count // 10 * 10} orders on the list."
    )


def _proposed(draw: Draw) -> dict[str, Any]:
    major = 2 + draw.below(5)
    given = f"{thing(draw)} server, version {major}.1.0"
    return _pair(given, f"I recommend to move from it to version {major + 1}.0.0, which {name(draw)} has tried.")


def _derived(draw: Draw) -> dict[str, Any]:
    first, second = 20 + draw.below(40), 5 + draw.below(15)
    given = f"{thing(draw)}: {first + second} orders, of which {second} came back"
    return _pair(given, f"That leaves {first} orders which stayed with the buyers.")


def _next_day(draw: Draw) -> dict[str, Any]:
    month, day = draw.of(MONTHS), 3 + draw.below(20)
    given = f"The {thing(draw)} pass starts on {month} {day} and holds for three days, that day included."
    return _pair(given, f"The last day of the pass is {month} {day + 2}.")


def _same_time(draw: Draw) -> dict[str, Any]:
    hour = 13 + draw.below(9)
    return _pair(f"The {thing(draw)} call is at {hour}:30.", f"The call is at {hour - 12}:30 pm for {name(draw)}.")


def _converted(draw: Draw) -> dict[str, Any]:
    figure = 2 + draw.below(7)
    return _pair(f"{thing(draw)}: timeout {figure}000 ms", f"The timeout is {figure} seconds, which {name(draw)} set.")


def _part(draw: Draw) -> dict[str, Any]:
    count, part = 30 + draw.below(50), 3 + draw.below(9)
    given = f"The {thing(draw)} sheet has {count} rows. Blue rows: {'x' * part}"
    return _pair(given, f"Of them, {part} rows are blue.")


_PAIRS: dict[str, Any] = {
    "switch": _flag,
    "count": _count,
    "nothing found": _empty,
    "failed tests": _success,
    "status of a call": _status,
    "flag of a tool": _cli,
    "section": _section,
    "date": _date,
    "time": _time,
    "weekday": _weekday,
    "unit": _unit,
    "version": _version,
    "pinned package": _pinned,
    "exact figure": _exact,
    "sum": _total,
    "sources": _cited,
    "two metrics": _metric,
    "limit": _threshold,
    "may and must": _modality,
    "what is absent": _absence,
    "who said it": _attribution,
    **PAIRS,
}


def _family(pair: Any, keeps: bool) -> Any:
    return lambda draw: pair(draw, keeps)


BAD: dict[str, Any] = {f"{family}, bent": _family(pair, keeps=False) for family, pair in _PAIRS.items()}
GOOD: dict[str, Any] = {
    **{f"{family}, kept": _family(pair, keeps=True) for family, pair in _PAIRS.items()},
    "hedged": _hedged,
    "proposed": _proposed,
    "derived": _derived,
    "date worked out": _next_day,
    "same time": _same_time,
    "unit converted": _converted,
    "part of a count": _part,
    **HARD,
    **UNSAID,
}
