"""What stands below a table: fences, what a number is made of, what is undefined and why, and warnings.

Each function gives paragraphs, as few as say everything: what several rows share is said once, with their names.
Refuses to print, and to leave out a reason or a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from harness.report.page import Page
from harness.report.units import rescaled
from kpis.terms.reading import Reading, Reason, Undefined

__all__ = ["absent", "by_kpi", "fences", "first_sentence", "made_of", "warnings"]

_INPUT = 2  # columns by which the inputs behind a number stand below its name
_NAMED = 3  # KPIs named beside a warning before the rest is counted
_POINTS = 4  # points of one KPI named beside a warning before the rest is counted
_SENTENCE = re.compile(r".+?[.?!](?=\s|$)")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_FORMS = {
    "a tool-call trace": "A tool-call trace is JSON {slice_id, calls}; see harness/workloads/README.md.",
    "a recorded session": "A session is JSON Lines {turn, role, text}, or a Claude Code session file; see "
    "harness/workloads/README.md.",
}


def by_kpi(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    """``readings`` by their KPI, in the order in which each first comes."""
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.kpi, []).append(reading)
    return groups


def first_sentence(text: str) -> str:
    """``text`` up to the end of its first sentence; all of it where none ends."""
    found = _SENTENCE.match(text)
    return found.group() if found else text


def fences(readings: Iterable[Reading], page: Page, *, status: bool) -> list[str]:
    """A paragraph a KPI: the first sentence of its fence, whole; before it the ``status`` where no column has it."""
    lines = []
    for kpi, group in by_kpi(readings).items():
        fence = first_sentence(page.safe(page.fences.get(kpi, "")))
        words = " or ".join(dict.fromkeys(reading.status.value for reading in group))
        lead = f"{page.safe(kpi)}, {words}" if status else page.safe(kpi)
        if fence or status:
            lines.append(f"{lead}: {fence}" if fence else lead)
    return lines


def made_of(readings: Iterable[Reading], page: Page) -> list[tuple[str, int]]:
    """What a number is made of, as lines with how far each is indented.

    A histogram, the inputs behind it, one a line, what was left out; the knobs of models. What several readings say
    alike is said once.
    """
    lines: list[tuple[str, int]] = []
    told = [(" ".join(filter(None, (page.safe(each.kpi), page.where(each)))), each) for each in readings]
    shared: dict[tuple[str, ...], list[str]] = {}
    for lead, reading in told:
        shared.setdefault(tuple(reading.evidence), []).append(lead)
    tuned: dict[str, list[Reading]] = {}
    for lead, reading in told:
        if reading.histogram:
            counts = ", ".join(f"{key} {count:,}" for key, count in sorted(reading.histogram.items()))
            lines.append((f"{lead}: {page.safe(counts)}", 0))
        if reading.evidence and shared[tuple(reading.evidence)][0] == lead:
            lines += _inputs(_listed(shared[tuple(reading.evidence)], page), reading.evidence, page)
        if reading.excluded:
            lines.append((f"{lead}: {reading.excluded:,} excluded from the denominator", 0))
        if reading.knobs:
            knobs = ", ".join(f"{key}={value:.10g}" for key, value in sorted(reading.knobs.items()))
            tuned.setdefault(page.safe(knobs), []).append(reading)
    return lines + [(f"knobs of {_listed(by_kpi(group), page)}: {knobs}", 0) for knobs, group in tuned.items()]


def _inputs(lead: str, evidence: Sequence[str], page: Page) -> list[tuple[str, int]]:
    inputs = [rescaled(page.safe(sentence), page.signs) for sentence in evidence]
    return (
        [(f"{lead}: {inputs[0]}", 0)] if len(inputs) == 1 else [(f"{lead}:", 0), *((each, _INPUT) for each in inputs)]
    )


def _listed(names: Iterable[str], page: Page, last: str = "and") -> str:
    *others, end = map(page.safe, names)
    return f"{', '.join(others)} {last} {end}" if others else end


def absent(readings: Iterable[Reading], page: Page) -> list[str]:
    """A sentence a KPI and reason.

    KPIs that all want another kind of workload share one, and so do those of one seam that a runtime does not offer.
    """
    lines: list[str] = []
    unfit: dict[str, list[str]] = {}
    unoffered: dict[tuple[str, str], list[tuple[Reading, Undefined]]] = {}
    for kpi, group in by_kpi(readings).items():
        for reason, found in _by_reason(group).items():
            words = _merged((undefined.detail for _, undefined in found), page)
            who = f"{kpi}{_points([reading for reading, _ in found], page)}"
            if reason is Reason.NOT_OFFERED:
                for reading, undefined in found:
                    unoffered.setdefault((reading.runtime, page.seams.get(kpi, kpi)), []).append((reading, undefined))
            elif reason is Reason.WORKLOAD_KIND and len(found) == len(group):
                unfit.setdefault(words.removeprefix(f"{page.safe(kpi)} "), []).append(who)
            else:
                lines.append(f"{page.safe(who)} undefined, {reason.value}: {words}")
    for pairs in unoffered.values():
        groups = by_kpi(reading for reading, _ in pairs)
        who = _listed((f"{kpi}{_points(group, page)}" for kpi, group in groups.items()), page)
        words = _merged((undefined.detail for _, undefined in pairs), page)
        lines.append(f"{who} undefined, {Reason.NOT_OFFERED.value}: {words}")
    for words, names in unfit.items():
        each = "each " if words.startswith("needs ") and len(names) > 1 else "it " if words.startswith("needs ") else ""
        forms = "".join(f" {form}" for kind, form in _FORMS.items() if kind in words)
        lines.append(f"{_listed(names, page)} undefined, {Reason.WORKLOAD_KIND.value}: {each}{words}{forms}")
    return lines


def _by_reason(readings: Iterable[Reading]) -> dict[Reason, list[tuple[Reading, Undefined]]]:
    found: dict[Reason, list[tuple[Reading, Undefined]]] = {}
    for reading in readings:
        if reading.undefined is not None:
            found.setdefault(reading.undefined.reason, []).append((reading, reading.undefined))
    return found


def _merged(sentences: Iterable[str], page: Page) -> str:
    """Equal sentences once; those that differ in one word alone as one that has it all: ``exact or coverage``."""
    merged: list[list[list[str]]] = []  # a sentence as its words, each with its alternatives
    for sentence in dict.fromkeys(map(page.safe, sentences)):
        words = sentence.rstrip(".").split(" ")
        for like in merged:
            apart = [place for place, pair in enumerate(zip(like, words, strict=False)) if pair[1] not in pair[0]]
            grown = [place for place, options in enumerate(like) if len(options) > 1]
            if len(like) == len(words) and len(apart) == 1 and grown in ([], apart):
                like[apart[0]].append(words[apart[0]])
                break
        else:
            merged.append([[word] for word in words])
    return " ".join(" ".join(_listed(options, page, "or") for options in like) + "." for like in merged)


def _points(readings: Sequence[Reading], page: Page) -> str:
    if len(readings) > 1:
        return f" ({len(readings):,} points)"
    where = page.where(readings[0])
    return f" ({where})" if where else ""


def warnings(readings: Sequence[Reading], page: Page) -> list[str]:
    """A sentence for all warnings that are equal, or differ in one number alone, with the points that have them."""
    alike: dict[tuple[str, tuple[str, ...]], list[tuple[Reading, str]]] = {}
    for reading in readings:
        for notice in reading.warnings:
            text = page.safe(notice.message)
            alike.setdefault((notice.code.value, tuple(_NUMBER.split(text))), []).append((reading, text))
    groups = by_kpi(readings)
    return [
        f"warning, {code}: {sentence} ({_named(which, groups, page)})"
        for (code, _), found in alike.items()
        for sentence, which in _ranged(found)
    ]


def _ranged(found: Sequence[tuple[Reading, str]]) -> Iterator[tuple[str, list[Reading]]]:
    """Sentences that share all but their numbers: one with a range where one number differs, else each by itself."""
    numbers = [_NUMBER.findall(text) for _, text in found]
    apart = [place for place, column in enumerate(zip(*numbers, strict=True)) if len(set(column)) > 1]
    if len(apart) == 1:
        column = sorted({row[apart[0]] for row in numbers}, key=lambda number: float(number.replace(",", "")))
        place = list(_NUMBER.finditer(found[0][1]))[apart[0]]
        text = found[0][1]
        yield f"{text[: place.start()]}{column[0]} to {column[-1]}{text[place.end() :]}", [each for each, _ in found]
        return
    for text in dict.fromkeys(text for _, text in found):
        yield text, [reading for reading, said in found if said == text]


def _named(which: Sequence[Reading], groups: dict[str, list[Reading]], page: Page) -> str:
    """The KPIs of ``which``, the first few by name, each with its points unless it has no others."""
    named = []
    concerned = by_kpi(which)
    for kpi, readings in list(concerned.items())[:_NAMED]:
        places = [page.where(reading) for reading in readings]
        if len(readings) == len(groups[kpi]):
            named.append(page.safe(kpi) + (f", all {len(readings)} points" if len(readings) > 1 else ""))
            continue
        more = f" and {len(places) - _POINTS} more" if len(places) > _POINTS else ""
        named.append(f"{page.safe(kpi)} at {', '.join(place or 'its main leg' for place in places[:_POINTS])}{more}")
    joined = ("; " if any(", " in name or " at " in name for name in named) else ", ").join(named)
    return joined + (f" and {len(concerned) - _NAMED} more" if len(concerned) > _NAMED else "")
